"""Real robots: every URDF of example-robot-data is read, and Pinocchio's own reading agrees."""

from __future__ import annotations

import itertools
import pathlib
import warnings

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.io.urdf.writer import urdf_text
from tests.every_representation import REPRESENTATIONS
from tests.peers.robots import ROOT_JOINT, PinocchioRobot, robot_files
from tests.trees import random_state

pytestmark = pytest.mark.peers

FILES = robot_files()

GRIPPER = pathlib.Path(__file__).parents[1] / "data" / "gripper.urdf"

#: Both programs are exact but for round-off, relative to the largest entry.
TOLERANCE = 1e-11

#: Refused by mbkit, and why. Pinocchio refuses it too.
REFUSED = {"ur/ur3": r"has 2 faults:\n.*<robot>: must have a link, got none(.|\n)*attribute name"}

#: They couple joints by <mimic>.
COUPLED = {
    "alex/alex_psyonic_hands", "baxter/baxter", "panda/panda", "panda/panda_collision", "pr2/pr2",
    "romeo/romeo", "talos_data/talos_full_v2", "talos_data/talos_full_v2_box",
    "talos_data/talos_left_arm", "talos_data/talos_reduced", "talos_data/talos_reduced_box",
    "talos_data/talos_reduced_corrected", "tiago_pro/tiago_pro",
}  # fmt: skip

#: Coupled with a joint that is not there.
UNCOUPLED = {"alex/alex_psyonic_hands": "has no joint 'index_q1'"}

#: Read, and refused when they are assembled: fingers that move and have no mass at all.
MASSLESS = {
    "romeo/romeo": "'LHand' moves bodies 'LFinger11Link', 'LFinger12Link'",
    "romeo/romeo_laas_small": "'l_gripper_joint' moves body 'l_gripper', which has no inertia",
}

#: Nothing moves: only with a floating base.
RIGID = {"hector/quadrotor_base", "iris/iris_simple"}

#: Their root link is called world, which is the inertial frame: no floating base.
WORLD_IS_ROOT = {
    "asr_twodof/TwoDofs", "ur/ur10_joint_limited_robot", "ur/ur10_robot", "ur/ur3_gripper",
    "ur/ur3_joint_limited_robot", "ur/ur3_robot", "ur/ur5_gripper", "ur/ur5_joint_limited_robot",
    "ur/ur5_robot", "xarm/xarm7", "z1/z1",
}  # fmt: skip

ROBOTS = sorted(FILES.keys() - REFUSED.keys() - MASSLESS.keys())
CASES = [
    *((robot, False) for robot in ROBOTS if robot not in RIGID),
    *((robot, True) for robot in ROBOTS if robot not in WORLD_IS_ROOT),
]


def test_all_files_are_there():
    """The lists above name files that exist; there are as many as there were."""
    assert len(FILES) == 69
    named = REFUSED.keys() | COUPLED | MASSLESS.keys() | RIGID | WORLD_IS_ROOT
    assert named <= FILES.keys()
    assert len(CASES) == 64 + 55


@pytest.mark.parametrize("robot", FILES)
def test_every_file_loads_or_is_refused_for_its_reason(robot):
    """Two files: not at all; those with coupled joints: only if they are to move on their own."""
    if robot in REFUSED:
        with pytest.raises(mb.ModelFileError, match=REFUSED[robot]):
            mb.load_urdf(FILES[robot])
        return
    urdf = mb.read_urdf(FILES[robot])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelFileWarning)  # inertias; see below
        if robot in COUPLED:
            with pytest.raises(mb.ModelFileError, match=r"couples joints by <mimic>.*\.urdf:\d+"):
                mb.load_urdf(FILES[robot], mimic="refuse")
            if robot in UNCOUPLED:
                with pytest.raises(mb.ModelFileError, match=UNCOUPLED[robot]):
                    mb.load_urdf(FILES[robot])
            else:
                coupled = mb.load_urdf(FILES[robot])
                moving = [n for n in urdf.coupled if coupled.joints[n].joint.num_velocities]
                assert len(coupled.constraints) == len(moving)
        else:
            mechanism = mb.load_urdf(FILES[robot])
            assert list(mechanism.bodies) == [
                link.name for link in urdf.links if link.name != "world"
            ]
    mechanism = urdf.mechanism(mimic="independent")
    if robot in MASSLESS:
        with pytest.raises(mb.InertiaError, match=MASSLESS[robot]):
            mechanism.assemble()
    else:
        mechanism.assemble()


@pytest.mark.parametrize("robot", sorted(WORLD_IS_ROOT))
def test_a_root_that_is_the_world_does_not_float(robot):
    with pytest.raises(mb.UsageError, match="link 'world' is the inertial frame by its name"):
        mb.load_urdf(FILES[robot], root_joint=mb.FreeJoint("root"))


