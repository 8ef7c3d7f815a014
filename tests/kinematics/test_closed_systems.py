"""Configurations from poses, and manipulability, of systems whose joints are held together."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.optimize import minimize

import mbkit as mb
from examples.closed_loops import five_bar, four_bar, stewart_platform
from mbkit.lie import SE3, SO3
from mbkit.spatial import translation
from tests.closed_loops.parallel_robots import stewart_lengths
from tests.constraints.closed_mechanisms import stewart
from tests.kinematics.arms import planar_arm

LEGS = [f"leg{k}" for k in range(1, 7)]
RELATIVE = mb.RelativeCoordinates()
HOME = translation((0.0, 0.0, stewart_platform.HEIGHT))


def platform_poses(count, seed):
    """Poses around that at the start: up to 0.3 rad and 0.15 m along each axis."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(-1.0, 1.0, (count, 6)) * np.repeat([0.3, 0.15], 3)
    return [HOME @ SE3.exp(step) for step in steps]


def changes_of_legs(system, q):
    return np.array([q[system.position_slice(leg)][0] for leg in LEGS])


@pytest.fixture(scope="module")
def platform():
    return stewart_platform.build().assemble()


@pytest.fixture(scope="module")
def linkage():
    return four_bar.build().assemble()


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "coordinates", [RELATIVE, mb.AbsoluteCoordinates(joints=LEGS)], ids=["relative", "absolute"]
)
def test_poses_of_a_platform_give_the_lengths_of_its_legs(coordinates):
    """One call; lengths in closed form, loops closed, in both kinds of coordinates."""
    system = stewart_platform.build().assemble(coordinates)
    for pose in platform_poses(3 if coordinates is RELATIVE else 1, seed=4):
        found = mb.inverse_kinematics(system, {"platform": pose})
        assert found.reason == "reached"
        assert found.gap < 1e-10 * system.arrays.closure.length
        assert np.abs(system.constraint_residual(found.q)).max() <= 1.01 * found.gap
        exact = stewart_platform.leg_coordinates(pose)[:, 2]
        assert np.abs(changes_of_legs(system, found.q) - exact).max() < 1e-8


def test_the_crank_follows_from_the_coupler(linkage):
    """All the way round, by the corners of the linkage in closed form, and back in absolute."""
    absolute = four_bar.build().assemble(mb.AbsoluteCoordinates())
    q = linkage.reference_configuration()
    for crank in np.linspace(four_bar.START, four_bar.START + 2.0 * np.pi, 8):
        _, B, C, _ = four_bar.corners(crank)
        pose = translation([*0.5 * (B + C), 0.0])
        pose[:2, :2] = np.column_stack([C - B, (B - C)[::-1] * (1, -1)]) / np.linalg.norm(C - B)
        found = mb.inverse_kinematics(linkage, {"coupler": pose}, q)
        assert found.reason == "reached"
        assert found.gap < 1e-12
        q = found.q
        turned = q[linkage.position_slice("A")][0] + four_bar.START - crank
        assert abs(np.sin(0.5 * turned)) < 1e-8
    same = mb.inverse_kinematics(
        absolute, {"coupler": pose}, absolute.state_of(linkage, q, 0 * q)[0]
    )
    assert same.reason == "reached"
    for body in ("crank", "coupler", "rocker"):
        assert np.abs(absolute.pose(body, same.q) - linkage.pose(body, q)).max() < 1e-8


@pytest.mark.parametrize("coordinates", [RELATIVE, mb.AbsoluteCoordinates()])
def test_poses_beside_the_path_are_named_with_the_gap(coordinates):
    """Nothing is reported as reached with open loops, and what is returned has them closed."""
    system = four_bar.build().assemble(coordinates)
    q = system.reference_configuration()
    goal = translation((0.0, 0.05, 0.0)) @ system.pose("coupler", q)
    found = mb.inverse_kinematics(system, {"coupler": mb.PoseTarget(goal, rows="linear")}, q)
    assert not found.converged
    assert found.reason.startswith("open loops: they cannot be closed where the targets are")
    assert re.search(r"'[BC]\[\d\]' stays open by 0\.\d+ m; .* 'coupler' 0\.0", found.reason)
    assert found.gap < 1e-12
    every = mb.inverse_kinematics(system, {"coupler": goal}, q)  # of which trees have too few
    assert not every.converged
    assert every.gap < 1e-12
    assert "'coupler'" in every.reason


