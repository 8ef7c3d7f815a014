"""Joints of users in functions of CasADi: with branches, and closing loops."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.peers.test_casadi import check_constraints, constraint_functions, same
from tests.peers.test_casadi_parameters import COMPOSITES, moved
from tests.trees import random_inertia, random_state

casadi = pytest.importorskip("casadi")


@mb.joint_kernel("motion")
def motion(slot, parameters, q, v, R, p, S, bias):
    """Along x, and from zero on up a ramp that begins smoothly, z = c x^3."""
    if parameters[0] < 0.0:
        return 7
    c = parameters[0] if q[0] > 0.0 else 0.0
    for j in range(9):
        R[j] = 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    R[0], R[4], R[8] = 1.0, 1.0, 1.0
    p[0], p[1], p[2] = q[0], 0.0, c * q[0] ** 3
    S[3], S[5] = 1.0, 3.0 * c * q[0] ** 2
    bias[5] = 6.0 * c * q[0] * v[0] * v[0]
    return 0


class Ramp(mb.Joint):
    num_positions = num_velocities = 1

    def __init__(self, name, slope):
        self.name, self.slope = name, slope

    def pose(self, q):
        T = np.eye(4, dtype=np.asarray(q).dtype)
        T[0, 3], T[2, 3] = q[0], self.slope * q[0] ** 3 if q[0] > 0.0 else 0.0
        return T

    def kernels(self):
        return mb.JointKernels(motion=motion)

    def parameters(self):
        return np.array([self.slope])


def test_compiled_joints_with_branches():
    mechanism = mb.Mechanism("ramp")
    rng = np.random.default_rng(61)
    slide, arm = (mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "ab")
    mechanism.add_joint(Ramp("ramp", 0.7), mechanism.world, slide)
    mechanism.add_joint(mb.RevoluteJoint("hinge", axis=(1, 2, 3)), slide, arm)
    system = mechanism.assemble()
    function = mb.casadi_function(system, "forward_dynamics")
    for first in (-0.4, 0.3, 1.1):
        q, v, tau = np.array([first, 0.2]), *rng.normal(size=(2, 2))
        assert same(function(q, v, tau), system.forward_dynamics(q, v, tau))
        parts = function.jacobian()(q, v, tau, np.zeros(2))
        for found, each in zip(parts, system.forward_dynamics_derivatives(q, v, tau), strict=True):
            assert same(found, each, 1e-10)


class Hinge(mb.Joint):
    """A hinge about z in Python."""

    num_positions = num_velocities = 1

    def __init__(self, name):
        self.name = name

    def pose(self, q):
        T = np.eye(4, dtype=np.asarray(q).dtype)
        T[0, :2], T[1, :2] = (np.cos(q[0]), -np.sin(q[0])), (np.sin(q[0]), np.cos(q[0]))
        return T


class LocatedHinge(Hinge):
    """It says where it is."""

    def configuration_from_pose(self, T):
        return np.array([np.arctan2(T[1, 0], T[0, 0])])


class WholeHinge(LocatedHinge):
    """And what it bears."""

    def motion_subspace(self, q):
        return np.eye(6)[:, [2]]

    def bias(self, q, v):
        return np.zeros(6)

    def constraint_wrenches(self, q):
        return np.eye(6)[:, [0, 1, 3, 4, 5]]


def four_bar(joint):
    """Return a four-bar linkage in space that a joint closes."""
    rng = np.random.default_rng(62)
    mechanism = mb.Mechanism("four-bar")
    ends = [mechanism.world]
    ends += [mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "abc"]
    joints = (mb.RevoluteJoint("i"), mb.SphericalJoint("j"), mb.UniversalJoint("k"), joint)
    for k, (each, point) in enumerate(zip(joints, rng.normal(size=(4, 3)), strict=True)):
        place = mb.spatial.translation(point)
        mechanism.add_joint(each, ends[k], [*ends, ends[0]][k + 1], frames=(place, place))
    return mechanism.assemble(mb.RelativeCoordinates(loop_joints=[joint.name]))


class Parabola(mb.Joint):
    """Along x and z = c x^2, by its pose alone."""

    num_positions = num_velocities = 1

    def __init__(self, name, curvature):
        self.name, self.curvature = name, curvature

    def pose(self, q):
        T = np.eye(4, dtype=np.asarray(q).dtype)
        T[0, 3], T[2, 3] = q[0], self.curvature * q[0] ** 2
        return T


@pytest.mark.parametrize(
    "last", [mb.RevoluteJoint("turn", axis=(1, 2, 3)), mb.SphericalJoint("ball")]
)
def test_members_of_composite_joints_by_their_pose_alone(last):
    rng = np.random.default_rng(62)
    mechanism = mb.Mechanism("track")
    slide, arm = (mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "ab")
    track = mb.CompositeJoint("track", Parabola("curve", 0.7), last)
    mechanism.add_joint(track, mechanism.world, slide)
    mechanism.add_joint(mb.RevoluteJoint("hinge", axis=(1, 2, 3)), slide, arm)
    system = mechanism.assemble()
    q = random_state(rng, system).q
    v, vdot = rng.normal(size=(2, system.nv))
    function = mb.casadi_function(system, "inverse_dynamics")
    assert same(function(q, v, vdot), system.inverse_dynamics(q, v, vdot))


@pytest.mark.parametrize("kind", [LocatedHinge, WholeHinge])
def test_joints_in_python_that_close_loops(kind):
    """Rows, and dynamics with multipliers; derivatives by the velocity."""
    rng = np.random.default_rng(63)
    system = four_bar(kind("l"))
    start = system.close_loops(system.reference_configuration())
    q = system.close_loops(system.retract(start, 0.1 * rng.normal(size=system.ndx)))
    v, tau = rng.normal(size=(2, system.nv))
    check_constraints(system, constraint_functions(system), q, v, 0.0)
    A = system.constraint_jacobian(q)
    v = v - np.linalg.pinv(A) @ (A @ v)
    function = mb.casadi_function(system, "solve_dynamics")
    for found, expected in zip(function(q, v, tau), system.solve_dynamics(q, v, tau), strict=True):
        assert same(found, expected, 1e-11)
    outputs = np.zeros(system.nv), np.zeros(system.num_velocity_constraints)
    parts = function.jacobian()(q, v, tau, *outputs)
    rates = system.derivatives("forward_dynamics", q, v, tau, by=["q", "v"])
    E = np.array([system.position_rates(q, e) for e in np.eye(system.ndx)]).T
    assert same(parts[0] @ E, rates["q"], 1e-10)
    assert same(parts[1], rates["v"], 1e-10)


def test_a_loop_joint_that_is_searched_for_is_named():
    with pytest.raises(mb.UsageError, match=r"Joint 'l'.*'configuration_from_pose'.*loop_joints"):
        mb.casadi_function(four_bar(Hinge("l")), "mass_matrix")


@pytest.mark.parametrize("name", COMPOSITES)
def test_composite_joints_in_loops(name):
    """One that closes a loop is named with the remedy; by it all of its members can be free."""
    rng = np.random.default_rng(64)
    mechanism = mb.Mechanism("loop")
    ends = [mechanism.world]
    ends += [mechanism.add_body(mb.Body(n, random_inertia(rng))) for n in "abc"]
    members = COMPOSITES[name][:2]  # three leave no constraint where they move in six directions
    joints = (
        mb.RevoluteJoint("i", axis=(1, 2, 3)), mb.CompositeJoint("j", *members),
        mb.SphericalJoint("k"), mb.UniversalJoint("l"),
    )  # fmt: skip
    for k, joint in enumerate(joints):
        frames = [SE3.exp(0.3 * rng.normal(size=6)) for _ in range(2)]
        mechanism.add_joint(joint, ends[k], [*ends, ends[0]][k + 1], frames=frames)
    closing = mechanism.assemble(mb.RelativeCoordinates(loop_joints=["j"]))
    remedy = r"'j'.* closes a loop.*let another joint .*loop_joints="
    with pytest.raises(mb.UsageError, match=remedy):
        mb.casadi_function(closing, "constraint_residual")
    system = mechanism.assemble(mb.RelativeCoordinates(loop_joints=["l"]))
    own = [each for each in system.parameters if each.startswith("joints.j.")]
    of_members = [each for each in own if each.rpartition(".")[2] in ("axis", "screw")]
    for path in of_members:
        with pytest.raises(mb.UsageError, match=remedy):
            mb.casadi_function(closing, "mass_matrix", parameters=[path])
    values = {each: moved(rng, system.parameters[each]) for each in own}
    q, v = random_state(rng, system).q, rng.normal(size=system.nv)
    other = system.with_parameters(values)
    A, expected = (
        mb.casadi_function(system, "constraint_jacobian", parameters=own)(q, *values.values()),
        other.constraint_jacobian(q),
    )
    lengths = np.linalg.norm(A.full(), axis=1) / np.linalg.norm(expected, axis=1)
    assert same(A, lengths[:, None] * expected, 1e-11)
    for evaluation in ("constraint_residual", "constraint_bias"):
        function = mb.casadi_function(system, evaluation, parameters=own)
        state = (q,) if evaluation == "constraint_residual" else (q, v)
        expected = getattr(other, evaluation)(*state)
        assert same(function(*state, *values.values()), lengths[: len(expected)] * expected, 1e-11)
