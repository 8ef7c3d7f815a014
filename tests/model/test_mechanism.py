"""Mechanisms: built, compared, described; what cannot be is refused."""

import networkx as nx
import numpy as np
import pytest

import mbkit as mb
from mbkit.spatial import inverse, rotation, translation

A1 = translation((0.3, 0.1, -0.2)) @ rotation((1, 2, 3), 0.4)
A2 = translation((-0.5, 0.7, 0.2)) @ rotation((3, -1, 1), -1.1)


def two_bodies():
    mech = mb.Mechanism("m")
    return mech, mech.add_body(mb.Body("a", pose=A1)), mech.add_body(mb.Body("b", pose=A2))


def successor_in_predecessor(mech, joint, q):
    edge = mech.joints[joint]
    return edge.S_pred @ edge.joint.pose(np.array([q])) @ inverse(edge.S_succ)


def test_the_three_descriptions_meet():
    """A joint given in the world, in either body and in joint frames moves its bodies alike."""
    axis, point = np.array([0.3, -1.0, 0.8]), np.array([0.2, 0.9, -0.4])
    B = inverse(A1) @ A2
    found = []
    for name, options, C in [
        ("in the world", {}, np.eye(4)),
        ("in the successor", {"reference": B}, inverse(A2)),
        ("in the predecessor", {"reference": B, "screws_in": "predecessor"}, inverse(A1)),
        ("in joint frames", {"frames": (inverse(A1) @ A1 @ B, np.eye(4))}, inverse(A2)),
    ]:
        mech, a, b = two_bodies()
        moved = C[:3, :3] @ axis, C[:3, :3] @ point + C[:3, 3]
        mech.add_joint(mb.HelicalJoint(name, *moved, pitch=0.3), a, b, **options)
        found.append([successor_in_predecessor(mech, name, q) for q in (0.0, 0.8, -2.5)])
    np.testing.assert_allclose(found[0][0], B, atol=1e-15)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=2e-15 * 4)


def test_the_world_can_be_either_end():
    """Names do as well as bodies."""
    mech, a, b = two_bodies()
    mech.add_joint(mb.RevoluteJoint("1"), mech.world, a)
    mech.add_joint(mb.RevoluteJoint("2"), b, "world")
    assert [mech.joints[name].predecessor for name in "12"] == ["world", "b"]
    assert mech.topology().reversed == (False, False, True)


def test_contents_are_seen_and_not_changed_from_outside():
    """Bodies and joints are read-only views in the order of adding."""
    mech, a, b = two_bodies()
    joint = mech.add_joint(mb.RevoluteJoint("1"), a, b)
    assert list(mech.bodies) == ["a", "b"]
    assert mech.bodies["a"] is a
    assert mech.joints["1"].joint is joint
    with pytest.raises(TypeError):
        mech.bodies["c"] = a
    assert repr(mech) == "<Mechanism 'm': 2 bodies, 1 joint>"


def test_graph_is_a_copy_with_the_objects():
    """Users analyse it with networkx; the mechanism does not change."""
    mech, a, b = two_bodies()
    joint = mech.add_joint(mb.RevoluteJoint("1"), a, b)
    graph = mech.graph()
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph.nodes["a"]["body"] is a
    assert graph.edges["a", "b", "1"]["joint"] is joint
    graph.clear()
    assert mech.graph().number_of_nodes() == 3


def test_equality_is_that_of_the_contents():
    """Name, gravity, bodies and joints in their order all count."""
    mech, a, b = two_bodies()
    other, *_ = two_bodies()
    assert mech == other
    mech.add_joint(mb.RevoluteJoint("1"), a, b)
    assert mech != other
    other.add_joint(mb.RevoluteJoint("1"), "a", "b", reference=np.eye(4))
    assert mech != other
    assert mb.Mechanism("m") != mb.Mechanism("n")
    assert mb.Mechanism("m") != mb.Mechanism("m", gravity=(0, 0, -9.8))
    assert mb.Mechanism("m") != "m"
    with pytest.raises(TypeError, match="unhashable"):
        hash(mech)


def test_gravity_may_be_set_and_is_checked_first():
    """Systems that are made from then on have it; one that is refused changes nothing."""
    mech = mb.Mechanism("m")
    before = mech.assemble()
    mech.gravity = (0, 0, -1.6)
    assert mech == mb.Mechanism("m", gravity=(0, 0, -1.6))
    with pytest.raises(mb.GeometryError, match="Mechanism 'm': gravity must be finite"):
        mech.gravity = (0, 0, np.nan)
    np.testing.assert_array_equal(mech.assemble().parameters["gravity"], [0, 0, -1.6])
    np.testing.assert_array_equal(before.parameters["gravity"], [0, 0, -9.81])


def test_a_failed_joint_is_not_added():
    """What raises leaves the mechanism as it was."""
    mech, a, b = two_bodies()
    with pytest.raises(mb.GeometryError):
        mech.add_joint(mb.RevoluteJoint("1"), a, b, reference=2.0 * np.eye(4))
    assert mech == two_bodies()[0]
    mech.add_joint(mb.RevoluteJoint("1"), a, b)


