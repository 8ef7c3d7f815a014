"""MuJoCo and mbkit agree on trees of the joints that MuJoCo has."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from tests.peers.mujoco_twin import MujocoTwin
from tests.trees import random_state

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module", params=[REVOLUTE, MIXED], ids=["revolute", "mixed"])
def case(request):
    """A tree of the benchmarks, its system, its twin and a state."""
    mechanism = benchmark_tree(30, request.param)
    system = mechanism.assemble()
    state = random_state(np.random.default_rng(30), system)
    return system, MujocoTwin(mechanism, system), state


def test_forward_dynamics(case):
    """The accelerations under generalized forces are equal."""
    system, twin, state = case
    found = system.forward_dynamics(state.q, state.v, state.tau)
    expected = twin.forward_dynamics(state.q, state.v, state.tau)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_motion(case):
    """Half a second is the same, step by step on the group, ball joints included.

    MuJoCo 4's RK4 is found to be the method of Munthe-Kaas with the exact inverse differential, as
    mbkit's: what differs is round-off.
    """
    system, twin, state = case
    twin.set_state(state.q, state.v)
    q, v = twin.step(500)
    run = mb.simulate(system, (0.0, 0.5), 1e-3, q=state.q, v=state.v)
    assert np.abs(run.q[-1] - state.q).max() > 0.1
    assert np.abs(run.q[-1] - q).max() <= 1e-11
    assert np.abs(run.v[-1] - v).max() <= 1e-11 * np.abs(v).max()
