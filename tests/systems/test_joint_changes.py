"""Derivatives by numbers of joints of the tree, pitches, axes and screws: against complex steps."""

from __future__ import annotations

import math

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.derivatives import parameter_changes
from mbkit.systems.derivatives.joint_changes import Motion, change_by_joint
from mbkit.systems.derivatives.moving_joints import moving_joint
from mbkit.systems.derivatives.parameter_moves import moves_of
from tests.constraints.loops import mobile_loops
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.every_joint import moved_behind
from tests.systems.test_evaluation_derivatives import check
from tests.systems.test_exact_constraint_changes import expected_changes, random_point
from tests.trees import random_inertia, random_mechanism, random_pose, random_state

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

FIELDS = ("pitch", "axis1", "axis2")


def by_numbers(system):
    """Return the names of what moves a joint of the tree otherwise than its places do."""
    ends = tuple(f".{field}" for field in FIELDS)
    loops = tuple(f"joints.{joint}." for joint in system.loop_joints)
    return [n for n in system.parameters if n.endswith(ends) and not n.startswith(loops)]


def assert_close(found, expected, tolerance, size):
    assert np.abs(found - expected.reshape(found.shape)).max() <= tolerance * size


#: Of the largest entry: a pitch moves a joint by its number itself; axes are of length one.
LEFT = {"pitch": 3e-14, "axis1": 2e-13, "axis2": 2e-13}


@pytest.mark.long
@pytest.mark.parametrize("turned_round", [0.0, 1.0])
def test_trees(turned_round):
    """Of which predecessors are nearer to the world, or successors."""
    rng = np.random.default_rng(8)
    kinds = ("helical", "universal", "spherical", "helical", "universal")
    mech = random_mechanism(rng, 6, kinds, turned_round=turned_round)
    mech.add_force(mb.JointSpring("spring", "joint0", stiffness=7.0, rest=0.2))
    system = mech.assemble()
    state, names = random_state(rng, system), by_numbers(system)
    assert {name.rpartition(".")[2] for name in names} == set(FIELDS)
    given = {"q": state.q, "v": state.v, "tau": state.tau}
    found = system.derivatives("forward_dynamics", *given.values(), by=names)
    for name in names:
        exact = ComplexEvaluation(system, "forward_dynamics", [name]).by(given, name)
        left = LEFT[name.rpartition(".")[2]]
        assert_close(found[name], exact, left, np.abs(found[name]).max())


@pytest.mark.long
@pytest.mark.parametrize("redundant", [False, True])
def test_closed_mechanisms(redundant):
    """At any accelerations and multipliers; rows that depend on others have A mu besides."""
    rng = np.random.default_rng(4)
    tree = ("helical", "universal", "revolute")
    system, q = mobile_loops(rng, 6, ("spherical",), tree=tree)
    point, names = random_point(rng, system, q), by_numbers(system)
    if redundant:
        point = attrs.evolve(point, rank=point.rank - 1)
    assert {name.rpartition(".")[2] for name in names} == set(FIELDS)
    given = {"q": q, "v": point.v[0], "vdot": point.vdot[0]}
    for name in names:
        change = change_by_joint(point, name, *moves_of(system, name))
        rows, forces = expected_changes(point, name)
        efforts = ComplexEvaluation(system, "inverse_dynamics", [name]).by(given, name)
        left, size = LEFT[name.rpartition(".")[2]], 1.0 + np.abs(efforts).max()
        assert_close(change.rows[0], rows, left, 10.0 * (1.0 + np.abs(rows).max()))
        assert_close(change.efforts[0], efforts + forces, left, 10.0 * size)
        if redundant:
            A = ComplexEvaluation(system, "constraint_jacobian", [name])
            turned = np.einsum("mvk,v->mk", A.by({"q": q}, name), point.mu[0])
            assert_close(change.turned[0], turned, left, 10.0 * np.abs(point.mu).max())