def test_links_with_inertias_that_no_body_has_are_named():
    """Seventeen files have such links: they load with a warning, and the reason is in the notes."""
    found = {}
    for robot in FILES.keys() - REFUSED.keys():
        urdf = mb.read_urdf(FILES[robot])
        if urdf.unphysical:
            found[robot] = urdf.unphysical
            for link in urdf.unphysical:
                assert any(f"link '{link}', <inertial> is taken" in note for note in urdf.notes)
    assert len(found) == 17
    assert found["anymal_b_simple/anymal"] == ("base",)
    with pytest.warns(mb.ModelFileWarning, match="inertias that no body has, of 'base', are taken"):
        mb.load_urdf(FILES["anymal_b_simple/anymal"])


@pytest.mark.parametrize("robot", ROBOTS)
def test_urdf_to_toml_and_back(robot, tmp_path):
    """Equal to the last bit through a model file."""
    mechanism = mb.read_urdf(FILES[robot]).mechanism(mimic="independent")
    mb.save_model(mechanism, tmp_path / "robot.toml")
    assert mb.load_model(tmp_path / "robot.toml") == mechanism


@pytest.mark.parametrize("robot", ROBOTS)
def test_urdf_and_back(robot):
    """Equal through the URDF that is written, but for rotations, which may be off by rounding."""
    mechanism = mb.read_urdf(FILES[robot]).mechanism(mimic="independent")
    text, notes = urdf_text(mechanism)
    assert not notes
    again = mb.parse_urdf(text).mechanism()
    assert list(again.bodies) == list(mechanism.bodies)
    for name, body in mechanism.bodies.items():
        shapes = []
        for shape, other in zip(body.shapes, again.bodies[name].shapes, strict=True):
            assert np.abs(other.pose - shape.pose).max() < 1e-15
            shapes.append(attrs.evolve(other, pose=shape.pose))
        assert attrs.evolve(again.bodies[name], shapes=shapes) == body
    assert list(again.joints) == list(mechanism.joints)
    for name, edge in mechanism.joints.items():
        other = again.joints[name]
        assert np.abs(other.S_pred - edge.S_pred).max() < 1e-15
        assert np.array_equal(other.S_pred[:3, 3], edge.S_pred[:3, 3])
        assert attrs.evolve(other, S_pred=edge.S_pred) == edge


def test_pinocchio_reads_what_is_written(tmp_path):
    """Limits that are none, and joints of all kinds, are no hindrance for it."""
    mechanism = mb.read_urdf(GRIPPER).mechanism()
    mb.save_urdf(mechanism, tmp_path / "m.urdf")
    system = mechanism.assemble()
    twin = PinocchioRobot(tmp_path / "m.urdf", system, floating=False)
    q = random_state(np.random.default_rng(1), system).q
    assert_equal(system.poses(q), twin.poses(q))
    assert_equal(system.mass_matrix(q), twin.mass_matrix(q))


#: One representation in turn: that all give the same is seen on fewer mechanisms (test_pinocchio).
IN_TURN = [
    pytest.param(
        (*case, representation),
        id=f"{case[0]}-{'floating' if case[1] else 'fixed'}-{representation.name}",
    )
    for case, representation in zip(CASES, itertools.cycle(REPRESENTATIONS))
]


@pytest.fixture(scope="module", params=IN_TURN)
def case(request):
    """A robot, its twin in Pinocchio, and a state."""
    robot, floating, representation = request.param
    urdf = mb.read_urdf(FILES[robot])
    root = mb.FreeJoint(ROOT_JOINT) if floating else None
    mechanism = urdf.mechanism(root_joint=root, mimic="independent")
    system = mechanism.assemble(mb.RelativeCoordinates(representation=representation))
    twin = PinocchioRobot(FILES[robot], system, floating=floating)
    return system, twin, random_state(np.random.default_rng(69), system)


def assert_equal(found, expected, tolerance=TOLERANCE):
    """Compare to a part of the largest entry."""
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


def test_joints_are_the_same(case):
    """No joint is lost or invented, and each has the limits that Pinocchio has read."""
    system, twin, _ = case
    assert twin.model.nv == system.nv
    for name, joint in twin.joints.items():
        if joint.nq != 1:
            continue
        lower, upper = system.position_limits[system.position_slice(name)][0]
        assert lower == twin.model.lowerPositionLimit[joint.idx_q]
        assert upper == twin.model.upperPositionLimit[joint.idx_q]
        own = system.velocity_slice(name)
        assert system.velocity_limits[own] == twin.model.velocityLimit[joint.idx_v]
        assert system.effort_limits[own] == twin.model.effortLimit[joint.idx_v]


def test_poses(case):
    """The poses of all links are equal."""
    system, twin, state = case
    assert_equal(system.poses(state.q), twin.poses(state.q))


def test_jacobians(case):
    """The Jacobians of all links are equal."""
    system, twin, state = case
    found = [system.jacobian(body, state.q) for body in system.body_names]
    assert_equal(np.array(found), twin.jacobians(state.q, system.representation.name))


