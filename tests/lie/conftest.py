"""Every test that asks for `group` runs over all groups; `vectors` sample the hard places."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.lie import SE3, SO3, SO3xR3, UnitQuaternion

GROUPS = [SO3, SE3, SO3xR3, UnitQuaternion]


@pytest.fixture(params=GROUPS, ids=lambda group: group.__name__)
def group(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20180)


def vectors_of(group, rng, angles):
    """Vectors (len(angles), d) with these rotation angles about random axes."""
    x = rng.standard_normal((len(angles), group.dimension))
    axes = x[:, :3] / np.linalg.norm(x[:, :3], axis=1, keepdims=True)
    x[:, :3] = axes * np.asarray(angles)[:, None]
    return x


@pytest.fixture
def vectors(group, rng):
    """At the identity, 1e-8 from it, anywhere, near pi; principal all."""
    x = vectors_of(group, rng, [0.0, 1e-12, 1e-8, 1e-4, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-6])
    return np.vstack([np.zeros(group.dimension), 1e-8 * x[5], x])


@pytest.fixture
def elements(group, vectors):
    return group.exp(vectors)
