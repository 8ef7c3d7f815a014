"""Absolute joints: every orientation, map and side against matrices and 50 digits."""

from __future__ import annotations

import copy
import json
import pathlib
import pickle

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import LOCAL_COORDINATES
from mbkit.lie import SE3
from tests.at_each import at_each
from tests.joints.absolute_joints import (
    ABSOLUTE_JOINTS,
    LOCALS,
    MAPS,
    ORIENTATIONS,
    SEQUENCES,
    SIDES,
    SIZES,
    product,
    step,
)

each_joint = pytest.mark.parametrize("joint", ABSOLUTE_JOINTS, ids=lambda joint: joint.name)
each_local = pytest.mark.parametrize("local", LOCALS, ids=lambda local: local.name)
each_orientation = pytest.mark.parametrize("orientation", ORIENTATIONS, ids=lambda each: each.name)
each_side = pytest.mark.parametrize("side", SIDES)
each_size = at_each("size", {size: size for size in SIZES})

STORED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "lie_maps.json").read_text(encoding="utf-8")
)["points"]
each_point = at_each("point", {point["name"]: point for point in STORED})

#: Of each map its values at stored points, by what X is multiplied with, and how much it turns
#: there as a part of the angle of exp.
POSES = {
    "screw_coordinates": ("exp", 1.0),
    "extended_rodrigues": ("cay", 2.0),
    "extended_wiener_milenkovic": ("cay2_dual", 4.0),
    "dual_rodrigues": ("cay_dual", 2.0),
}
DIFFERENTIALS = {
    "screw_coordinates": "dexpinv",
    "extended_rodrigues": "dcayinv",
    "extended_wiener_milenkovic": "dcay2inv_dual",
    "dual_rodrigues": "dcayinv_dual",
}


def close(found, expected, tolerance=1e-14):
    """To a part of the largest entry."""
    expected = np.asarray(expected, dtype=float)
    scale = max(1e-300, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)


@pytest.mark.some(27)
@each_joint
def test_the_joint_keeps_its_contract(joint):
    """Whatever it claims follows from its pose; compiled and Python forms agree."""
    mb.testing.check_joint(joint).raise_if_failed()


#: One map on SO(3) x R^3 and one on SE(3): of maps a composite joint knows nothing else.
MAPS_IN_COMPOSITES = ("rodrigues_position", "extended_wiener_milenkovic")


@each_side
@pytest.mark.parametrize(
    "local",
    [
        pytest.param(
            each, id=each.name, marks=() if each.name in MAPS_IN_COMPOSITES else pytest.mark.long
        )
        for each in LOCALS
    ],
)
def test_as_a_member_of_a_composite_joint(local, side):
    """Welded to something it is the same joint, in its frame."""
    own, weld = mb.AbsoluteJoint("own", mb.RotationVector(), local, side), mb.FixedJoint("weld")
    joint = mb.CompositeJoint("j", *((own, weld) if side == "left" else (weld, own)))
    mb.testing.check_joint(joint).raise_if_failed()
    with pytest.raises(mb.MbkitError, match="at most 6"):
        mb.CompositeJoint("j", own, mb.RevoluteJoint("hinge"))


@pytest.mark.some(3)
@each_joint
@each_size
def test_steps_are_products_of_matrices(joint, size):
    """The pose is C psi(X), or psi(X) C, in the group, with psi by products and inverses alone."""
    q = joint.random(np.random.default_rng(3))
    C, X = joint.pose(q), step(size)
    psi, group = MAPS[joint.local.name](X), joint.local.group
    factors = (C, psi) if joint.trivialised == "left" else (psi, C)
    # psi itself is known to 1e-14 here: the inverse of its matrix is of that condition
    close(joint.pose(joint.retract(q, X)), product(group, *factors), 2e-14)


@each_joint
@each_size
def test_difference_is_the_inverse_of_retract(joint, size):
    """Where the map has one: less than a turn by pi of Rodrigues parameters, or by 2 pi."""
    q, X = joint.random(np.random.default_rng(4)), step(size)
    found = joint.difference(q, joint.retract(q, X))
    np.testing.assert_allclose(found, X, rtol=1e-9, atol=1e-14)


