"""Coordinates, orders, axes and members of joints: what fits, and messages where it does not."""

import copy
import pickle

import numpy as np
import pytest

import mbkit as mb

CASES = {
    "kind": (
        lambda: mb.SphericalJoint("j", coordinates="quaternion"),
        mb.ModelError,
        "Joint 'j': coordinates must be one of 'group', 'first kind', 'second kind', got 'quat",
    ),
    "kind misspelt": (
        lambda: mb.PlanarJoint("j", coordinates="second kin"),
        mb.ModelError,
        "got 'second kin'; did you mean 'second kind'",
    ),
    "kind that a joint has not": (
        lambda: mb.FreeJoint("j", coordinates="second kind"),
        mb.ModelError,
        "Joint 'j': coordinates must be one of 'group', 'first kind', got 'second kind'",
    ),
    "order of the group": (
        lambda: mb.SphericalJoint("j", order="xyz"),
        mb.ModelError,
        "Joint 'j': order is that of the factors of coordinates='second kind', got coordinates=",
    ),
    "order with neighbours": (
        lambda: mb.SphericalJoint("j", coordinates="second kind", order="xxz"),
        mb.ModelError,
        r"Joint 'j': order must be three of 'x', 'y', 'z', neighbours of which differ, got \['x',",
    ),
    "order of unknown axes": (
        lambda: mb.SphericalJoint("j", coordinates="second kind", order="rpy"),
        mb.ModelError,
        "order must be three of 'x', 'y', 'z'",
    ),
    "order that lacks one": (
        lambda: mb.PlanarJoint("j", coordinates="second kind", order=("x", "angle")),
        mb.ModelError,
        r"order must have each of 'angle', 'x', 'y' once, got \['x', 'angle'\]; the default is \[",
    ),
    "order of lists": (
        lambda: mb.PlanarJoint("j", coordinates="second kind", order=[["x"], "y", "angle"]),
        mb.ModelError,
        r"order must have each of 'angle', 'x', 'y' once, got \[\['x'\], 'y', 'angle'\]",
    ),
    "order that is a number": (
        lambda: mb.PlanarJoint("j", coordinates="second kind", order=3),
        mb.ModelError,
        "order must have each of 'angle', 'x', 'y' once, got 3",
    ),
    "parallel axes": (
        lambda: mb.UniversalJoint("j", axis1=(1, 2, 3), axis2=(-2, -4, -6)),
        mb.GeometryError,
        r"Joint 'j': axis2 must not be parallel to axis1, got \[1.0, 2.0, 3.0\] and .* turn one",
    ),
    "one translation": (
        lambda: mb.TranslationalJoint("j", [(1, 0, 0)]),
        mb.ShapeError,
        "Joint 'j': axes must be two or three rows of three numbers, got shape .1, 3.; for one th",
    ),
    "translations in a plane": (
        lambda: mb.TranslationalJoint("j", [(1, 0, 0), (0, 1, 0), (1, 1, 0)]),
        mb.GeometryError,
        "Joint 'j': axes must be independent, got",
    ),
    "translation nowhere": (
        lambda: mb.TranslationalJoint("j", [(1, 0, 0), (0, 0, 0)]),
        mb.GeometryError,
        "Joint 'j': axes must have directions, got .* none may be zero",
    ),
    "pitch": (
        lambda: mb.HelicalPlanarJoint("j", pitch=np.inf),
        mb.GeometryError,
        "Joint 'j': pitch must be finite, got inf",
    ),
    "no member": (
        lambda: mb.CompositeJoint("j"),
        mb.JointError,
        "Joint 'j': a composite joint must have members, got none",
    ),
    "member that is no joint": (
        lambda: mb.CompositeJoint("j", mb.RevoluteJoint("a"), mb.RevoluteJoint),
        mb.JointError,
        "Joint 'j': members must be joints, got <class",
    ),
    "members that are no list": (
        lambda: mb.CompositeJoint("j", members=1),
        mb.JointError,
        "Joint 'j': members must be a list of joints, got 1.",
    ),
    "members of one name": (
        lambda: mb.CompositeJoint("j", mb.RevoluteJoint("a"), mb.PrismaticJoint("a")),
        mb.ModelError,
        "Joint 'j': members must have different names, got 'a' 2 times; their parameters",
    ),
    "too many": (
        lambda: mb.CompositeJoint("j", mb.FreeJoint("a"), mb.PrismaticJoint("b")),
        mb.JointError,
        "Joint 'j': members must have at most 6 velocities together, got 7; no body has more",
    ),
}


@pytest.mark.parametrize(("make", "error", "message"), CASES.values(), ids=CASES.keys())
def test_what_does_not_fit_is_refused(make, error, message):
    """The message names the joint, the rule, the value and what to do."""
    with pytest.raises(error, match=message):
        make()


