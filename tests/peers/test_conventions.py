"""Conventions of Pinocchio and MuJoCo, as mbkit describes them, are those of these programs."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import mbkit as mb
from mbkit.conventions import MUJOCO, PINOCCHIO
from tests.conventions.two_bodies import (
    ARM,
    AXIS,
    BASE,
    ORIGIN,
    VDOT,
    WRENCH,
    Q,
    V,
    seat,
    two_bodies,
)

pytestmark = pytest.mark.peers

FRAMES = [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED]
frames = pytest.mark.parametrize("frame", FRAMES, ids=str)
HYBRID = mb.Hybrid()


def close(found, expected):
    return np.abs(np.asarray(found) - np.asarray(expected)).max() <= 1e-12


@pytest.fixture(scope="module")
def case():
    return two_bodies()


# ---------------------------------------------------------------------------------- Pinocchio


def pin_inertia(inertia):
    return pin.Inertia(inertia.mass, np.array(inertia.com), np.array(inertia.moment_about_com))


@pytest.fixture(scope="module")
def pinocchio(case):
    """Return model, data in the state of the case, and the arm's joint."""
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(root, pin_inertia(BASE), pin.SE3.Identity())
    hinge = pin.JointModelRevoluteUnaligned(np.array(AXIS))
    arm = model.addJoint(root, hinge, pin.SE3(seat()), "hinge")
    model.appendBodyToJoint(arm, pin_inertia(ARM), pin.SE3.Identity())
    frame = model.addFrame(pin.Frame("arm", arm, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    free = PINOCCHIO.free_joint
    q = np.append(free.positions_to(Q[:7]), Q[7])
    v = np.append(free.velocities_to(Q[:7], V[:6]), V[6])
    a = np.append(free.accelerations_to(Q[:7], V[:6], VDOT[:6]), VDOT[6])
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    return model, data, frame, (q, v, a)


def test_pinocchio_pose(case, pinocchio):
    """The free joint's positions are position, then quaternion with the scalar last."""
    _, data, frame, _ = pinocchio
    assert close(data.oMf[frame].homogeneous, case.C)


@frames
def test_pinocchio_twist_and_jacobian(case, pinocchio, frame):
    model, data, arm, _ = pinocchio
    expected = pin.getFrameVelocity(model, data, arm, frame).vector
    assert close(PINOCCHIO.twist_to(case.twist, case.C, case.b, frame), expected)
    assert close(PINOCCHIO.twist_from(expected, case.C, case.b, str(frame)), case.twist)
    J = pin.getFrameJacobian(model, data, arm, frame) @ case.velocity_map(PINOCCHIO)
    assert close(PINOCCHIO.jacobian_to(case.jacobian, case.C, case.b, frame), J)


@frames
@pytest.mark.parametrize("kind", ["spatial", "classical"])
def test_pinocchio_acceleration(case, pinocchio, frame, kind):
    model, data, arm, _ = pinocchio
    get = {
        "spatial": pin.getFrameAcceleration,
        "classical": pin.getFrameClassicalAcceleration,
    }[kind]
    expected = get(model, data, arm, frame).vector
    found = PINOCCHIO.acceleration_to(
        case.acceleration, case.twist, case.C, case.b, frame, kind=kind
    )
    assert close(found, expected)
    twist = pin.getFrameVelocity(model, data, arm, frame).vector
    back = PINOCCHIO.acceleration_from(expected, twist, case.C, case.b, frame, kind=kind)
    assert close(back, case.acceleration)


def test_pinocchio_spatial_acceleration_is_no_hybrid_rate(case, pinocchio):
    """LOCAL_WORLD_ALIGNED: the classical acceleration is the rate of the twist."""
    model, data, arm, _ = pinocchio
    rate = mb.convert_acceleration(case.acceleration, case.twist, case.C, case.b, HYBRID)
    frame = pin.LOCAL_WORLD_ALIGNED
    classical = pin.getFrameClassicalAcceleration(model, data, arm, frame)
    spatial = pin.getFrameAcceleration(model, data, arm, frame)
    assert close(np.concatenate([classical.angular, classical.linear]), rate)
    assert np.abs(spatial.linear - rate[3:]).max() > 0.1


def test_pinocchio_dynamics(case, pinocchio):
    """Generalized forces, and a wrench on the arm, force first."""
    model, data, _, (q, v, a) = pinocchio
    G = case.velocity_map(PINOCCHIO)
    W = mb.convert_wrench(WRENCH, case.C, HYBRID, case.b)
    local = PINOCCHIO.wrench_to(WRENCH, case.C, HYBRID, "LOCAL")
    force = pin.Force(local)
    external = pin.StdVec_Force([pin.Force.Zero(), pin.Force.Zero(), force])
    tau = pin.rnea(model, data, q, v, a, external)
    wrenches = np.array([np.zeros(6), np.zeros(6), W])
    assert close(case.system.inverse_dynamics(Q, V, VDOT, wrenches), G.T @ tau)
    ours = PINOCCHIO.free_joint.forces_from(Q[:7], tau[:6])
    assert close(case.system.inverse_dynamics(Q, V, VDOT, wrenches)[:6], ours)
    world = data.oMi[2].act(force).vector
    assert close(PINOCCHIO.wrench_to(WRENCH, case.C, HYBRID, "WORLD"), world)
    assert close(PINOCCHIO.wrench_from(world, case.C, HYBRID, "WORLD"), WRENCH)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    assert close(case.system.mass_matrix(Q), G.T @ M @ G)


def test_pinocchio_inertia():
    assert close(PINOCCHIO.inertia_to(ARM), pin_inertia(ARM).matrix())
    assert close(PINOCCHIO.inertia_from(pin_inertia(ARM).matrix()).com, ARM.com)


# ------------------------------------------------------------------------------------- MuJoCo


def text(numbers):
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def inertial(inertia):
    I = inertia.moment_about_com  # noqa: E741
    full = text([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    mass = repr(inertia.mass)
    return f'<inertial pos="{text(inertia.com)}" mass="{mass}" fullinertia="{full}"/>'


GRAVITY = np.array([0.1, -0.2, -9.81])


@pytest.fixture(scope="module")
def muj(case):
    """Return model and data in the state of the case, with its accelerations."""
    quaternion = mb.lie.UnitQuaternion.from_rotation(seat()[:3, :3])
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><compiler angle="radian" inertiafromgeom="false"/>
    <option gravity="{text(GRAVITY)}"><flag contact="disable"/></option>
    <worldbody><body name="base"><freejoint/>{inertial(BASE)}
    <body name="arm" pos="{text(ORIGIN)}" quat="{text(quaternion)}">
    <joint type="hinge" axis="{text(AXIS)}"/>{inertial(ARM)}</body></body></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    free = MUJOCO.free_joint
    data.qpos[:] = np.append(free.positions_to(Q[:7]), Q[7])
    data.qvel[:] = np.append(free.velocities_to(Q[:7], V[:6]), V[6])
    mujoco.mj_forward(model, data)
    data.qacc[:] = np.append(free.accelerations_to(Q[:7], V[:6], VDOT[:6]), VDOT[6])
    mujoco.mj_rnePostConstraint(model, data)
    return model, data, model.body("arm").id


def test_mujoco_pose(case, muj):
    _, data, arm = muj
    assert close(data.xpos[arm], case.C[:3, 3])
    assert close(data.xmat[arm].reshape(3, 3), case.C[:3, :3])


@pytest.mark.parametrize(("name", "local"), [("object", 0), ("object_local", 1)])
def test_mujoco_object_velocity_and_acceleration(case, muj, name, local):
    """Angular first, at the body's frame; accelerations hold minus gravity."""
    model, data, arm = muj
    kind = mujoco.mjtObj.mjOBJ_XBODY
    twist, acceleration = np.empty((2, 6))
    mujoco.mj_objectVelocity(model, data, kind, arm, twist, local)
    mujoco.mj_objectAcceleration(model, data, kind, arm, acceleration, local)
    assert close(MUJOCO.twist_to(case.twist, case.C, case.b, name), twist)
    found = MUJOCO.acceleration_to(
        case.acceleration, case.twist, case.C, case.b, name, gravity=GRAVITY
    )
    assert close(found, acceleration)
    back = MUJOCO.acceleration_from(acceleration, twist, case.C, case.b, name, gravity=GRAVITY)
    assert close(back, case.acceleration)


def test_mujoco_body_object_is_the_inertia_frame(case, muj):
    """mjOBJ_BODY stands at the centre of mass, other than mjOBJ_XBODY."""
    model, data, arm = muj
    twist = np.empty(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, arm, twist, 0)
    at_com = mb.spatial.translation(ARM.com)
    expected = mb.convert_twist(case.twist, case.C, case.b, HYBRID, body_frame=at_com)
    assert close(twist, expected)


def test_mujoco_com_based(case, muj):
    """cvel and cacc refer to the centre of mass of the whole kinematic tree."""
    model, data, arm = muj
    centre = data.subtree_com[model.body_rootid[arm]]
    twist = MUJOCO.twist_to(case.twist, case.C, case.b, "com", centre=centre)
    assert close(twist, data.cvel[arm])
    acceleration = MUJOCO.acceleration_to(
        case.acceleration, case.twist, case.C, case.b, "com", gravity=GRAVITY, centre=centre
    )
    assert close(acceleration, data.cacc[arm])
    back = MUJOCO.twist_from(data.cvel[arm], case.C, HYBRID, "com", centre=centre)
    assert close(back, mb.convert_twist(case.twist, case.C, case.b, HYBRID))


def test_mujoco_joint_wrench(case, muj):
    """cfrc_int is the wrench that bears the arm, moment first, about the same centre."""
    model, data, arm = muj
    centre = data.subtree_com[model.body_rootid[arm]]
    own = mb.newton_euler(ARM, case.C, case.twist, case.acceleration, case.b)
    weight = np.concatenate([np.cross(ARM.com, case.C[:3, :3].T @ GRAVITY), [0.0] * 3]) * ARM.mass
    weight[3:] = ARM.mass * case.C[:3, :3].T @ GRAVITY
    found = MUJOCO.wrench_to(own - weight, case.C, case.b, "com", centre=centre)
    assert close(found, data.cfrc_int[arm])


def test_mujoco_jacobian(case, muj):
    model, data, arm = muj
    jacp, jacr = np.empty((2, 3, 7))
    mujoco.mj_jacBody(model, data, jacp, jacr, arm)
    J = np.vstack([jacr, jacp]) @ case.velocity_map(MUJOCO)
    assert close(MUJOCO.jacobian_to(case.jacobian, case.C, case.b, "object"), J)


def test_mujoco_dynamics(case, muj):
    """qfrc of the free joint, the mass matrix, and a wrench in xfrc_applied at the arm's centre."""
    model, data, arm = muj
    other = mujoco.MjData(model)
    other.qpos[:], other.qvel[:], other.qacc[:] = data.qpos, data.qvel, data.qacc
    mujoco.mj_inverse(model, other)
    G = case.velocity_map(MUJOCO)
    system = case.system
    tau = system.inverse_dynamics(Q, V, VDOT) - _weight_difference(case)
    assert close(G.T @ other.qfrc_inverse, tau)
    assert close(MUJOCO.free_joint.forces_from(Q[:7], other.qfrc_inverse[:6]), tau[:6])
    M = np.empty((7, 7))
    mujoco.mj_fullM(model, data, M)
    assert close(system.mass_matrix(Q), G.T @ M @ G)
    at_rest = np.append(MUJOCO.free_joint.accelerations_to(Q[:7], V[:6], np.zeros(6)), 0.0)
    bias = system.bias_force(Q, V) - _weight_difference(case)
    assert close(G.T @ (data.qfrc_bias + M @ at_rest), bias)
    # a wrench, by the difference of accelerations that it makes
    mujoco.mj_forward(model, other)
    without = other.qacc.copy()
    other.xfrc_applied[arm] = MUJOCO.wrench_to(
        WRENCH, case.C, HYBRID, "xfrc_applied", centre=data.xipos[arm]
    )
    mujoco.mj_forward(model, other)
    mujoco.mj_rnePostConstraint(model, other)
    centre = other.subtree_com[model.body_rootid[arm]]
    external = MUJOCO.wrench_to(WRENCH, case.C, HYBRID, "com", centre=centre)
    assert close(other.cfrc_ext[arm], external)
    effect = M @ (other.qacc - without)
    J = mb.convert_jacobian(case.jacobian, case.C, case.b, HYBRID)
    assert np.abs(G.T @ effect - J.T @ WRENCH).max() <= 1e-10


def _weight_difference(case):
    """Return what the other gravity of the MuJoCo model changes in the generalized forces."""
    change = GRAVITY - case.system.gravity
    total = np.zeros(7)
    poses = case.system.poses(Q)
    for name, inertia, C in (("base", BASE, poses[1]), ("arm", ARM, poses[2])):
        J = mb.convert_jacobian(
            case.system.jacobian(name, Q), C, case.b, HYBRID,
            body_frame=mb.spatial.translation(inertia.com),
        )  # fmt: skip
        total += J[3:].T @ (inertia.mass * change)
    return total


def test_mujoco_gravity_is_asked_for(case):
    """Left out it would be wrong in silence."""
    with pytest.raises(mb.UsageError, match="gravity must be given"):
        MUJOCO.acceleration_to(case.acceleration, case.twist, case.C)