def test_loops_that_cannot_be_closed_at_all_are_named(linkage):
    """Two joints of one freedom locked against each other."""
    q = linkage.reference_configuration()
    q[linkage.position_slice("B")] += 1.0
    pose = linkage.pose("crank", q)
    found = mb.inverse_kinematics(linkage, {"crank": pose}, q, locked=["A", "B"])
    assert found.reason.startswith(
        "open loops: they cannot be closed with 'A', 'B' where they are, 'C"
    )
    assert found.gap > 0.05
    assert not found.converged


def test_limits_and_locks_of_legs_hold(platform):
    """The nearest pose with a leg of fixed length, by another minimiser of another formula."""
    goal = platform_poses(1, seed=9)[0]
    locked = mb.inverse_kinematics(platform, {"platform": goal}, locked=["leg1"])
    assert locked.reason.startswith("unreachable")
    assert locked.gap < 1e-12
    assert changes_of_legs(platform, locked.q)[0] == 0.0

    def change(x):
        return stewart_platform.leg_coordinates(goal @ SE3.exp(x))[0, 2]

    best = minimize(
        lambda x: 0.5 * x @ x, np.full(6, 0.01), jac=lambda x: x, method="SLSQP",
        constraints={"type": "eq", "fun": change}, options={"ftol": 1e-15},
    )  # fmt: skip
    assert np.isclose(0.5 * locked.errors["platform"] @ locked.errors["platform"], best.fun, 1e-7)

    bound = 0.5 * change(np.zeros(6))
    limits = {"leg1": (-abs(bound), abs(bound))}
    limited = mb.inverse_kinematics(platform, {"platform": goal}, limits=limits)
    assert limited.reason == "joint limits: leg1"
    assert limited.active_limits == ("leg1",)
    assert limited.gap < 1e-12
    assert changes_of_legs(platform, limited.q)[0] == bound


def test_a_preferred_posture_acts_where_the_target_leaves_a_choice(platform):
    """A position alone leaves the orientation: legs near to those at the start."""
    goal = HOME @ translation((0.1, -0.05, 0.08))
    point = mb.PoseTarget(goal, rows="linear")
    start = mb.inverse_kinematics(platform, {"platform": platform_poses(1, seed=2)[0]}).q

    def gradient(q):
        g = np.zeros(platform.nv)
        for leg in LEGS:
            g[platform.velocity_slice(leg)] = q[platform.position_slice(leg)]
        return g

    found = mb.inverse_kinematics(platform, {"platform": point}, start, preferred=gradient)
    assert found.converged
    assert found.preference_left < 1e-6
    assert found.gap < 1e-12

    def lengths(x):
        turned = goal.copy()
        turned[:3, :3] = SO3.exp(x)
        return np.sum(stewart_platform.leg_coordinates(turned)[:, 2] ** 2)

    best = minimize(lengths, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    assert np.isclose(np.sum(changes_of_legs(platform, found.q) ** 2), best.fun, rtol=1e-8)


def test_restarts_find_what_one_start_does_not():
    """The elbows of a five-bar at the other side of a limit."""
    system = five_bar.build().assemble()
    q = system.reference_configuration()
    body = system.body_names[1]
    goal = system.pose(body, system.close_loops(q + 0.3 * np.arange(1.0, len(q) + 1.0)))
    found = mb.inverse_kinematics(system, {body: goal}, q, restarts=10)
    assert found.reason == "reached"
    assert found.gap < 1e-12


def fingers(*, held, ratio=1.0):
    """Two fingers on one slide of a hand; the second is moved by the first if it is held."""
    mech = mb.Mechanism("gripper")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.01)
    for name, axis in (("left", (1, 0, 0)), ("right", (-1, 0, 0))):
        finger = mb.PrismaticJoint(name, axis=axis)
        mech.add_joint(finger, mech.world, mech.add_body(mb.Body(f"{name} finger", ball)))
    if held:
        mech.add_constraint(mb.PolynomialCoupling("alike", "left", "right", (0.0, ratio)))
    return mech