def test_composite_joints_have_names():
    """Given first or by keyword, or those of the members."""
    members = mb.RevoluteJoint("a"), mb.PrismaticJoint("b")
    joints = [
        mb.CompositeJoint("a+b", *members),
        mb.CompositeJoint(*members, name="a+b"),
        mb.CompositeJoint(*members),
        mb.CompositeJoint(name="a+b", members=members),
    ]
    assert all(joint == joints[0] for joint in joints)
    assert joints[0] != mb.CompositeJoint("a+b", *members[::-1])


def test_orders_are_sequences_of_names():
    """A string of letters, a list or a tuple; q follows the order of the factors."""
    joint = mb.SphericalJoint("j", coordinates="second kind", order="zyx")
    assert joint == mb.SphericalJoint("j", coordinates="second kind", order=["z", "y", "x"])
    assert joint.order == ("z", "y", "x")
    planar = mb.PlanarJoint("j", coordinates="second kind", order=["x", "y", "angle"])
    assert planar.position_units == ("m", "m", "rad")
    np.testing.assert_allclose(planar.pose(np.array([1.0, 2.0, 0.3]))[:2, 3], [1.0, 2.0])


def test_angles_are_those_of_scipy():
    """Intrinsic turns, in capital letters there; rotation vectors as well."""
    from scipy.spatial.transform import Rotation

    q = np.array([0.3, -1.1, 2.0])
    for order in ("zyx", "xyz", "zxz", "yxy"):
        joint = mb.SphericalJoint("j", coordinates="second kind", order=order)
        expected = Rotation.from_euler(order.upper(), q).as_matrix()
        np.testing.assert_allclose(joint.pose(q)[:3, :3], expected, atol=1e-15)
    joint = mb.SphericalJoint("j", coordinates="first kind")
    expected = Rotation.from_rotvec(q).as_matrix()
    np.testing.assert_allclose(joint.pose(q)[:3, :3], expected, atol=1e-15)


@pytest.mark.parametrize("turns", [0.4, 3.0, -7.0])
def test_planar_steps_count_turns(turns):
    """The way back is exact beyond a whole turn, where the exponential has none."""
    for joint in (
        mb.PlanarJoint("j", (0.5, -1.0, 0.7), (0.4, -0.3, 0.8)),
        mb.HelicalPlanarJoint("j", (0.5, -1.0, 0.7), pitch=0.2),
        mb.SchoenfliesJoint("j", (0.5, -1.0, 0.7)),
    ):
        n = joint.num_velocities
        q, x = np.arange(1.0, n + 1), np.linspace(2 * np.pi * turns, 1.0, n)
        moved = joint.retract(q, x)
        np.testing.assert_allclose(joint.difference(q, moved), x, rtol=1e-13)
        assert moved[0] == q[0] + x[0]


def test_planar_group_coordinates_are_those_of_a_chart():
    """Pose (Rz(angle), (x, y)), and v the velocity in the successor's axes."""
    joint = mb.PlanarJoint("j")
    T = joint.pose(np.array([np.pi / 2, 3.0, 4.0]))
    np.testing.assert_allclose(T[:3, [0, 3]].T, [[0, 1, 0], [3, 4, 0]], atol=1e-15)
    np.testing.assert_array_equal(joint.motion_subspace(np.zeros(3)), np.eye(6)[:, 2:5])


def test_members_that_always_move_alike_are_refused():
    """A ball joint turns about the axis already, wherever it stands."""
    joint = mb.CompositeJoint("j", mb.SphericalJoint("ball"), mb.RevoluteJoint("spin"))
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.box(1.0, size=(1, 2, 3))))
    mech.add_joint(joint, mech.world, body)
    with pytest.raises(mb.JointError, match="Joint 'j' has lost a freedom wherever it was looked"):
        mech.assemble()


@pytest.mark.compiled  # a thousand steps
def test_a_joint_that_is_singular_at_rest_can_be_assembled():
    """Angles about z, x, z are dependent at zero, and nowhere else nearby."""
    mech = mb.Mechanism("m", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.box(1.0, size=(1, 2, 3))))
    joint = mb.SphericalJoint("j", coordinates="second kind", order="zxz")
    mech.add_joint(joint, mech.world, body)
    system = mech.assemble()
    run = mb.simulate(system, (0.0, 1.0), 1e-3, q=[0.0, 1.0, 0.0], v=[0.3, 0.1, 0.2])
    assert np.abs(run.energy_drift).max() < 1e-9


def pickled(joint):
    return pickle.loads(pickle.dumps(joint))  # noqa: S301 - our own


@pytest.mark.parametrize("remake", [copy.deepcopy, pickled])
def test_joints_can_be_copied_and_pickled(remake):
    """Also after their compiled forms were asked for, which hold addresses."""
    for joint in (
        mb.CompositeJoint("j", mb.SphericalJoint("a"), mb.PrismaticJoint("b")),
        mb.PlanarJoint("j", axis=(1, 0, 0)),
        mb.SphericalJoint("j", coordinates="second kind", order="xyz"),
    ):
        joint.kernels(), joint.parameters()
        again = remake(joint)
        assert again == joint
        np.testing.assert_array_equal(again.parameters(), joint.parameters())
