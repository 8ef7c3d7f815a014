"""Parallel robots: closed-form kinematics, and dynamics against the principle of virtual power."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import delta_robot, five_bar, stewart_platform
from mbkit.representations import REPRESENTATIONS
from tests.closed_loops.parallel_robots import (
    delta_bodies,
    five_bar_bodies,
    stewart_bodies,
    stewart_lengths,
)
from tests.closed_loops.virtual_power import motion
from tests.every_representation import in_turn

#: That rows are redundant is known here.
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


@attrs.frozen
class Robot:
    """A robot with its motors, and how far its tool may be moved from the start."""

    example: object
    place: object
    start: np.ndarray
    reach: np.ndarray
    motors: tuple
    cut: tuple


ROBOTS = {
    "Stewart platform": Robot(
        stewart_platform, stewart_bodies, np.array([0, 0, stewart_platform.HEIGHT, 0, 0, 0]),
        np.array([0.15, 0.15, 0.15, 0, 0, 0]), tuple(f"leg{k}" for k in range(1, 7)),
        tuple(f"ball{k}" for k in range(2, 7)),
    ),
    "delta robot": Robot(
        delta_robot, delta_bodies, np.array([0, 0, -delta_robot.DEPTH]), np.full(3, 0.08),
        ("hip1", "hip2", "hip3"), ("wrist1b", "wrist2a", "wrist2b", "wrist3a", "wrist3b"),
    ),
    "five-bar": Robot(
        five_bar, five_bar_bodies, five_bar.POINT, np.full(2, 0.05),
        ("left shoulder", "right shoulder"), ("meeting",),
    ),
}  # fmt: skip

each_robot = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)


@attrs.frozen
class Moment:
    """A robot in motion: what the closed form says of it, and the state of its system."""

    robot: Robot
    system: mb.System
    found: object
    q: np.ndarray
    v: np.ndarray
    freedoms: np.ndarray  # velocities of the joints by those of the tool

    @property
    def bodies(self):
        return [self.system.body_index(name) for name in self.robot.example.build().bodies]

    def efforts(self):
        """Return the efforts of the motors that make this motion."""
        mech = self.robot.example.build()
        inertias = [(b.inertia.mass, b.inertia.moment_about_com) for b in mech.bodies.values()]
        Q = self.found.forces(inertias, mech.gravity)
        return np.linalg.solve(self.freedoms[self.rows()].T, Q)

    def rows(self):
        """Return where the motors are among the velocities."""
        return [self.system.velocity_slice(name).start for name in self.robot.motors]

    def tau(self, efforts):
        """Return generalized forces with these efforts of the motors."""
        tau = np.zeros(self.system.nv)
        tau[self.rows()] = efforts
        return tau

    def solve(self, tau):
        """Return the accelerations (b, 6) of the bodies, angular first, in the world."""
        vdot, _ = self.system.solve_dynamics(self.q, self.v, tau)
        hybrid = mb.Hybrid()
        return self.system.accelerations(self.q, self.v, vdot, representation=hybrid)[self.bodies]


def moment(robot, seed, representation=None):
    """Return a robot at a random place with a random velocity and acceleration of its tool."""
    rng = np.random.default_rng(seed)
    n = len(robot.start)
    x = robot.start + robot.reach * rng.uniform(-1.0, 1.0, size=n)
    found = motion(robot.place, x, *rng.normal(size=(2, n)))
    mech = robot.example.build()
    coordinates = mb.RelativeCoordinates(
        representation=representation or mb.BodyFixed(), loop_joints=robot.cut
    )
    system = mech.assemble(coordinates)
    poses = {"world": np.eye(4), **dict(zip(mech.bodies, found.poses(), strict=True))}
    q = system.reference_configuration()
    for name, edge in mech.joints.items():
        if name not in robot.cut:
            near = poses[edge.predecessor] @ edge.S_pred
            far = poses[edge.successor] @ edge.S_succ
            q[system.position_slice(name)] = edge.joint.configuration_from_pose(
                np.linalg.inv(near) @ far
            )
    hybrid = mb.Hybrid()
    J = np.vstack([system.jacobian(name, q, representation=hybrid) for name in mech.bodies])
    twists = np.hstack([found.spins, found.velocities]).ravel()
    by_tool = np.concatenate([found.turns, found.shifts], axis=1).reshape(-1, n)
    v, freedoms = (np.linalg.lstsq(J, each, rcond=None)[0] for each in (twists, by_tool))
    assert np.abs(J @ v - twists).max() < 1e-13 * max(1.0, np.abs(twists).max())
    return Moment(robot, system, found, q, v, freedoms)


@pytest.mark.some(3)
@pytest.mark.parametrize(("robot", "representation"), in_turn(ROBOTS, REPRESENTATIONS))
def test_a_robot_under_the_efforts_of_a_motion_makes_it(robot, representation):
    """All bodies accelerate as the closed form of their places says."""
    for seed in range(2):
        now = moment(robot, seed, representation)
        assert np.abs(now.system.constraint_residual(now.q)).max() < 1e-14
        assert np.abs(now.system.constraint_velocity(now.q, now.v)).max() < 1e-13
        expected = np.hstack([now.found.spin_rates, now.found.accelerations])
        found = now.solve(now.tau(now.efforts()))
        assert np.abs(found - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.some(2)
@each_robot
def test_velocities_of_the_tool_are_those_that_constraints_leave(robot):
    """The joint velocities of all motions of the tool span the null space of the Jacobian."""
    now = moment(robot, 5)
    A = now.system.constraint_jacobian(now.q)
    assert np.abs(A @ now.freedoms).max() < 1e-13
    n = len(robot.start)
    assert np.linalg.matrix_rank(now.freedoms, tol=1e-9) == n
    assert now.system.nv - np.linalg.matrix_rank(A, tol=1e-9) == n


def test_legs_have_the_lengths_and_angles_of_the_closed_form():
    """Of the Stewart platform; its motors' Jacobian is that of the lengths."""
    now = moment(ROBOTS["Stewart platform"], 2)
    platform = now.system.poses(now.q)[now.system.body_index("platform")]
    expected = stewart_platform.leg_coordinates(platform)
    for k, coordinates in enumerate(expected, 1):
        found = [*now.q[now.system.position_slice(f"foot{k}")]]
        found += [*now.q[now.system.position_slice(f"leg{k}")]]
        assert np.abs(found - coordinates).max() < 1e-14
    x = np.array([*platform[:3, 3], 0, 0, 0])
    assert np.abs(now.freedoms[now.rows()] - stewart_lengths(x)).max() < 1e-13


