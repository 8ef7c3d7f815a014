"""Bodies on free joints described in the world: q is the pose of the body's own frame."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbkit as mb
from mbkit.io import parse_model
from mbkit.spatial import inverse
from tests.trees import random_inertia, random_pose

FREE = (
    mb.FreeJoint,
    lambda name: mb.FreeJoint(name, coordinates="first kind"),
    mb.AbsoluteJoint,
    lambda name: mb.AbsoluteJoint(name, mb.EulerAngles("zyx"), trivialised="right"),
)


def two_bodies(free, rng):
    """A body on a free joint from the world, and one on a free joint from that."""
    mech = mb.Mechanism("two")
    poses = random_pose(rng), random_pose(rng)
    for name, C, before in zip(("a", "b"), poses, ("world", "a"), strict=True):
        mech.add_body(mb.Body(name, random_inertia(rng), pose=C))
        mech.add_joint(free(f"to {name}"), before, name)
    return mech, poses


@pytest.mark.parametrize("free", FREE)
def test_the_position_is_the_pose_of_the_body_and_its_reference_is_that_of_the_body(free):
    rng = np.random.default_rng(5)
    mech, (A, B) = two_bodies(free, rng)
    system = mech.assemble()
    poses = system.poses(system.reference_configuration())
    np.testing.assert_allclose(poses[1], A, atol=1e-12)
    np.testing.assert_allclose(poses[2], B, atol=1e-12)
    C, D = random_pose(rng), random_pose(rng)
    q = np.zeros(system.nq)
    for name, pose in (("to a", C), ("to b", inverse(C) @ D)):
        q[system.position_slice(name)] = free(name).configuration_from_pose(pose)
    poses = system.poses(q)
    np.testing.assert_allclose(poses[1], C, atol=1e-12)
    np.testing.assert_allclose(poses[2], D, atol=1e-12)


def test_a_tilted_body_falls_and_turns_about_its_centre_of_mass():
    """As numpy has it: q is where the frame is, v the twist of the frame in its own axes."""
    R, p = Rotation.from_rotvec([0.4, -0.2, 0.9]).as_matrix(), np.array([1.0, -2.0, 3.0])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, p
    mech = mb.Mechanism("fall")
    com = np.array([0.1, 0.0, 0.0])
    sphere = mb.SpatialInertia.from_com(2.0, com, np.diag([0.1, 0.1, 0.1]))
    mech.add_body(mb.Body("ball", sphere, pose=pose))
    mech.add_joint(mb.FreeJoint("free"), mech.world, "ball")
    system = mech.assemble()
    q, w = system.reference_configuration(), np.array([0.3, 0.5, -0.7])
    x, y, z, one = Rotation.from_matrix(R).as_quat()
    np.testing.assert_allclose(q, [one, x, y, z, *p], atol=1e-14)
    run = mb.simulate(system, (0.0, 0.5), v=[*w, 1.0, 0.0, 0.0])
    rate = R @ (np.array([1.0, 0.0, 0.0]) + np.cross(w, com))  # of the centre of mass
    centre = p + R @ com + 0.5 * rate - np.array([0, 0, 0.5 * 9.81 * 0.25])
    turned = R @ Rotation.from_rotvec(0.5 * w).as_matrix()
    np.testing.assert_allclose(run.q[-1, 4:], centre - turned @ com, atol=1e-9)


@pytest.mark.some(2)
@pytest.mark.parametrize("free", FREE)
def test_files_keep_places_and_references(free):
    mech, _ = two_bodies(free, np.random.default_rng(6))
    again = parse_model(mech.assemble().model_text)
    assert again.joints["to b"] == mech.joints["to b"]
    assert "frames" not in mech.assemble().model_text
    moved = mech.assemble().with_parameters({"joints.to b.S_pred": random_pose(
        np.random.default_rng(7)
    )})  # fmt: skip
    other = parse_model(moved.model_text).assemble()
    np.testing.assert_allclose(
        other.reference_configuration(), moved.reference_configuration(), atol=1e-15
    )
    np.testing.assert_allclose(
        other.poses(other.reference_configuration()),
        moved.poses(moved.reference_configuration()), atol=1e-14,
    )  # fmt: skip


def test_joints_with_axes_and_given_frames_stay_as_they_are():
    pose = random_pose(np.random.default_rng(8))
    for joint, given in (
        (mb.PlanarJoint("j"), {}),
        (mb.SphericalJoint("j"), {}),
        (mb.FreeJoint("j"), {"reference": pose}),
        (mb.FreeJoint("j"), {"frames": (np.eye(4), inverse(pose))}),
    ):
        mech = mb.Mechanism("one")
        mech.add_body(mb.Body("a", mb.SpatialInertia.sphere(1.0, radius=0.1), pose=pose))
        mech.add_joint(joint, mech.world, "a", **given)
        system = mech.assemble()
        np.testing.assert_array_equal(system.reference_configuration(), joint.neutral())
        np.testing.assert_allclose(system.poses(joint.neutral())[1], pose, atol=1e-14)


def test_a_reference_that_a_joint_does_not_reach_is_refused():
    mech = mb.Mechanism("one")
    mech.add_body(mb.Body("a"))
    beside = np.eye(4)
    beside[0, 3] = 1.0
    with pytest.raises(mb.UsageError, match=r"frames\[2\] must be a pose that a RevoluteJoint"):
        mech.add_joint(
            mb.RevoluteJoint("j"), mech.world, "a", frames=(np.eye(4), np.eye(4), beside)
        )