@attrs.frozen
class RackJoint(mb.Joint):
    """A pinion that rolls on a rack, in Python."""

    name: str
    radius: float

    num_positions = num_velocities = 1

    def pose(self, q):
        (c, s), T = (np.cos(q[0]), np.sin(q[0])), np.eye(4)
        T[:3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
        T[0, 3] = self.radius * q[0]
        return T

    def motion_subspace(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[0, 1, 0, self.radius * c, 0, self.radius * s]]).T

    def bias(self, q, v):
        c, s = self.radius * np.cos(q[0]) * v[0] ** 2, self.radius * np.sin(q[0]) * v[0] ** 2
        return np.array([0, 0, 0, -s, 0, c])


@mb.joint_kernel("motion")
def rack_motion(slot, parameters, q, v, R, p, S, bias):
    """The same, compiled."""
    radius = parameters[0]
    c, s = math.cos(q[0]), math.sin(q[0])
    for j in range(9):
        R[j] = 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    R[0], R[2], R[4], R[6], R[8] = c, s, 1.0, -s, c
    p[0], p[1], p[2] = radius * q[0], 0.0, 0.0
    S[1], S[3], S[5] = 1.0, radius * c, radius * s
    bias[3], bias[5] = -radius * s * v[0] * v[0], radius * c * v[0] * v[0]
    return 0


class CompiledRack(RackJoint):
    def kernels(self):
        return mb.JointKernels(motion=rack_motion)

    def parameters(self):
        return np.array([self.radius])


@pytest.mark.some(2)
@pytest.mark.parametrize("turned", [False, True], ids=["as set", "turned round"])
def test_joints_of_users(turned):
    """In Python by differences, compiled by dual numbers: both say the same of a rack."""
    found = []
    for make in (RackJoint, CompiledRack):
        rng = np.random.default_rng(6)
        system, q = moved_behind(make("joint", 0.3), rng, turned)
        point, name = random_point(rng, system, q), "joints.joint.radius"
        assert (moving_joint(system, name) is not None) == (make is CompiledRack)
        found.append(change_by_joint(point, name, *moves_of(system, name)).efforts)
    assert_close(*found, 1e-12, np.abs(found[0]).max())


def test_translations_that_begin_to_turn():
    """exp((w; u) q) by w where w is zero: the twist q (w; q/2 u x w) beside its pose."""
    rng = np.random.default_rng(7)
    u = rng.normal(size=3)
    system, q = moved_behind(mb.ScrewJoint("joint", screw=(0, 0, 0, *u)), rng, turned=False)
    point, x = random_point(rng, system, q), q[system.position_slice("joint")][0]
    moving = moving_joint(system, "joints.joint.screw")
    twists = Motion.of_numbers(system, moving, point.q, point.v, point.vdot).twists[0, :, :, 0]
    shifts = 0.5 * x * np.cross(u, np.eye(3), axisb=0, axisc=0)
    expected = x * np.block([[np.eye(3), np.zeros((3, 3))], [shifts, np.eye(3)]])
    assert np.abs(twists - expected).max() < 1e-14


JOINTS = {
    "screw": mb.ScrewJoint("joint", screw=(1, 2, 0, 1, 0, 3)),
    "axes": mb.TranslationalJoint("joint"),
    "pitch": mb.HelicalPlanarJoint("joint", pitch=0.2, axis=(0.3, -0.5, 0.7)),
    "spin.pitch": mb.CompositeJoint(
        "joint", mb.HelicalJoint("spin", pitch=0.1), mb.RevoluteJoint("tip", axis=(1, 0, 0))
    ),
}


@pytest.mark.parametrize("field", JOINTS)
def test_other_joints(field, monkeypatch):
    """Against differences of whole systems, which are not taken."""
    monkeypatch.delattr(parameter_changes, "differences")
    rng = np.random.default_rng(5)
    mech, parent = mb.Mechanism("chain", gravity=(1.0, 2.0, 3.0)), "world"
    for joint in (mb.RevoluteJoint("first"), JOINTS[field], mb.SphericalJoint("last")):
        body = mech.add_body(mb.Body(f"of {joint.name}", random_inertia(rng)))
        mech.add_joint(joint, parent, body, frames=(random_pose(rng), random_pose(rng)))
        parent = body
    system = mech.assemble()
    state, name = random_state(rng, system), f"joints.joint.{field}"
    check(system, (state.q, state.v, state.tau, 0.0), [name])
