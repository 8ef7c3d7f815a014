"""Places of joints in the adjoint, by one pass over the bodies at each state.

Against forward derivatives, which move free joints at these places instead, or take differences of
the frames of loop joints; differences of runs know nothing of either.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.sensitivities.passes.forces import called_forces
from mbkit.sensitivities.passes.memory import PassSums
from tests.sensitivities.differences import assert_adjoint
from tests.trees import random_inertia

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

METHODS = {
    "Munthe-Kaas": mb.RungeKuttaMuntheKaas(),
    "adaptive": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6),
    "stabilised": mb.GeneralizedAlpha(0.8, tolerance=1e-13),
    "index 3": mb.GeneralizedAlpha(0.8, formulation="index3", tolerance=1e-13),
    "index 3, adaptive": mb.GeneralizedAlpha(0.8, formulation="index3", rtol=1e-8, tolerance=1e-13),
}

FIELDS = ("S_pred", "S_succ", "point")


def turned_loop(*, closed=True):
    """Return a loop in space of bodies and joints in frames of their own, with forces across it.

    One joint has its successor nearer to the world, one more body is welded to another.
    """
    rng = np.random.default_rng(3)
    mech = mb.Mechanism("turned loop", gravity=(0.3, -0.2, -9.81))
    for name in ("a", "b", "c", "plate"):
        pose = SE3.exp(rng.normal(size=6))
        mech.add_body(mb.Body(name, random_inertia(rng), pose=pose))
    mech.add_joint(mb.RevoluteJoint("A", axis=(0, 1, 0.2), point=(0, 0, 0.1)), "world", "a")
    mech.add_joint(mb.SphericalJoint("B", point=(0.2, 0.4, 0.6)), "b", "a")
    mech.add_joint(mb.UniversalJoint("C", point=(0.7, 0.5, 0.1)), "b", "c")
    if closed:
        mech.add_joint(mb.UniversalJoint("D", point=(1.0, 0.1, 0.1)), "world", "c")
    mech.add_joint(mb.FixedJoint("weld"), "b", "plate")
    ends = {"point_a": (0.1, 0.1, 0.3), "point_b": (0.9, 0.3, -0.2)}
    mech.add_force(
        mb.SpringDamper("spring", "a", "c", stiffness=30.0, rest_length=0.5, damping=0.4, **ends)
    )
    mech.add_force(mb.Drag("air", "plate", quadratic=0.2, angular=0.1, point=(0.4, 0.6, 0.1)))
    mech.add_force(mb.JointDamper("damper", "A", damping=0.1))
    return mech


def names_of(system, joints):
    """Return the parameters of places of joints, by their fields."""
    return [
        name
        for joint in joints
        for field in FIELDS
        if (name := f"joints.{joint}.{field}") in system.parameters
    ]


@pytest.mark.some(3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cut", ["D", "B", None])
def test_places_of_joints(cut, method):
    """Of the tree and of the joint that closes the loop; None: of a tree, without D."""
    mech = turned_loop(closed=cut is not None)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=() if cut is None else (cut,)))
    names = names_of(system, [joint for joint in "ABCD" if joint in system.joint_places])
    assert {*names} <= PassSums(system, names, called_forces(system)).known
    v = np.random.default_rng(4).normal(size=system.nv)
    q, v = system.close_loops(system.reference_configuration(), v)
    run = mb.simulate(system, (0.0, 0.02), 1e-2, q=q, v=v, integrator=METHODS[method])
    by = ["q", "v", "bodies.c.mass", "forces.spring.point_b", *names]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-10)


def test_a_place_of_a_welded_body_is_left_to_matrices():
    system = turned_loop().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    names = names_of(system, ["weld"])
    assert names
    assert not PassSums(system, names, called_forces(system)).known
    v = np.random.default_rng(4).normal(size=system.nv)
    q, v = system.close_loops(system.reference_configuration(), v)
    run = mb.simulate(system, (0.0, 0.02), 1e-2, q=q, v=v)
    by = ["q", "joints.C.S_pred", *names]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-9)