def test_inverse_dynamics(case):
    """The generalized forces for an acceleration are equal."""
    system, twin, state = case
    found = system.inverse_dynamics(state.q, state.v, state.vdot)
    assert_equal(found, twin.inverse_dynamics(state.q, state.v, state.vdot))


def test_mass_matrix(case):
    """The mass matrices are equal."""
    system, twin, state = case
    assert_equal(system.mass_matrix(state.q), twin.mass_matrix(state.q))


def test_coriolis_matrix(case):
    """The same factor of the velocity terms in both; it depends on no representation."""
    system, twin, state = case
    found = system.coriolis_matrix(state.q, state.v)
    # of rotors that stand still it is zero: rounding is that of the terms it is a sum of
    size = np.abs(system.mass_matrix(state.q)).max() * np.abs(state.v).max()
    difference = np.abs(found - twin.coriolis_matrix(state.q, state.v)).max()
    assert difference <= TOLERANCE * max(size, np.abs(found).max())


def test_derivatives_of_inverse_and_forward_dynamics(case):
    """Those of accelerations as far as the mass matrix lets them be known, as below.

    So they are also put into Pinocchio's derivatives of inverse dynamics at these accelerations,
    whose negatives they must give back: M d_q = -D_q, M d_v = -D_v, M d_tau = 1.
    """
    system, twin, state = case
    q, v = state.q, state.v
    found = system.inverse_dynamics_derivatives(q, v, state.vdot)
    expected = twin.inverse_dynamics_derivatives(q, v, state.vdot)
    size = np.abs(system.inverse_dynamics(q, v, state.vdot)).max()
    for each, other in zip(found, expected, strict=True):
        assert np.abs(each - other).max() <= 1e-10 * max(size, np.abs(other).max())
    M = twin.mass_matrix(q)
    grown = max(1e-10, np.finfo(float).eps * np.linalg.cond(M))
    found = system.forward_dynamics_derivatives(q, v, state.tau)
    vdot = twin.forward_dynamics(q, v, state.tau)
    given = (*(-x for x in twin.inverse_dynamics_derivatives(q, v, vdot)), np.eye(system.nv))
    expected = twin.forward_dynamics_derivatives(q, v, state.tau)
    # rotors that turn alone have derivatives of zero, by sums of terms that are not
    size, force = np.abs(vdot).max(), np.abs(state.tau).max()
    for each, other, efforts in zip(found, expected, given, strict=True):
        assert np.abs(each - other).max() <= grown * max(size, np.abs(other).max())
        terms = max(force, (np.abs(M) @ np.abs(each)).max())
        assert np.abs(M @ each - efforts).max() <= 1e-10 * terms


def test_rates_of_jacobians(case):
    """Those of all links, in the representation; zero where nothing before a link turns."""
    system, twin, state = case
    form, names = system.representation.name, system.body_names[1:]
    found = np.array([system.jacobian_rate(b, state.q, state.v) for b in names])
    expected = twin.jacobian_rates(state.q, state.v, form)[1:]
    size = np.abs(twin.jacobians(state.q, form)).max() * np.abs(state.v).max()
    assert np.abs(found - expected).max() <= TOLERANCE * max(size, np.abs(expected).max())


def test_second_derivatives_of_inverse_dynamics(case):
    """Against differences of Pinocchio's first derivatives."""
    system, twin, state = case
    given = state.q, state.v, state.vdot
    found = system.inverse_dynamics_second_derivatives(*given)
    size = np.abs(system.inverse_dynamics(*given)).max()
    for each, other in zip(found, twin.inverse_dynamics_second_derivatives(*given), strict=False):
        assert np.abs(each - other).max() <= 1e-10 * max(size, np.abs(other).max())


def test_inertial_regressor(case):
    """The columns of all links that sit on their joints; all together give inverse dynamics."""
    system, twin, state = case
    Y = system.inertial_regressor(state.q, state.v, state.vdot)
    bodies, expected = twin.regressor(state.q, state.v, state.vdot)
    assert_equal(Y.reshape((system.nv, -1, 10))[:, bodies], expected)
    tau = twin.inverse_dynamics(state.q, state.v, state.vdot)
    assert_equal(Y @ system.inertial_parameters, tau)


def test_forward_dynamics(case):
    """The accelerations are equal, as far as the mass matrix lets them be known.

    Light fingers and sensors make conditions of M up to 3e8, by which round-off may grow. So
    the accelerations are also put into Pinocchio's inverse dynamics, where they must give the
    forces back, relative to the terms that are summed up, |M| |vdot|.
    """
    system, twin, state = case
    found = system.forward_dynamics(state.q, state.v, state.tau)
    M = twin.mass_matrix(state.q)
    grown = max(TOLERANCE, np.finfo(float).eps * np.linalg.cond(M))
    assert_equal(found, twin.forward_dynamics(state.q, state.v, state.tau), grown)
    residual = twin.inverse_dynamics(state.q, state.v, found) - state.tau
    assert np.abs(residual).max() <= TOLERANCE * (np.abs(M) @ np.abs(found)).max()