@each_local
@each_side
def test_steps_are_scaled(local, side):
    """X is a velocity times h to first order: dexp_inv at zero is the identity, exactly."""
    joint = mb.AbsoluteJoint("free", local=local, trivialised=side)
    for e in np.eye(6):
        assert joint.dexp_inv(np.zeros(6), e).tolist() == e.tolist()


@each_local
@each_side
@each_point
def test_differentials_have_all_digits(local, side, point):
    """The rates of steps at points of every angle, by numbers computed with 80 digits.

    Of maps on SO(3) x R^3 the block of the rotation is that of the map on SE(3).
    """
    on_se3 = {
        "rotation_vector_position": "screw_coordinates",
        "rodrigues_position": "dual_rodrigues",
        "wiener_milenkovic_position": "extended_wiener_milenkovic",
    }.get(local.name, local.name)
    scale = POSES[on_se3][1]
    expected = scale * np.array(point[DIFFERENTIALS[on_se3]])
    if on_se3 != local.name:
        expected[3:] = np.eye(6)[3:]
    X = scale * np.array(point["X"])
    joint = mb.AbsoluteJoint("free", local=local, trivialised=side)
    x = -X if side == "left" else X
    close(np.array([joint.dexp_inv(x, e) for e in np.eye(6)]).T, expected)


@pytest.mark.parametrize("name", POSES)
@each_point
def test_maps_have_all_digits(name, point):
    """A step from the identity leads to numbers computed with 80 digits."""
    key, scale = POSES[name]
    joint = mb.AbsoluteJoint("free", local=LOCAL_COORDINATES[name]())
    q = joint.retract(joint.neutral(), scale * np.array(point["X"]))
    close(joint.pose(q), point[key])


@each_joint
def test_velocities_are_twists_of_the_representation(joint):
    """What `local.representation` says is the twist that v is: twist_map(C) S = 1."""
    representation = joint.local.representation(joint.trivialised)
    q = joint.random(np.random.default_rng(5))
    twists = representation.twist_map(joint.pose(q)) @ joint.motion_subspace(q)
    np.testing.assert_allclose(twists, np.eye(6), atol=2e-15 * 8)


def test_representations_by_group_and_side():
    """Body-fixed and spatial on SE(3), mixed and hybrid on SO(3) x R^3."""
    found = {
        local.name: tuple(local.representation(side).name for side in SIDES) for local in LOCALS
    }
    on_se3, apart = ("body_fixed", "spatial"), ("mixed", "hybrid")
    assert found == {
        "screw_coordinates": on_se3,
        "rotation_vector_position": apart,
        "rodrigues_position": apart,
        "extended_rodrigues": on_se3,
        "wiener_milenkovic_position": apart,
        "extended_wiener_milenkovic": on_se3,
        "dual_rodrigues": on_se3,
    }
    assert all(
        (local.group is SE3) == (local.representation().name == "body_fixed") for local in LOCALS
    )


def test_the_default_is_the_free_joint():
    """Positions, steps and velocities are those of FreeJoint in group elements."""
    joint, free = mb.AbsoluteJoint("j"), mb.FreeJoint("j")
    q, x, v = free.random(np.random.default_rng(6)), step(1.1), step(0.8, seed=8)
    np.testing.assert_allclose(joint.retract(q, x), free.retract(q, x), atol=1e-15)
    np.testing.assert_allclose(joint.dexp_inv(x, v), free.dexp_inv(x, v), atol=1e-14)
    np.testing.assert_allclose(joint.pose(q), free.pose(q), atol=0)


@pytest.mark.parametrize("name", ["rodrigues_position", "dual_rodrigues", "extended_rodrigues"])
def test_cayley_maps_end_at_half_a_turn(name):
    """No step reaches it, and the difference of two poses half a turn apart is not finite."""
    joint = mb.AbsoluteJoint("free", local=LOCAL_COORDINATES[name]())
    q = joint.retract(joint.neutral(), 1e8 * np.eye(6)[2])
    assert joint.pose(q)[0, 0] == pytest.approx(-1.0)
    turned = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert not np.isfinite(joint.difference(joint.neutral(), turned)).all()


