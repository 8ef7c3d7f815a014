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
    "pose only": (
        lambda: PoseOnly("slide"),
        (
            r"Joint 'slide': PoseOnly must define motion_subspace and bias besides pose; give "
            r"motion_subspace\(q\) -> \(6, 1\) and bias\(q, v\) -> \(6,\)\."
        ),
    ),
    "more positions than velocities": (
        lambda: variant(num_positions=2),
        (
            r"must define retract and difference and dexp_inv, because it has 2 positions and 1 "
            r"velocities; give retract\(q, dx\) -> \(2,\), difference\(q0, q1\) -> \(1,\)"
        ),
    ),
    "retract alone": (
        lambda: variant(retract=lambda self, q, dx: q + dx),
        "must define difference and dexp_inv, because it defines retract",
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


def test_missing_methods_say_so_when_called():
    """A joint that was never added explains itself too."""
    with pytest.raises(mb.JointError, match="Joint 'slide': PoseOnly must define motion_subspace"):
        PoseOnly("slide").motion_subspace(np.zeros(1))
    with pytest.raises(mb.JointError, match="PoseOnly must define bias"):
        PoseOnly("slide").bias(np.zeros(1), np.zeros(1))