@pytest.mark.parametrize("coordinates", [RELATIVE, mb.AbsoluteCoordinates()])
def test_coupled_joints_move_together(coordinates):
    """The target of one takes the other along; the length of v counts both."""
    system = fingers(held=True, ratio=2.0).assemble(coordinates)
    q = system.reference_configuration()
    goal = mb.PoseTarget(translation((0.02, 0, 0)), rows="linear")
    found = mb.inverse_kinematics(system, {"left finger": goal}, q)
    assert found.reason == "reached"
    assert np.isclose(system.pose("right finger", found.q)[0, 3], -0.04, atol=1e-9)
    moved = mb.manipulability(system, "left finger", found.q, "linear", actuated=["right"])
    assert np.isclose(moved.singular_values[0], 0.5)
    assert moved.rank == 1


def driven(coordinates=RELATIVE):
    """An arm of which the first joint follows a function."""
    mech = mb.Mechanism("arm")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    base, hand = mech.add_body(mb.Body("base", ball)), mech.add_body(mb.Body("hand", ball))
    turn = mb.RevoluteJoint("turn").prescribe(lambda t: 0.5 * t)
    mech.add_joint(turn, mech.world, base)
    mech.add_joint(mb.PrismaticJoint("reach", axis=(1, 0, 0)), base, hand)
    return mech.assemble(coordinates)


@pytest.mark.parametrize("coordinates", [RELATIVE, mb.AbsoluteCoordinates()])
def test_prescribed_joints_have_the_positions_of_their_motion(coordinates):
    """At the time that is given; locked ones have those of the start."""
    system = driven(coordinates)
    q = system.reference_configuration()
    target = mb.PoseTarget(translation((0.3, 0.0, 0.0)), rows="linear")
    later = mb.inverse_kinematics(system, {"hand": target}, q, t=2.0)
    assert not later.converged
    assert later.gap < 1e-12
    turn = later.q[system.position_slice("turn")]
    assert turn == 1.0
    there = system.pose("hand", later.q)[:2, 3]
    assert np.allclose(there, 0.3 * np.cos(1.0) * np.array([np.cos(1.0), np.sin(1.0)]), atol=1e-8)
    now = mb.inverse_kinematics(system, {"hand": target}, q)
    assert now.reason == "reached"
    found = mb.manipulability(system, "hand", later.q, "linear", t=2.0)
    assert found.rank == 1
    assert np.allclose(np.abs(found.directions[0]), [np.cos(1.0), np.sin(1.0), 0.0])
    if coordinates is RELATIVE:
        found = mb.inverse_kinematics(system, {"hand": target}, [0.0, 0.1], locked=["turn"], t=2.0)
        np.testing.assert_allclose(found.q, [0.0, 0.3], atol=1e-8)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "coordinates", [RELATIVE, mb.AbsoluteCoordinates(joints=LEGS)], ids=["relative", "absolute"]
)
def test_a_parallel_robot_has_the_ellipsoid_of_its_jacobian(coordinates):
    """Of the legs' lengths by the pose, in closed form: velocities its inverse, forces its own."""
    system = stewart_platform.build().assemble(coordinates)
    q = system.close_loops()
    length = 0.5
    found = mb.manipulability(system, "platform", q, length=length, actuated=LEGS)
    rates = stewart_lengths(np.r_[0.0, 0.0, stewart_platform.HEIGHT, np.zeros(3)])
    scaled = rates[:, [3, 4, 5, 0, 1, 2]] / np.repeat([length, 1.0], 3)  # by (length w, u)
    exact = np.linalg.svd(scaled, compute_uv=False)
    np.testing.assert_allclose(found.singular_values, 1.0 / exact[::-1], rtol=1e-9)
    assert found.uncontrolled_in_words == ()
    assert found.singular_in_words == ()
    entries = [system.velocity_slice(leg).start for leg in LEGS]
    made = found.velocity_directions[:, entries]
    np.testing.assert_allclose(made @ made.T, np.eye(6), atol=1e-9)
    motion = found.directions * found.singular_values[:, None]
    np.testing.assert_allclose(motion @ scaled.T, made, atol=1e-9)
    assert np.abs(system.constraint_jacobian(q) @ found.velocity_directions.T).max() < 1e-9

    five = mb.manipulability(system, "platform", q, length=length, actuated=LEGS[:5])
    assert np.isinf(five.measure)
    assert np.isinf(five.condition)
    assert np.isinf(five.singular_values[0])
    (loose,) = five.uncontrolled_directions
    at_legs = rates @ loose[[3, 4, 5, 0, 1, 2]]
    assert np.abs(at_legs[:5]).max() < 1e-9 < abs(at_legs[5])
    held = mb.manipulability(system, "platform", q, length=length, locked=LEGS[:2])
    assert held.rank == 4
    assert len(held.singular_in_words) == 2