@pytest.mark.parametrize("name", ["wiener_milenkovic_position", "extended_wiener_milenkovic"])
def test_second_order_maps_go_beyond_half_a_turn(name):
    """A step by 3 pi / 2 is one; its difference is the shadow, back by pi / 2."""
    joint = mb.AbsoluteJoint("free", local=LOCAL_COORDINATES[name]())
    axis = np.array([1.0, 2.0, -2.0, 0.0, 0.0, 0.0]) / 3.0
    q = joint.retract(joint.neutral(), 4.0 * np.tan(3.0 * np.pi / 8.0) * axis)
    back = joint.retract(joint.neutral(), -4.0 * np.tan(np.pi / 8.0) * axis)
    np.testing.assert_allclose(joint.pose(q), joint.pose(back), atol=1e-15)
    found = joint.difference(joint.neutral(), q)
    np.testing.assert_allclose(found, -4.0 * np.tan(np.pi / 8.0) * axis, atol=1e-14)


@pytest.mark.long
@each_side
@each_orientation
@each_local
def test_turning_on_and_on(orientation, local, side):
    """Ten thousand steps through every singularity of positions: poses go on as matrices do.

    The rotation stays one to rounding, and positions stay in their range.
    """
    joint = mb.AbsoluteJoint("free", orientation, local, side)
    X = np.array([0.02, -0.05, 0.03, 0.01, 0.02, -0.01])
    psi = MAPS[local.name](X)
    q, C = joint.neutral(), np.eye(4)
    worst = 0.0
    for k in range(400):
        q = joint.retract(q, X)
        C = product(local.group, *((C, psi) if side == "left" else (psi, C)))
        T = joint.pose(q)
        worst = max(worst, np.abs(T[:3, :3].T @ T[:3, :3] - np.eye(3)).max())
        np.testing.assert_allclose(T, C, atol=2e-14 * (k + 1))
    assert worst < 3e-15
    if orientation.name == "unit_quaternion":
        assert abs(np.linalg.norm(q[:4]) - 1.0) < 3e-16
    else:
        assert np.abs(q[:3]).max() <= np.pi + 1e-15


@each_local
def test_a_rotation_vector_passes_a_half_turn(local):
    """It jumps to its opposite; the pose moves by the step."""
    joint = mb.AbsoluteJoint("free", mb.RotationVector(), local)
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q = np.concatenate([(np.pi - 1e-3) * axis, [1.0, 2.0, 3.0]])
    moved = joint.retract(q, np.concatenate([2e-3 * axis, np.zeros(3)]))
    np.testing.assert_allclose(moved[:3], -(np.pi - 1e-3) * axis, atol=1e-8)
    x = joint.difference(q, moved)
    np.testing.assert_allclose(x, np.concatenate([2e-3 * axis, np.zeros(3)]), atol=1e-14)


@pytest.mark.some(4)
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_angles_pass_gimbal_lock(sequence):
    """Through the lock and in it: each step moves the pose by that step, and angles are finite."""
    joint = mb.AbsoluteJoint("free", mb.EulerAngles(sequence))
    proper = sequence[0] == sequence[2]
    lock = 0.0 if proper else np.pi / 2
    for offset in (0.0, 1e-16, 1e-12, 1e-8, -1e-4):
        q = np.array([0.4, lock + offset, -0.7, 0.1, 0.2, 0.3])
        for size in (0.0, 1e-9, 1e-3):
            x = step(size)
            moved = joint.retract(q, x)
            assert np.isfinite(moved).all()
            expected = joint.pose(q) @ MAPS["screw_coordinates"](x)
            np.testing.assert_allclose(joint.pose(moved), expected, atol=4e-15)


def test_angles_are_turns_about_axes_of_the_body():
    """Each turn is about the axis where the ones before have left it, for every sequence."""
    angles = np.array([0.3, -0.8, 1.9])
    for sequence in SEQUENCES:
        R = np.eye(3)
        for letter, angle in zip(sequence, angles, strict=True):
            axis = np.eye(3)["xyz".index(letter)]
            R = R @ MAPS["screw_coordinates"](np.concatenate([angle * axis, np.zeros(3)]))[:3, :3]
        joint = mb.AbsoluteJoint("free", mb.EulerAngles(sequence))
        T = joint.pose(np.concatenate([angles, np.zeros(3)]))
        np.testing.assert_allclose(T[:3, :3], R, atol=1e-15)


