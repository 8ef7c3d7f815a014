"""Motion at frames on the bodies of a real robot: Pinocchio's frames, in each of its references."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import mbkit as mb
from tests.every_representation import BY_NAME
from tests.peers.pinocchio_twin import SWAP
from tests.peers.robots import FRAMES, ROOT_JOINT, PinocchioRobot, robot_files
from tests.trees import random_pose, random_state

pytestmark = pytest.mark.peers

ROBOT = "talos_data/talos_reduced"
BODY, OTHER = "gripper_left_base_link", "leg_right_4_link"
TOLERANCE = 1e-11


@pytest.fixture(scope="module")
def case():
    """The floating robot, its twin with a frame on a hand, a state, and the frame's pose."""
    path = robot_files()[ROBOT]
    urdf = mb.read_urdf(path)
    mechanism = urdf.mechanism(root_joint=mb.FreeJoint(ROOT_JOINT), mimic="independent")
    system = mechanism.assemble()
    twin = PinocchioRobot(path, system, floating=True)
    S = random_pose(np.random.default_rng(2))
    link = twin.model.frames[twin.model.getFrameId(BODY, pin.FrameType.BODY)]
    placement = link.placement * pin.SE3(S[:3, :3], S[:3, 3])
    tool = pin.Frame("tool", link.parentJoint, placement, pin.FrameType.OP_FRAME)
    index = twin.model.addFrame(tool)
    twin.data = twin.model.createData()
    return system, twin, index, random_state(np.random.default_rng(3), system), S


def close(a, b):
    return np.abs(a - b).max() <= TOLERANCE * max(1.0, np.abs(b).max())


@pytest.mark.parametrize("representation", FRAMES)
def test_jacobian_at_a_frame(case, representation):
    system, twin, index, state, S = case
    pin.computeJointJacobians(twin.model, twin.data, twin.positions(state.q))
    pin.updateFramePlacements(twin.model, twin.data)
    expected = np.zeros((6, system.nv))
    for rows, reference in zip((slice(3), slice(3, 6)), FRAMES[representation], strict=True):
        own = pin.getFrameJacobian(twin.model, twin.data, index, reference)
        expected[rows, twin.order] = own[SWAP][rows]
    found = system.jacobian(BODY, state.q, frame=S, representation=BY_NAME[representation])
    assert close(found, expected)
    assert close(system.pose(BODY, state.q, frame=S), twin.data.oMf[index].homogeneous)


def test_twists_and_accelerations_at_a_frame(case):
    """Rates of body-fixed and spatial twists are Pinocchio's, of hybrid ones its classical."""
    system, twin, index, state, S = case
    order = twin.order
    motion = twin.positions(state.q), state.v[order], state.vdot[order]
    pin.forwardKinematics(twin.model, twin.data, *motion)
    model, data = twin.model, twin.data
    for chosen, reference, rate in (
        (mb.BodyFixed(), pin.LOCAL, pin.getFrameAcceleration),
        (mb.Spatial(), pin.WORLD, pin.getFrameAcceleration),
        (mb.Hybrid(), pin.LOCAL_WORLD_ALIGNED, pin.getFrameClassicalAcceleration),
    ):
        at = {"frame": S, "representation": chosen}
        V = pin.getFrameVelocity(model, data, index, reference).vector[SWAP]
        assert close(system.twist(BODY, state.q, state.v, **at), V)
        A = rate(model, data, index, reference).vector[SWAP]
        assert close(system.acceleration(BODY, state.q, state.v, state.vdot, **at), A)


def test_relative_twist(case):
    """Difference of spatial twists, taken to the other body by Pinocchio's own action."""
    system, twin, index, state, S = case
    pin.forwardKinematics(
        twin.model, twin.data, twin.positions(state.q), state.v[twin.order]
    )  # fmt: skip
    pin.updateFramePlacements(twin.model, twin.data)
    other = twin.model.getFrameId(OTHER, pin.FrameType.BODY)
    here, there = (
        pin.getFrameVelocity(twin.model, twin.data, frame, pin.WORLD) for frame in (index, other)
    )
    expected = twin.data.oMf[other].actInv(here - there).vector[SWAP]
    found = system.twist(
        BODY, state.q, state.v, frame=S, relative_to=OTHER, representation=mb.Spatial()
    )
    assert close(found, expected)
