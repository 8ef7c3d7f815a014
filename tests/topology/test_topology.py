"""Graphs, spanning trees, loops."""

import hypothesis
import hypothesis.strategies as st
import networkx as nx
import pytest

import mbkit as mb
from mbkit.given_values import check_name
from mbkit.topology import BodyGraph, build_topology


def graph_of(bodies, joints):
    graph = BodyGraph()
    for body in bodies:
        graph.add_body(body)
    for name, predecessor, successor in joints:
        graph.add_joint(name, predecessor, successor)
    return graph


BRANCHED = graph_of(
    "abcde",
    [
        ("1", "world", "b"),
        ("2", "b", "a"),
        ("3", "c", "b"),  # against the tree's direction
        ("4", "c", "e"),
        ("5", "a", "d"),
    ],
)

FOUR_BAR = graph_of(
    ["crank", "coupler", "rocker"],
    [
        ("A", "world", "crank"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
        ("D", "rocker", "world"),
    ],
)


def test_tree_is_numbered_depth_first_in_the_order_of_adding():
    """Subtrees are ranges of numbers, children stand as their joints were added."""
    topology = build_topology(BRANCHED)
    assert topology.bodies == ("world", "b", "a", "d", "c", "e")
    assert topology.parent == (-1, 0, 1, 2, 1, 4)
    assert topology.joint_of_body == ("", "1", "2", "5", "3", "4")
    assert topology.tree_joints == ("1", "2", "5", "3", "4")
    assert topology.reversed == (False, False, False, False, True, False)
    assert topology.loop_joints == topology.cycles == ()
    assert topology.subtree("b") == ("b", "a", "d", "c", "e")
    assert topology.subtree("a") == ("a", "d")
    assert topology.subtree("e") == ("e",)
    assert topology.number("c") == 4


def test_a_ring_is_cut_in_the_middle():
    """There the tree is shallowest; its cycle runs from its successor back to it."""
    topology = build_topology(FOUR_BAR)
    assert topology.tree_joints == ("A", "B", "D")
    assert topology.reversed == (False, False, False, True)
    assert topology.loop_joints == ("C",)
    assert topology.cycles == (("C", "D", "A", "B"),)


def test_the_user_may_choose_the_loop_joints():
    """Any joint of the loop can be cut, and joints are turned round for it."""
    topology = build_topology(FOUR_BAR, ["B"])
    assert topology.loop_joints == ("B",)
    assert topology.cycles == (("B", "C", "D", "A"),)
    assert topology.bodies == ("world", "crank", "rocker", "coupler")
    assert topology.reversed == (False, False, True, True)


def test_mobility_counts_velocities_less_six_for_each_loop():
    """Exact for trees; the count of Gruebler and Kutzbach with loops, whichever joint is cut."""
    graph = graph_of("ab", [])
    graph.add_joint("free", "world", "a", freedom=6)
    graph.add_joint("hinge", "a", "b", freedom=1)
    assert build_topology(graph).mobility == 7
    graph.add_joint("rod", "b", "world", freedom=5)
    topology = build_topology(graph)
    assert (topology.freedoms, topology.loop_freedoms) == ((0, 5, 1), (6,))
    assert topology.num_constraints == 0  # the free joint constrains nothing
    assert [build_topology(graph, [cut]).mobility for cut in ("free", "hinge", "rod")] == [6] * 3


def test_mechanisms_know_their_mobility():
    """A planar four-bar, by the count in space: 4 - 6."""
    mech = mb.Mechanism("four-bar")
    for body in ("crank", "coupler", "rocker"):
        mech.add_body(mb.Body(body))
    for name, *ends in FOUR_BAR.joints():
        mech.add_joint(mb.RevoluteJoint(name), *ends)
    assert mech.topology().mobility == mech.topology(["B"]).mobility == -2


def test_two_joints_between_two_bodies_are_a_loop():
    """A multigraph: one of them is in the tree, the other closes a loop of two."""
    topology = build_topology(graph_of("a", [("1", "world", "a"), ("2", "a", "world")]))
    assert topology.cycles == (("2", "1"),)


def test_wrong_loop_joints_are_refused():
    """Unknown ones, too few, and too many."""
    with pytest.raises(
        mb.NameUnknownError, match=r"Loop joint 'E' is no joint.*known are 'A', 'B'"
    ):
        build_topology(FOUR_BAR, ["E"])
    with pytest.raises(mb.UsageError, match=r"collection of names, got 'D'; write \['D'\]"):
        build_topology(FOUR_BAR, "D")
    with pytest.raises(mb.TopologyError, match=r"loop of the joints 'D'.*must be cut by one of"):
        build_topology(FOUR_BAR, [])
    with pytest.raises(
        mb.TopologyError, match=r"Body 'crank' must be connected.*is not; cut only some of 'A', 'B'"
    ):
        build_topology(FOUR_BAR, ["A", "B"])


def test_groups_that_float_are_named_each_with_what_to_add():
    """A body alone, and bodies that joints connect with each other, in a loop or not."""
    joints = [("1", "world", "a"), ("2", "b", "c"), ("3", "c", "d"), ("4", "d", "b")]
    graph = graph_of("abcde", joints)
    with pytest.raises(mb.TopologyError) as caught:
        build_topology(graph)
    assert str(caught.value) == (
        "Bodies 'b', 'c', 'd' must be connected to the world by joints, and are not (joints "
        "connect them with each other only); connect one of them, by mbkit.FreeJoint if the group "
        "floats: mech.add_joint(mbkit.FreeJoint('b (free)'), mech.world, 'b'). "
        "Body 'e' must be connected to the world by joints, and is not; connect it, by "
        "mbkit.FreeJoint if it floats: "
        "mech.add_joint(mbkit.FreeJoint('e (free)'), mech.world, 'e')."
    )
    many = graph_of("abcdefg", [])
    with pytest.raises(mb.TopologyError, match=r"'d'\)\. So it is with 3 more groups of bodies\.$"):
        build_topology(many)


def test_what_the_message_says_connects_a_group_that_floats():
    """A ring of three bodies in space: its loop is cut, the free joint stays."""
    mech = mb.Mechanism("ring")
    for body in "abc":
        mech.add_body(mb.Body(body))
    for k, name in enumerate(("1", "2", "3")):
        mech.add_joint(mb.RevoluteJoint(name), "abc"[k], "abc"[(k + 1) % 3])
    with pytest.raises(mb.TopologyError) as caught:
        mech.topology()
    remedy = str(caught.value).rpartition("floats: ")[2].rstrip(".")
    eval(remedy, {"mbkit": mb, "mech": mech})  # noqa: S307 - our own message
    topology = mech.topology()
    assert topology.tree_joints == ("a (free)", "1", "3")
    assert topology.loop_joints == ("2",)


def test_parts_that_only_the_world_connects_are_one_mechanism():
    """Each has its own branches and its own loops."""
    joints = [("1", "world", "a"), ("2", "a", "b"), ("3", "b", "world")]
    joints += [("4", "world", "c"), ("5", "c", "d"), ("6", "d", "world")]
    topology = build_topology(graph_of("abcd", joints))
    assert topology.children("world") == ("a", "b", "c", "d")
    assert topology.cycles == (("2", "3", "1"), ("5", "6", "4"))


def test_long_chains_need_no_recursion():
    """Three thousand bodies in a row are numbered like three."""
    names = [str(k) for k in range(3_000)]
    joints = [(f"j{k}", str(k - 1) if k else "world", str(k)) for k in range(3_000)]
    topology = build_topology(graph_of(names, joints))
    assert topology.parent == tuple(range(-1, 3_000))


@hypothesis.given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20))
def test_any_graph_falls_into_a_tree_and_fundamental_cycles(pairs):
    """Numbering is regular; every joint is in the tree or closes one cycle of it."""
    nodes = ["world", *"abcdefgh"]
    graph = graph_of(nodes[1:], [])
    for number, body in reversed(list(enumerate(nodes))[1:]):
        graph.add_joint(f"to {body}", nodes[number // 2], body)
    for k, (first, second) in enumerate(pairs):
        if first != second:
            graph.add_joint(str(k), nodes[first], nodes[second])
    topology = build_topology(graph)
    joints = {name: set(ends) for name, *ends in graph.joints()}
    assert all(topology.parent[i] < i for i in range(len(nodes)))
    for i, joint in enumerate(topology.tree_joints, start=1):
        assert joints[joint] == {topology.bodies[i], topology.bodies[topology.parent[i]]}
    assert {*topology.tree_joints, *topology.loop_joints} == set(joints)
    for cycle in topology.cycles:
        ring = nx.MultiGraph([tuple(joints[name]) for name in cycle])
        assert nx.is_connected(ring)
        assert all(degree == 2 for _, degree in ring.degree)


@pytest.mark.parametrize(
    ("add", "error", "message"),
    [
        (lambda g: g.add_body("crank"), mb.DuplicateNameError, "Body 'crank' is in the mechanism"),
        (lambda g: g.add_body("world"), mb.DuplicateNameError, "'world' is taken by the inertial"),
        (
            lambda g: g.add_joint("A", "crank", "rocker"),
            mb.DuplicateNameError,
            "Joint 'A' is in the mechanism already; rename one.",
        ),
        (
            lambda g: g.add_joint("E", "crnk", "rocker"),
            mb.NameUnknownError,
            "Joint 'E' has the predecessor 'crnk', which is no body.*did you mean 'crank'?",
        ),
        (
            lambda g: g.add_joint("E", "crank", "nothing"),
            mb.NameUnknownError,
            "Joint 'E' has the successor 'nothing'.*known are 'world', 'crank'",
        ),
        (
            lambda g: g.add_joint("E", "crank", "crank"),
            mb.TopologyError,
            "Joint 'E' connects body 'crank' to itself; predecessor and successor must differ.",
        ),
    ],
)
def test_bad_graphs_are_refused(add, error, message):
    """And nothing is added."""
    before = list(FOUR_BAR.bodies()), list(FOUR_BAR.joints())
    with pytest.raises(error, match=message):
        add(FOUR_BAR)
    assert (list(FOUR_BAR.bodies()), list(FOUR_BAR.joints())) == before


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("Body", 3, "Body name must be a string, got 3"),
        ("Body", "", "Body name must not be empty"),
        ("Body", " a", "Body name must have no blanks at its ends, got ' a'"),
        ("Body", "a\nb", "Body name must be printable"),
        ("Joint", "a[0]", "Joint name must have no square brackets, got 'a\\[0\\]'"),
    ],
)
def test_bad_names_are_refused(kind, name, message):
    """Names must do in tables, files and messages."""
    with pytest.raises(mb.ModelError, match=message):
        check_name(kind, name)


def test_unknown_bodies_of_a_topology_are_refused():
    """With a guess."""
    with pytest.raises(mb.NameUnknownError, match=r"'cranck' is not in this.*mean 'crank'?"):
        build_topology(FOUR_BAR).subtree("cranck")
