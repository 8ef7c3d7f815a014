"""A mechanism cut at other joints, or in its bodies, accelerates the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import mbkit as mb
from mbkit.coordinates.assembly import Assembly
from mbkit.coordinates.cut_bodies import cut_bodies, weld_name
from mbkit.coordinates.division import CutBodies
from mbkit.model.graph import graph_of
from mbkit.parts.parts import Parts
from mbkit.topology import build_topology
from tests.trees import random_inertia, random_pose


def three_loops(rng):
    """Three loops in space, of joints with one, two and three freedoms, either way round."""
    mech = mb.Mechanism("three loops")
    for name in "abcde":
        mech.add_body(mb.Body(name, random_inertia(rng), random_pose(rng)))

    def at():
        return {"point": rng.normal(size=3)}

    def along():
        return {"axis": rng.normal(size=3), "point": rng.normal(size=3)}

    def cross():
        return {
            "axis1": rng.normal(size=3),
            "axis2": rng.normal(size=3),
            "point": rng.normal(size=3),
        }

    mech.add_joint(mb.UniversalJoint("1", **cross()), "world", "a")
    mech.add_joint(mb.SphericalJoint("2", **at()), "b", "a")
    mech.add_joint(mb.CylindricalJoint("3", **along()), "b", "c")
    mech.add_joint(mb.UniversalJoint("4", **cross()), "world", "d")
    mech.add_joint(mb.SphericalJoint("5", **at()), "c", "d")
    mech.add_joint(mb.SphericalJoint("6", **at()), "e", "b")
    mech.add_joint(mb.SphericalJoint("7", **at()), "e", "c")
    mech.add_joint(mb.RevoluteJoint("8", **along()), "world", "e")
    mech.add_force(mb.BodyWrench("push", body="b", wrench=rng.normal(size=6)))
    return mech


def system_of(mech, loop_joints=None, cuts=None):
    parts = cut_bodies(Parts.of(mech), cuts or {})
    graph = graph_of(parts, cut=[weld_name(name) for name in cuts or {}])
    topology = build_topology(graph, loop_joints)
    return Assembly(CutBodies().divide(parts), topology, mb.BodyFixed(), "joint", 1.0).system()


def body_jacobian(system, q, names):
    return np.vstack([system.jacobian(name, q) for name in names])


def accelerations(system, twists):
    """Return those of the bodies at the reference configuration, where they have these twists."""
    q = system.reference_configuration()
    J = body_jacobian(system, q, system.body_names[1:])
    moving = np.concatenate([twists[name.removesuffix(" (cut)")] for name in system.body_names[1:]])
    v = np.linalg.lstsq(J, moving)[0]
    np.testing.assert_allclose(J @ v, moving, atol=1e-11)
    np.testing.assert_allclose(system.constraint_jacobian(q) @ v, 0.0, atol=1e-11)
    vdot, _ = system.solve_dynamics(q, v)
    return system.accelerations(q, v, vdot)[[system.body_index(name) for name in twists]]


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(3))
def test_accelerations_do_not_depend_on_the_cut(seed):
    """At all kinds of joints, in bodies with any share of the inertia, and in both."""
    rng = np.random.default_rng(seed)
    mech = three_loops(rng)
    first = system_of(mech)
    q = first.reference_configuration()
    free = scipy.linalg.null_space(first.constraint_jacobian(q))
    assert free.shape[1] == mech.topology().mobility
    v = free @ rng.normal(size=free.shape[1])
    twists = {name: body_jacobian(first, q, [name]) @ v for name in mech.bodies}
    expected = accelerations(first, twists)
    cuts = mech.topology().cuts(limit=100)
    assert len({cut.num_constraints for cut in cuts}) > 2
    for cut in cuts[:: len(cuts) // 6]:
        found = accelerations(system_of(mech, cut.loop_joints), twists)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    for bodies in ({"b": "6"}, {"b": mb.BodyCut(["2", "6"], share=0.1), "d": "5"}):
        found = accelerations(system_of(mech, cuts=bodies), twists)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