def test_a_dead_centre_leaves_the_crank_uncontrolled():
    """Two links in line with the rocker as the actuated one: the crank moves without it."""
    linkage = four_bar.build().assemble()
    crank, coupler, rocker = four_bar.CRANK, four_bar.COUPLER, four_bar.ROCKER
    reach, ground = crank + coupler, four_bar.GROUND  # of a triangle with the rocker
    angle = np.arccos((reach**2 + ground**2 - rocker**2) / (2.0 * reach * ground))
    q = linkage.reference_configuration()
    q[linkage.position_slice("A")] = angle - four_bar.START
    q = linkage.close_loops(q, fixed=["A"])
    planar = {"rows": "linear", "directions": np.eye(3)[:2]}
    found = mb.manipulability(linkage, "crank", q, actuated=["D"], tolerance=1e-6, **planar)
    assert np.isinf(found.measure)
    assert len(found.uncontrolled_in_words) == 1
    assert mb.manipulability(linkage, "rocker", q, actuated=["A"], **planar).rank == 0
    q[linkage.position_slice("B")] += 0.1
    with pytest.raises(mb.ConstraintError, match=r"manipulability: q leaves loops open: 'C.* by"):
        mb.manipulability(linkage, "crank", q, **planar)


def test_a_prescribed_pose_brings_the_platform_where_it_shall_be():
    """It is a target that close_loops reaches, legs and all."""
    mech = stewart()
    pose = np.array(mech.bodies["platform"].pose)
    target = pose @ SE3.exp([0.05, -0.1, 0.2, 0.03, 0.02, 0.04])
    mech.add_constraint(mb.PrescribedPose("target", "platform", lambda t: target + 0.0 * t))
    system = mech.assemble()
    q = system.close_loops(system.reference_configuration())
    found = system.poses(q)[system.body_index("platform")]
    np.testing.assert_allclose(found, target, atol=1e-10)
    assert np.abs(system.constraint_residual(q)).max() < 1e-10


def test_rates_from_twists_that_fit_are_exact_in_closed_systems_too(linkage):
    """They move nothing: each joint's rate is read from the twists beside it."""
    q = linkage.reference_configuration()
    v = linkage.consistent_velocity({"A": 0.7}, q)
    np.testing.assert_allclose(
        mb.rates_from_twists(linkage, q, linkage.twists(q, v)), v, atol=1e-12
    )


def test_open_arms_go_on_as_before():
    """No constraint, no gap."""
    arm = planar_arm(1.0, 1.0)
    q = np.array([0.2, 0.9])
    body = arm.body_names[-1]
    found = mb.inverse_kinematics(arm, {body: arm.poses(q)[-1]}, [0.1, 0.5])
    assert found.reason == "reached"
    assert found.gap == 0.0
