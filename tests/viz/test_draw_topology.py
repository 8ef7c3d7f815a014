"""Pictures of trees: where nodes stand, and which lines are drawn."""

from __future__ import annotations

import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

import mbkit as mb
from mbkit.viz.tidy_tree import tidy_tree


@st.composite
def parents(draw, most=40):
    """A tree, numbered depth-first as those of a topology are."""
    count = draw(st.integers(1, most))
    parent, branch = [-1], [0]
    for node in range(1, count):
        branch = branch[: draw(st.integers(1, len(branch)))]
        parent.append(branch[-1])
        branch.append(node)
    return parent


@hypothesis.given(parents())
def test_nodes_stand_apart_in_order_and_parents_in_the_middle(parent):
    """The laws of a tidy tree; together they leave branches no room to cross."""
    places = tidy_tree(parent)
    assert np.array_equal(places[0], (0, 0))
    for depth in range(int(places[:, 0].max()) + 1):
        across = places[places[:, 0] == depth, 1]
        assert np.all(np.diff(across) >= 1.0 - 1e-9)
    for node in range(len(parent)):
        children = [k for k, above in enumerate(parent) if above == node]
        if children:
            assert np.all(places[children, 0] == places[node, 0] + 1)
            np.testing.assert_allclose(
                places[node, 1], places[children, 1][[0, -1]].mean(), atol=1e-9
            )


@hypothesis.given(parents(most=15), st.integers(1, 3))
def test_equal_subtrees_are_drawn_alike(subtree, copies):
    """And next to each other as near as one row of their nodes allows."""
    size = len(subtree)
    parent = [-1]
    for k in range(copies):
        parent += [0, *(1 + k * size + above for above in subtree[1:])]
    places = tidy_tree(parent)[1:].reshape(copies, size, 2)
    for k in range(copies):
        np.testing.assert_allclose(places[k] - places[k, 0], places[0] - places[0, 0], atol=1e-9)
    for one, other in itertools.pairwise(places):
        gaps = [
            other[other[:, 0] == depth, 1].min() - one[one[:, 0] == depth, 1].max()
            for depth in set(one[:, 0])
        ]
        assert min(gaps) == pytest.approx(1.0)


def test_long_chains_and_combs_are_placed_without_recursion():
    """A chain is a line; a comb of as many teeth is as wide as they are many."""
    count = 10_000
    chain = tidy_tree(range(-1, count - 1))
    assert np.array_equal(chain[:, 1], np.zeros(count))
    comb = tidy_tree([-1, *(k // 2 * 2 for k in range(count))])
    assert np.ptp(comb[:, 1]) < count


@pytest.fixture
def topology():
    """A ring cut at its third joint, and two joints between the same bodies, one of them cut."""
    mech = mb.Mechanism("ring")
    bodies = [mech.add_body(mb.Body(name)) for name in ("crank", "coupler", "rocker $a_b$")]
    for name, a, b in zip("ABCD", [mech.world, *bodies], [*bodies, mech.world], strict=True):
        mech.add_joint(mb.RevoluteJoint(name), a, b)
    mech.add_joint(mb.RevoluteJoint("E"), "coupler", "crank")
    mech.add_joint(mb.RevoluteJoint("F"), "crank", "coupler")
    return mech.topology()


def test_every_joint_is_a_line_between_its_bodies(topology, tmp_path):
    """From predecessor to successor; loop joints in dashes, reversed ones in another colour."""
    ax = topology.draw()
    place = {text.get_text(): text.get_position() for text in ax.texts}
    lines = {line.get_gid(): line for line in ax.lines}
    assert set(lines) == set("ABCDEF")
    for edge in topology.edges:
        points = lines[edge.name].get_xydata()
        np.testing.assert_allclose(points[0], place[edge.predecessor], atol=1e-12)
        np.testing.assert_allclose(points[-1], place[edge.successor], atol=1e-12)
        assert edge.name in place
    dashed = {name for name, line in lines.items() if line.get_linestyle() == "--"}
    assert dashed == set(topology.loop_joints) == {"C", "E", "F"}
    turned = lines["D"].get_color()
    assert not same_color(turned, lines["A"].get_color())
    assert same_color(lines["B"].get_color(), lines["A"].get_color())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "tree joint",
        "loop joint",
        "tree joint against its direction",
    ]
    ax.figure.savefig(tmp_path / "ring.svg")
    assert 'id="A"' in (tmp_path / "ring.svg").read_text()


def test_loop_joints_between_the_same_bodies_are_apart(topology):
    """Each bends more than the one before, whichever way it goes, and none lies on the tree's."""
    lines = {line.get_gid(): line.get_xydata() for line in topology.draw().lines}
    middles = [lines[name][len(lines[name]) // 2] for name in "BEF"]
    assert np.linalg.norm(middles[1] - middles[0]) > 0.3
    np.testing.assert_allclose(middles[2] - middles[0], 2 * (middles[1] - middles[0]), atol=1e-12)


def test_it_is_drawn_where_the_caller_says():
    """On axes that are given; a world alone has nothing to explain."""
    ax = Figure().add_subplot()
    assert mb.Mechanism("empty").topology().draw(ax) is ax
    assert [text.get_text() for text in ax.texts] == ["world"]
    assert ax.get_legend() is None


def test_a_topology_by_hand_is_not_drawn():
    """It does not know where its joints go."""
    by_hand = mb.Topology(("world", "a"), (-1, 0), ("", "1"), (False, False), (0, 1))
    with pytest.raises(mb.UsageError, match="make it by Mechanism"):
        by_hand.draw()