def test_copies_are_equal():
    """By pickle, and as keys; of another map or sequence they are others."""
    for joint in ABSOLUTE_JOINTS:
        assert pickle.loads(pickle.dumps(joint)) == joint  # noqa: S301 - our own
        assert len({joint, copy.deepcopy(joint)}) == 1
    assert len({attrs.evolve(joint, name="j") for joint in ABSOLUTE_JOINTS}) == len(ABSOLUTE_JOINTS)


REFUSED = {
    "a class": (
        lambda: mb.AbsoluteJoint("j", mb.RotationVector),
        r"Joint 'j': orientation must be one of mbkit.UnitQuaternion\(\), .*; call it\.",
    ),
    "a name": (
        lambda: mb.AbsoluteJoint("j", local="screw"),
        r"Joint 'j': local must be one of mbkit.ScrewCoordinates\(\), .* got 'screw'; take one of",
    ),
    "the group of quaternions": (
        lambda: mb.AbsoluteJoint("j", orientation=mb.lie.UnitQuaternion),
        "Joint 'j': orientation must be one of",
    ),
    "a side": (
        lambda: mb.AbsoluteJoint("j", trivialised="body"),
        "Joint 'j': trivialised must be 'left', .* or 'right', .*; got 'body'",
    ),
    "a side of a representation": (
        lambda: mb.ScrewCoordinates().representation("both"),
        "ScrewCoordinates: trivialised must be 'left', .*; got 'both'",
    ),
    "a sequence with neighbours": (
        lambda: mb.EulerAngles("zzx"),
        "EulerAngles: sequence must be three of x, y, z, neighbours of which differ, got 'zzx'",
    ),
    "a sequence of numbers": (lambda: mb.EulerAngles(321), "EulerAngles: sequence must be three"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_none_is_refused(case):
    """Naming the joint, the rule, the value and the remedy."""
    make, message = REFUSED[case]
    with pytest.raises(mb.MbkitError, match=message):
        make()


def test_a_quaternion_that_is_not_of_length_one_is_refused():
    """By the system, in words, as that of a free joint."""
    mech = mb.Mechanism("one")
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.AbsoluteJoint("float"), mech.world, body)
    system = mech.assemble()
    q = system.reference_configuration()
    q[0] = 1.1
    with pytest.raises(mb.ConfigurationError, match="Joint 'float': orientation must be a unit qu"):
        system.forward_dynamics(q, np.zeros(6))


def test_files_hold_them():
    """Orientations and local coordinates by name, sequences in a table; defaults are left out."""
    mech = mb.Mechanism("all")
    for joint in ABSOLUTE_JOINTS:
        body = mech.add_body(mb.Body(joint.name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(joint, mech.world, body)
    assert mb.parse_model(mech.to_toml()) == mech
    short = mb.parse_model(
        """
        mbkit_model = 1
        name = "short"
        [bodies.a]
        [joints.j]
        type = "absolute"
        predecessor = "world"
        successor = "a"
        orientation = {type = "euler_angles"}
        """
    )
    assert short.joints["j"].joint == mb.AbsoluteJoint("j", mb.EulerAngles())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "orientation = 'quaternion'",
            "'quaternion' is no name of an orientation; did you mean 'unit_",
        ),
        ("orientation = 3", "must be the name of an orientation, or a table with its type, got 3"),
        ("local = 'screw'", "'screw' is no name of local coordinates; known are 'screw_coord"),
        ("orientation = {type = 'euler_angles', sequence = 'zz'}", "sequence must be three of"),
        ("orientation = {type = 'euler_angles', order = 'zyx'}", "unknown key"),
        ("trivialised = 'middle'", "trivialised must be 'left'"),
    ],
)
def test_faults_in_files_are_told(line, message):
    """With the place, and what there is."""
    text = f"""
mbkit_model = 1
name = "faulty"
[bodies.a]
[joints.j]
type = "absolute"
predecessor = "world"
successor = "a"
{line}
"""
    with pytest.raises(mb.ModelFileError, match=message) as caught:
        mb.parse_model(text)
    assert "text:9" in str(caught.value)
