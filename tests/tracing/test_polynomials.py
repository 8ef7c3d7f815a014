"""The numbers of a system as polynomials of its parameters."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.systems.complex_steps import ComplexEvaluation


@pytest.mark.some(2)
@pytest.mark.parametrize("entry", [0.0, 1e-17, -1e-14, 1e-9])
def test_an_entry_that_is_small_beside_the_others_has_its_effect(entry):
    """Of a pendulum that hangs 1 m low and `entry` aside: b = -m g x at q = 0."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
    inertia = mb.SpatialInertia.from_com(2.0, (entry, 0, -1.0), np.eye(3))
    bob = mech.add_body(mb.Body("bob", inertia))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    system, name = mech.assemble(), "bodies.bob.com"
    assert system.parameters[name][0] == entry
    given, moves = {"q": np.zeros(1), "v": np.zeros(1)}, {name: np.eye(3)}
    rate = ComplexEvaluation(system, "bias_force", (name,))(given, moves)[1]
    assert np.abs(rate[:, 0] - [-20.0, 0.0, 0.0]).max() < 1e-12
