"""Linkages with one freedom against formulas: planar four-bar, parallelogram, Cardan shafts."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import double_cardan, four_bar, parallelogram
from mbkit.representations import REPRESENTATIONS
from tests.closed_loops.errors import planar_twin
from tests.closed_loops.mechanisms import BY_NAME
from tests.every_representation import each_representation, in_turn
from tests.trees import random_pose

#: That rows are redundant is known here.
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("cut", "representation"), in_turn({each: each for each in "ABCD"}, REPRESENTATIONS)
)
def test_a_four_bar_in_space_moves_like_a_planar_one(cut, representation):
    """Four revolute joints, anywhere in space; three of five rows are redundant."""
    place = random_pose(np.random.default_rng(7), 1.0)
    coordinates = mb.RelativeCoordinates(representation=representation, loop_joints=[cut])
    system = four_bar.build(place).assemble(coordinates)
    v = four_bar.initial_velocity(system)
    run = mb.simulate(system, (0.0, 2.0), 1.25e-4, v=v, save_every=800, progress=False)
    planar = planar_twin()
    crank, _ = planar.crank_motion(four_bar.START, four_bar.RATE, run.t)
    assert np.ptp(crank) > 4 * np.pi
    expected = {
        "crank": crank,
        "coupler": planar.coupler_angle(crank),
        "rocker": planar.rocker_angle(crank),
    }
    for name, angles in expected.items():
        poses = np.linalg.inv(place) @ system.poses(run.q)[:, system.body_index(name)]
        along = np.exp(1j * angles)
        assert np.abs(poses[:, 0, 0] + 1j * poses[:, 1, 0] - along).max() < 1e-10
        assert np.abs(poses[:, 2, :] - (0, 0, 1, 0)).max() < 1e-10


def test_joint_angles_of_the_four_bar_are_those_of_freudenstein():
    """At all times, given the crank's, whatever the error of the integrator is."""
    system = four_bar.build().assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    v = four_bar.initial_velocity(system)
    run = mb.simulate(system, (0.0, 2.0), 1e-3, v=v, progress=False)
    crank, coupler, rocker = (run.q[:, system.position_slice(name)][:, 0] for name in "ABD")
    planar = planar_twin()
    at, start = four_bar.START + crank, four_bar.START
    for found, angle in (
        (coupler + crank, planar.coupler_angle),
        (rocker, planar.rocker_angle),
    ):
        assert np.abs(np.exp(1j * (found - angle(at) + angle(start))) - 1).max() < 1e-10


@pytest.mark.long
def test_the_crank_may_push_through_both_change_points():
    """Of the parallelogram, two and a half times around; each passage is within half a step."""
    system = parallelogram.build().assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    run = mb.simulate(system, (0.0, 4.5), 1e-3, save_every=10, progress=False)
    turn = parallelogram.exact_turn(run.t)
    assert turn[-1] > 5 * np.pi
    for name, sign in {"A": 1, "B": -1, "C": 1}.items():
        found = run.q[:, system.position_slice(name)][:, 0]
        assert np.abs(found - sign * turn).max() < 1e-9


def test_a_prescribed_crank_goes_through_the_change_points():
    """Of the parallelogram, with an angle that is a function of time; the others must follow."""
    described = parallelogram.build()
    mech = mb.Mechanism("driven parallelogram", gravity=(0, 0, 0))
    for body in described.bodies.values():
        mech.add_body(body)
    for name, edge in described.joints.items():
        joint = edge.joint.prescribe(lambda t: 3.0 * t + 0.5 * t * t) if name == "A" else edge.joint
        frames = edge.S_pred, edge.S_succ
        mech.add_joint(joint, edge.predecessor, edge.successor, frames=frames)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    v = np.array([3.0, -3.0, 3.0])
    run = mb.simulate(system, (0.0, 2.0), 4e-3, v=v, progress=False)
    turn = 3.0 * run.t + 0.5 * run.t**2
    assert turn[-1] > 2 * np.pi
    assert np.abs(run.q - turn[:, None] * (1, -1, 1)).max() < 1e-11
    inertia = parallelogram.TORQUE / (2.0 * parallelogram.exact_turn(1.0))  # turn = M t^2 / 2 J
    efforts = system.driving_efforts(run.q[::100], run.v[::100], t=run.t[::100])
    assert np.abs(efforts - inertia * np.array([1.0, 0.0, 0.0])).max() < 1e-10


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")  # it starts there
@each_representation
def test_the_crank_may_start_at_a_change_point(representation):
    """All rods in one line: the velocity says how it goes on, and costs of the order 4 it leaves 2.

    The linear constraints say nothing there of how the follower accelerates.
    """
    coordinates = mb.RelativeCoordinates(representation=representation, loop_joints=["D"])
    system = parallelogram.build().assemble(coordinates)
    q = np.array([1.0, -1.0, 1.0]) * parallelogram.START
    v = np.array([2.0, -2.0, 2.0])
    errors = []
    for h in (1e-3, 2.5e-4):
        run = mb.simulate(system, (0.0, 0.5), h, q=q, v=v, progress=False)
        turn = parallelogram.START + 2.0 * run.t + parallelogram.exact_turn(run.t)
        errors.append(np.abs(run.q - turn[:, None] * (1, -1, 1)).max())
    assert errors[0] < 1e-5
    assert np.log(errors[0] / errors[1]) / np.log(4.0) > 1.9


def test_double_cardan_shafts_in_parallel_turn_as_the_formulas_say():
    """Both inclined shafts, the output, and the time at which the input has turned so far."""
    case = BY_NAME["double Cardan"]
    system = case.system()
    run = case.run(system, 2.0, 5e-4, save_every=100)
    at = {name: run.q[:, system.position_slice(name)][:, 0] for name in ("drive", "driven")}
    assert np.abs(at["driven"] - at["drive"]).max() < 1e-10
    times = [double_cardan.time_of(a) for a in at["drive"]]
    assert np.abs(times - run.t).max() < 1e-10
    bodies = double_cardan.build().bodies
    for shaft in ("slim", "hollow"):
        poses = system.poses(run.q)[:, system.body_index(shaft)]
        assert np.abs(poses[:, :3, 3] - bodies[shaft].pose[:3, 3]).max() < 1e-10
        R = bodies[shaft].pose[:3, :3].T @ poses[:, :3, :3]
        angles = np.array([double_cardan.shaft_angle(shaft, a) for a in at["drive"]])
        assert np.abs(R[:, 0, 0] + 1j * R[:, 1, 0] - np.exp(1j * angles)).max() < 1e-10
