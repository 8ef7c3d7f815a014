"""A result with a bit of everything in it."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb


def make_result(**changes):
    rng = np.random.default_rng(5)
    fields = {
        "t": np.linspace(0.0, 0.4, 5),
        "q": rng.normal(size=(5, 4)),
        "v": rng.normal(size=(5, 3)),
        "kinetic_energy": rng.uniform(size=5),
        "potential_energy": rng.normal(size=5),
        "body_names": ("world", "top"),
        "joint_names": ("tip",),
        "position_names": tuple(f"tip[{k}]" for k in range(4)),
        "velocity_names": tuple(f"tip[{k}]" for k in range(3)),
        "position_units": ("1", "1", "1", "1"),
        "model": 'name = "top"\n# φ, ψ: Euler\'s angles\n',
        "options": {"h": 0.1, "t_span": (0.0, 0.4), "integrator": {"tableau": "rk4"}},
        "versions": {"mbkit": "0.1.0"},
        "completed": False,
        "message": "Interrupted by the user after t = 0.4 s.",
    }
    return mb.Result(**fields | changes)


@pytest.fixture
def run():
    return make_result()


@pytest.fixture
def changed():
    return make_result
