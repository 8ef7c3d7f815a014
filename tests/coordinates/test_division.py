"""The division of a mechanism: made once for one set of numbers, and passed on."""

from __future__ import annotations

import pytest

import mbkit as mb
from mbkit.coordinates.division import CutBodies
from mbkit.coordinates.free_bodies import FreeBodies


@pytest.mark.parametrize(
    ("coordinates", "rule"),
    [(mb.RelativeCoordinates(), CutBodies), (mb.AbsoluteCoordinates(), FreeBodies)],
    ids=["relative", "absolute"],
)
def test_a_mechanism_is_divided_once(monkeypatch, coordinates, rule):
    divide, asked = rule.divide, []

    def counted(self, whole):
        asked.append(whole)
        return divide(self, whole)

    monkeypatch.setattr(rule, "divide", counted)
    mech = mb.Mechanism("pendulum")
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    system = mech.assemble(coordinates)
    assert system.joint_places is system.joint_places
    assert system.inertia_transfers == {}
    assert len(asked) == 1
    system.with_constraint_solver(mb.SchurComplement())
    assert len(asked) == 1  # bodies, joints and forces are the same
    heavier = system.with_parameters({"bodies.bob.mass": 2.0})
    assert len(asked) == 2
    assert heavier.inertias.masses[heavier.body_index("bob")] == 2.0
    assert system.inertias.masses[system.body_index("bob")] == 1.0
