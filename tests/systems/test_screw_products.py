"""Joints that are products of exponentials: derivatives in closed form, against complex steps."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import each_representation
from tests.systems.complex_steps import ComplexEvaluation
from tests.trees import MAKERS, random_inertia, random_pose, random_state

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


def screws(rng, name):
    """Four screws one after another, of which the last two commute."""
    members = ("revolute", "helical", "prismatic", "cylindrical")
    return mb.CompositeJoint(name, *(MAKERS[kind](rng, kind) for kind in members))


def chain(rng, turned_round):
    """A chain whose joints point from the world, or to it."""
    mech, before = mb.Mechanism("screws", gravity=rng.normal(size=3)), "world"
    for k, make in enumerate((MAKERS["universal"], screws, MAKERS["universal"])):
        body = mech.add_body(mb.Body(f"body{k}", random_inertia(rng)))
        ends = (body, before) if turned_round else (before, body)
        frames = random_pose(rng), random_pose(rng)
        mech.add_joint(make(rng, f"joint{k}"), *ends, frames=frames)
        before = body
    return mech


@pytest.mark.some(2)
@each_representation
@pytest.mark.parametrize("turned_round", [False, True])
def test_derivatives_have_rounding_alone(representation, turned_round):
    """Of inverse dynamics and of M-dot = C + C^T; central differences leave 2e-14 and more."""
    rng = np.random.default_rng(3)
    system = chain(rng, turned_round).assemble(mb.RelativeCoordinates(representation))
    state = random_state(rng, system)
    given = {"q": state.q, "v": state.v, "vdot": state.vdot}
    exact = ComplexEvaluation(system, "inverse_dynamics")
    found = system.inverse_dynamics_derivatives(*given.values())
    for own, name in zip(found, ("q", "v"), strict=True):
        assert np.abs(own - exact.by(given, name)).max() < 1e-14 * np.abs(own).max()
    C = system.coriolis_matrix(state.q, state.v)
    rate = ComplexEvaluation(system, "mass_matrix").by({"q": state.q}, "q") @ state.v
    assert np.abs(C + C.T - rate).max() < 1e-14 * np.abs(rate).max()