def test_arms_of_the_delta_robot_have_the_angles_of_the_closed_form():
    """And the platform has not turned."""
    now = moment(ROBOTS["delta robot"], 2)
    platform = now.system.poses(now.q)[now.system.body_index("platform")]
    assert np.abs(platform[:3, :3] - np.eye(3)).max() < 1e-14
    found = [now.q[now.system.position_slice(name)][0] for name in now.robot.motors]
    expected = delta_robot.hip_angles(platform[:3, 3]) - delta_robot.START
    assert np.abs(found - expected).max() < 1e-14


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(3))
def test_efforts_of_redundant_motors_that_do_the_same_move_the_same(seed):
    """Of the five-bar: four motors for two freedoms, two of which fight each other or rest."""
    now = moment(ROBOTS["five-bar"], seed)
    everywhere = np.linalg.pinv(now.freedoms.T) @ now.freedoms.T @ now.tau(now.efforts())
    fighting = np.random.default_rng(seed).normal(size=4)
    fighting -= np.linalg.pinv(now.freedoms.T) @ now.freedoms.T @ fighting
    assert np.abs(fighting).max() > 0.1
    expected = now.solve(now.tau(now.efforts()))
    for tau in (everywhere, everywhere + fighting):
        assert np.abs(now.solve(tau) - expected).max() < 1e-11 * np.abs(expected).max()


def test_the_least_efforts_hold_the_five_bar():
    """They balance gravity; which the shoulders alone would do with greater ones."""
    system = five_bar.build().assemble(mb.RelativeCoordinates(loop_joints=["meeting"]))
    efforts = five_bar.holding_efforts(five_bar.POINT)
    vdot, _ = system.solve_dynamics(np.zeros(4), np.zeros(4), efforts)
    assert np.abs(vdot).max() < 1e-12
