"""The representation of a system changes no configuration, rate or measure."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.trees import random_mechanism, random_state


@pytest.fixture(params=REPRESENTATIONS[1:], ids=lambda each: each.name)
def systems(request):
    """The same tree in body-fixed twists and in others, with a state."""
    rng = np.random.default_rng(8)
    mechanism = random_mechanism(rng, 10, reach=2)
    system = mechanism.assemble()
    other = mechanism.assemble(mb.RelativeCoordinates(representation=request.param))
    return system, other, random_state(rng, system), random_state(rng, system)


@pytest.mark.some(2)
def test_rates(systems):
    """Twists and accelerations in the system's own representation give v and vdot back."""
    _, other, state, _ = systems
    V = other.twists(state.q, state.v)
    assert np.abs(mb.rates_from_twists(other, state.q, V) - state.v).max() < 1e-10
    assert np.abs(mb.fit_rates(other, state.q, V).rates - state.v).max() < 1e-10
    A = other.accelerations(state.q, state.v, state.vdot)
    found = mb.accelerations_from_twist_rates(other, state.q, state.v, A)
    assert np.abs(found - state.vdot).max() < 1e-9
    for representation in REPRESENTATIONS:
        both = [
            mb.accelerations_from_twist_rates(each, state.q, state.v, A, representation)
            for each in systems[:2]
        ]
        assert np.abs(both[0] - both[1]).max() < 1e-9 * (1.0 + np.abs(both[0]).max())


@pytest.mark.some(2)
def test_jacobian(systems):
    """Its rows are those of the system."""
    _, other, state, _ = systems
    expected = np.vstack([other.jacobian(body, state.q) for body in other.body_names[1:]])
    found = other.system_jacobian(state.q)
    assert found.representation == other.representation
    assert np.abs(found.J - expected).max() < 1e-11 * (1.0 + np.abs(expected).max())


@pytest.mark.some(2)
def test_inverse_kinematics_and_manipulability(systems):
    """The same configuration is found, and the same measure."""
    system, _, goal, start = systems
    body = system.body_names[-1]
    pose = system.poses(goal.q)[-1]
    first, second = (
        mb.inverse_kinematics(each, {body: pose}, start.q, restarts=20) for each in systems[:2]
    )
    assert first.converged
    assert second.converged
    assert np.abs(system.difference(first.q, second.q)).max() < 1e-6
    first, second = (mb.manipulability(each, body, goal.q, length=0.5) for each in systems[:2])
    assert second.singular_values == pytest.approx(first.singular_values, rel=1e-9, abs=1e-11)