def other_body():
    return mb.Body("a", mb.SpatialInertia.sphere(1.0, radius=1.0))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("a", "a"), {}, mb.TopologyError, "Joint 'j' connects body 'a' to itself; predecessor"),
        (("a", "bb"), {}, mb.NameUnknownError, "successor 'bb', which is no body.*mean 'b'"),
        ((other_body(), "b"), {}, mb.UsageError, "Body 'a' is not the one that was added"),
        ((3, "b"), {}, mb.UsageError, "connects bodies or names of bodies, got 3"),
        (
            ("a", "b"),
            {"frames": (A1, A2), "reference": A1},
            mb.UsageError,
            "Joint 'j' takes either frames or reference, got both",
        ),
        (("a", "b"), {"screws_in": "world"}, mb.UsageError, "must be 'successor' or 'predecessor'"),
        (("a", "b"), {"screws_in": "predecessor"}, mb.UsageError, "goes with reference; give it"),
        (("a", "b"), {"frames": A1}, mb.UsageError, "must be a pair of poses .*, got ndarray"),
        (
            ("a", "b"),
            {"frames": (A1, np.diag([1, 1, -1, 1]))},
            mb.GeometryError,
            r"Joint 'j': frames\[1\] must hold a rotation, got one that mirrors",
        ),
        (
            ("a", "b"),
            {"reference": np.full((4, 4), np.nan)},
            mb.GeometryError,
            "Joint 'j': reference must be finite",
        ),
    ],
)
def test_bad_joints_are_refused(arguments, options, error, message):
    """Each message names the joint or body, the rule and the value."""
    mech, *_ = two_bodies()
    with pytest.raises(error, match=message):
        mech.add_joint(mb.RevoluteJoint("j"), *arguments, **options)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: mb.Mechanism(""), mb.ModelError, "Mechanism name must not be empty"),
        (
            lambda: mb.Mechanism("m", (0, 0)),
            mb.ShapeError,
            r"Mechanism 'm': gravity .* \(3,\), got",
        ),
        (
            lambda: mb.Mechanism("m", (0, 0, np.inf)),
            mb.GeometryError,
            "Mechanism 'm': gravity must be finite, got .*inf",
        ),
        (lambda: mb.Body("b", inertia=3.0), mb.ShapeError, "Body 'b': inertia must be an mbkit.Sp"),
        (
            lambda: mb.Body("b", pose=np.diag([1, 1, -1, 1])),
            mb.GeometryError,
            "Body 'b': pose must hold a rotation",
        ),
        (lambda: mb.Mechanism("m").add_body("b"), mb.ShapeError, "must be an mbkit.Body, got 'b'"),
        (
            lambda: mb.Mechanism("m").add_body(mb.Body("world")),
            mb.DuplicateNameError,
            "Body name 'world' is taken by the inertial frame",
        ),
        (
            lambda: two_bodies()[0].assemble(mb.AbsoluteCoordinates),
            mb.UsageError,
            r"in coordinates, such as mbkit.RelativeCoordinates\(\), got <class",
        ),
    ],
)
def test_bad_parts_are_refused(make, error, message):
    """At once, where they are made."""
    with pytest.raises(error, match=message):
        make()


def test_duplicate_names_are_refused():
    """Of bodies and of joints; a body and a joint may share one."""
    mech, a, b = two_bodies()
    with pytest.raises(mb.DuplicateNameError, match="Body 'a' is in the mechanism already"):
        mech.add_body(mb.Body("a"))
    mech.add_joint(mb.RevoluteJoint("a"), a, b)
    with pytest.raises(mb.DuplicateNameError, match="Joint 'a' is in the mechanism already"):
        mech.add_joint(mb.FixedJoint("a"), mech.world, a)


def test_all_errors_are_of_one_tree():
    """And of the fitting built-in too."""
    assert issubclass(mb.NameUnknownError, (mb.MbkitError, KeyError))
    assert issubclass(mb.GeometryError, ValueError)
    mech, *_ = two_bodies()
    with pytest.raises(mb.MbkitError) as caught:
        mech.add_joint(mb.RevoluteJoint("j"), "a", "nobody")
    assert str(caught.value).startswith("Joint 'j' has the successor 'nobody'")


def test_frames_are_added_to_bodies_that_are_there():
    """A tool moves with its body; what is not the mechanism's, or is taken, is refused."""
    mech = mb.Mechanism("arm")
    arm = mech.add_body(mb.Rod("arm", 1.0, 0.02, mass=1.0, frames={"mark": np.eye(4)}))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, arm)
    before, T = mech.assemble(), mb.spatial.translation((1.0, 0.2, 0.3))
    new = mech.add_frame(arm, "tool", T)
    assert mech.bodies["arm"] is new
    assert type(new) is mb.Rod
    assert set(new.frames) == {"mark", "tool"}
    assert "tool" not in before.frames
    system = mech.assemble()
    np.testing.assert_allclose(
        system.pose("tool", [0.4]), system.pose("arm", [0.4]) @ T, atol=1e-15
    )
    for name in ("tool", "mark", "world"):
        with pytest.raises(mb.DuplicateNameError):
            mech.add_frame("arm", name, T)
    for body, name, pose, error in (
        ("world", "x", T, mb.NameUnknownError),
        ("amr", "x", T, mb.NameUnknownError),
        (arm, "x", T, mb.UsageError),
        ("arm", "arm", T, mb.UsageError),
        ("arm", ["x"], T, mb.ModelError),
        ("arm", "x", np.zeros((4, 4)), mb.GeometryError),
        ("arm", "x", "T", mb.ShapeError),
        (3, "x", T, mb.UsageError),
    ):
        with pytest.raises(error):
            mech.add_frame(body, name, pose)
    assert mech.bodies["arm"] is new
