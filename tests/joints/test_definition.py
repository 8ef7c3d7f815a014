"""Wrong definitions of joints are refused at once, each with what is expected."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import Joint, check_joint_definition


class Slider(Joint):
    """A right definition, which the cases below spoil one by one."""

    num_positions = 1
    num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = q[0]
        return T

    def motion_subspace(self, q):
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).T

    def bias(self, q, v):
        return np.zeros(6)


def variant(**attributes):
    """A joint of a class that differs from Slider in the given attributes."""
    return type("Variant", (Slider,), attributes)("slide")


class PoseOnly(Joint):
    num_positions = num_velocities = 1
    pose = Slider.pose


def rotation_vector(self, q):
    T = np.eye(4)
    angle = np.linalg.norm(q)
    if angle > 0.0:
        x, y, z = q / angle
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        T[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    return T


def with_own_method(joint):
    joint.retract = lambda q, dx: q
    return joint


def changes_q(self, q):
    q += 1.0
    return np.eye(4)


def pose_only(**attributes):
    """A joint of a class that has a pose and the given attributes."""
    return type("PoseOnly", (Joint,), {**vars(PoseOnly), **attributes})("slide")


class Nameless(Slider):
    def __init__(self):
        pass


CASES = {
    "no joint": (lambda: "slide", r"must be an instance of mbkit.Joint, got 'slide'\."),
    "a class": (lambda: Slider, r"instance of mbkit.Joint, got .*Slider'>; call it with a name\."),
    "no name": (Nameless, r"class Nameless has no name; call super\(\).__init__\(name\)"),
    "no count": (
        lambda: variant(num_positions=None),
        (
            "Joint 'slide': num_positions must be an integer, zero or more; it is missing. "
            "Set it in the class Variant"
        ),
    ),
    "count is a float": (lambda: variant(num_velocities=1.0), "num_velocities must be an integer"),
    "count is a bool": (lambda: variant(num_positions=True), "num_positions must be an integer"),
    "negative count": (lambda: variant(num_positions=-1), "zero or more; got -1"),
    "too many": (
        lambda: variant(num_velocities=7, num_positions=7),
        "num_velocities must be at most 6, got 7",
    ),
    "positions without velocities": (
        lambda: variant(num_velocities=0),
        "num_positions must be 0 where num_velocities is 0, got 1; a joint that holds its bodies",
    ),
    "more positions than velocities": (
        lambda: variant(num_positions=2),
        (
            r"must define retract and difference, because it has 2 positions and 1 velocities; "
            r"give retract\(q, dx\) -> \(2,\) and difference\(q0, q1\) -> \(1,\)"
        ),
    ),
    "retract alone": (
        lambda: variant(retract=lambda self, q, dx: q + dx),
        "must define difference, because it defines retract",
    ),
    "pose of the wrong shape": (
        lambda: variant(pose=lambda self, q: np.eye(3)),
        r"pose\(neutral\(\)\) must be an array of shape \(4, 4\), got shape \(3, 3\). Expected",
    ),
    "pose that is none": (
        lambda: variant(pose=lambda self, q: np.diag([1.0, 1.0, 2.0, 1.0])),
        r"pose\(neutral\(\)\) must hold a rotation, got .* Expected is the pose \(4, 4\) in SE",
    ),
    "pose of objects": (
        lambda: variant(pose=lambda self, q: None),
        r"pose\(neutral\(\)\) must be real numbers in an array of shape \(4, 4\), got None",
    ),
    "pose that is not finite": (
        lambda: variant(pose=lambda self, q: np.full((4, 4), np.nan)),
        r"pose\(neutral\(\)\) must be finite, got nan at \[0, 0\] and 15 more; give an ordinary",
    ),
    "pose that raises": (
        lambda: variant(pose=lambda self, q: 1 / 0),
        r"pose\(neutral\(\)\) failed at the neutral configuration with ZeroDivisionError",
    ),
    "rows for columns": (
        lambda: variant(motion_subspace=lambda self, q: np.zeros((1, 6))),
        r"motion_subspace\(q\) must be an array of shape \(6, 1\), got shape \(1, 6\)",
    ),
    "bias of the wrong shape": (
        lambda: variant(bias=lambda self, q, v: np.zeros((6, 1))),
        r"bias\(q, v\) must be an array of shape \(6,\), got shape \(6, 1\)",
    ),
    "misspelt method": (
        lambda: pose_only(motion_subpsace=lambda self, q: 0),
        (
            r"PoseOnly defines motion_subpsace, which nothing calls; did you mean "
            r"motion_subspace\(q\) -> \(6, nv\)\? A helper of your own needs another name"
        ),
    ),
    "misspelt attribute": (
        lambda: variant(position_unit=("m",)),
        "defines position_unit, which nothing calls; did you mean position_units",
    ),
    "method of one object": (
        lambda: with_own_method(Slider("slide")),
        r"retract is an attribute of this one joint, .*; define retract\(q, dx\) -> \(nq,\) in",
    ),
    "too few arguments": (
        lambda: variant(bias=lambda self, q: np.zeros(6)),
        r"Variant defines bias\(q\), and must define bias\(q, v\) -> \(6,\)\.",
    ),
    "too many arguments": (
        lambda: variant(pose=lambda self, q, t: np.eye(4)),
        r"Variant defines pose\(q, t\), and must define pose\(q\) -> \(4, 4\)\.",
    ),
    "arguments in another order": (
        lambda: variant(bias=lambda self, v, q: np.zeros(6)),
        r"defines bias\(v, q\), with arguments in another order than bias\(q, v\)",
    ),
    "a property for a method": (
        lambda: variant(neutral=property(lambda self: np.zeros(1))),
        r"neutral of Variant must be a method, neutral\(\) -> \(nq,\)\.",
    ),
    "a method for a property": (
        lambda: variant(position_units=lambda self: ("m",)),
        "position_units of Variant must be a property or a value, not a method",
    ),
    "complex numbers": (
        lambda: variant(bias=lambda self, q, v: np.zeros(6, dtype=complex)),
        r"bias\(q, v\) must be real numbers in an array of shape \(6,\)",
    ),
    "wrenches of the wrong shape": (
        lambda: variant(constraint_wrenches=lambda self, q: np.zeros((5, 6))),
        r"constraint_wrenches\(q\) must be an array of shape \(6, 5\), got shape \(5, 6\)",
    ),
    "a function for kernels": (
        lambda: variant(kernels=lambda self: len),
        r"kernels\(\) must return an mbkit.joints.JointKernels or None, got <built-in",
    ),
    "parameters that are no numbers": (
        lambda: variant(parameters=lambda self: ["a"]),
        r"parameters\(\) must return an array of real numbers",
    ),
    "too many units": (
        lambda: variant(position_units=("m", "m")),
        "position_units must be 1 strings",
    ),
    "q changed in place": (
        lambda: variant(pose=changes_q),
        r"pose\(neutral\(\)\) failed .* with ValueError: output array is read-only",
    ),
    "a length at zero": (
        lambda: pose_only(
            retract=lambda self, q, dx: q + dx * np.cos(np.linalg.norm(dx)),
            difference=lambda self, q0, q1: q1 - q0,
        ),
        r"motion_subspace\(q\) must be finite, got nan.* the length of a vector at zero has none",
    ),
    "a branch at zero": (
        lambda: pose_only(
            retract=lambda self, q, dx: q if not dx.any() else q + dx,
            difference=lambda self, q0, q1: q1 - q0,
        ),
        r"the derivative of pose\(retract\(q, dx\)\) at dx = 0, .* is not what it is next to it",
    ),
    "a rotation vector with a branch at zero": (
        lambda: pose_only(num_positions=3, num_velocities=3, pose=rotation_vector),
        r"the derivative of pose\(retract\(q, dx\)\) at dx = 0, .* is not what it is next to it",
    ),
    "neutral of the wrong shape": (
        lambda: variant(neutral=lambda self: np.zeros(3)),
        r"neutral\(\) must be an array of shape \(1,\), got shape \(3,\)",
    ),
}


@pytest.mark.parametrize(("make", "message"), CASES.values(), ids=CASES.keys())
def test_wrong_definitions_are_refused(make, message):
    """The mechanism says so as soon as the joint is added, and stays as it was."""
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b"))
    with pytest.raises(mb.JointError, match=message):
        mech.add_joint(make(), mech.world, body)
    assert not mech.joints


def test_the_right_definition_is_accepted():
    """The cases above differ from it by one attribute each."""
    check_joint_definition(Slider("slide"))
    check_joint_definition(variant())


def test_nested_lists_do_for_arrays():
    """What the definition check accepts can be evaluated."""
    columns = [[0.0], [0.0], [0.0], [1.0], [0.0], [0.0]]
    joint = variant(
        pose=lambda self, q: Slider.pose(self, q).tolist(),
        motion_subspace=lambda self, q: columns,
        bias=lambda self, q, v: [0.0] * 6,
        neutral=lambda self: [0.0],
    )
    mech = mb.Mechanism("m", gravity=(2.0, 0, 0))
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, mech.world, body)
    system = mech.assemble()
    assert system.poses([0.5])[1, 0, 3] == 0.5
    assert system.forward_dynamics([0.5], [0.0]) == pytest.approx([2.0], rel=1e-14)


class Weld(Joint):
    """Holds the successor a metre off, in nested lists."""

    num_positions = num_velocities = 0

    def pose(self, q):
        return [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]

    def motion_subspace(self, q):
        return np.zeros((6, 0))

    def bias(self, q, v):
        return [0.0] * 6


@pytest.mark.parametrize("against", [False, True])
def test_nested_lists_do_for_joints_that_hold(against):
    """Assembly evaluates these, in either direction of the tree."""
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    ends = (body, mech.world) if against else (mech.world, body)
    mech.add_joint(Weld("weld"), *ends)
    assert mech.assemble().poses([])[1, 0, 3] == (-1.0 if against else 1.0)


def test_bad_names_are_model_errors():
    """As those of bodies are."""
    with pytest.raises(mb.ModelError, match="Joint name must not be empty"):
        check_joint_definition(Slider(""))


def test_helpers_may_be_called_anything_else():
    """A name next to one that is defined too, or far from all, is not taken for a slip."""
    check_joint_definition(variant(poses=lambda self: 0, _bias=lambda self: 0, width=3.0))
    check_joint_definition(variant(describe=lambda self: "", names=("a",)))


def test_the_pose_alone_is_enough():
    """Motion subspace and bias follow from it."""
    check_joint_definition(PoseOnly("slide"))
    assert PoseOnly("slide").motion_subspace(np.zeros(1)).ravel().tolist() == [0, 0, 0, 1, 0, 0]
