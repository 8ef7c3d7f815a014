"""Queries of a spanning tree, against networkx on random trees."""

from __future__ import annotations

import itertools

import hypothesis
import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest

import mbkit as mb
from mbkit.topology import BodyGraph, build_topology
from tests.trees import random_mechanism, random_state


@st.composite
def trees(draw):
    """A tree of up to 30 bodies, joints either way round and in any order, and its topology.

    The graph is networkx' own, with the joint of each edge and its predecessor.
    """
    count = draw(st.integers(1, 30))
    parents = [draw(st.integers(0, k)) for k in range(count)]
    names = ["world", *(f"b{k}" for k in range(count))]
    edges = [(names[parents[k]], names[k + 1], f"j{k}") for k in range(count)]
    graph, tree = BodyGraph(), nx.Graph()
    for name in names[1:]:
        graph.add_body(name)
    for inner, outer, joint in draw(st.permutations(edges)):
        ends = (outer, inner) if draw(st.booleans()) else (inner, outer)
        graph.add_joint(joint, *ends)
        tree.add_edge(inner, outer, joint=joint, predecessor=ends[0])
    pick = st.sampled_from(names)
    return tree, build_topology(graph), draw(pick), draw(pick)


@hypothesis.given(trees())
def test_paths_are_those_of_networkx(case):
    """Bodies, joints and directions of the shortest, which is the only, way between two bodies."""
    tree, topology, a, b = case
    path = topology.path(a, b)
    expected = nx.shortest_path(tree, a, b)
    steps = list(itertools.pairwise(expected))
    assert path.bodies == tuple(expected)
    assert path.joints == tuple(tree.edges[step]["joint"] for step in steps)
    assert path.directions == tuple(
        1 if tree.edges[step]["predecessor"] == step[0] else -1 for step in steps
    )
    assert len(path) == len(steps)
    assert path.reversed() == topology.path(b, a)
    assert path.reversed().reversed() == path
    assert topology.path_to_world(a) == topology.path(a, "world")


@hypothesis.given(trees())
def test_answers_are_those_of_a_directed_tree(case):
    """Children, subtree, depth and common ancestor are those of networkx' rooted tree."""
    tree, topology, a, b = case
    rooted = nx.bfs_tree(tree, "world")
    assert set(topology.children(a)) == set(rooted.successors(a))
    assert list(topology.children(a)) == sorted(topology.children(a), key=topology.number)
    assert set(topology.subtree(a)) == {a, *nx.descendants(rooted, a)}
    assert topology.depth(a) == nx.shortest_path_length(rooted, "world", a)
    ancestor = nx.lowest_common_ancestor(rooted, a, b)
    assert topology.common_ancestor(a, b) == topology.path(a, b).ancestor == ancestor


def test_poses_multiply_along_a_path():
    """The pose of one body in another is the product over the joints, inverted against them."""
    rng = np.random.default_rng(3)
    mech = random_mechanism(rng, 14, reach=4)
    system, topology = mech.assemble(), mech.topology()
    q = random_state(rng, system).q
    poses = dict(zip(system.body_names, system.poses(q), strict=True))
    longest = 0
    for a in system.body_names:
        for b in system.body_names:
            path = topology.path(a, b)
            longest = max(longest, len(path))
            C = np.eye(4)
            for name, direction in zip(path.joints, path.directions, strict=True):
                edge = mech.joints[name]
                T = edge.joint.pose(q[system.position_slice(name)])
                step = edge.S_pred @ T @ np.linalg.inv(edge.S_succ)
                C = C @ (step if direction == 1 else np.linalg.inv(step))
            np.testing.assert_allclose(C, np.linalg.inv(poses[a]) @ poses[b], atol=1e-12)
    assert longest > 5


def test_joints_that_close_loops_are_on_no_path():
    """Through a cut four-bar the way from rocker to world is the long one."""
    mech = mb.Mechanism("four-bar")
    for name in ("crank", "coupler", "rocker"):
        mech.add_body(mb.Body(name))
    ends = ["world", "crank", "coupler", "rocker", "world"]
    for k, name in enumerate("ABCD"):
        mech.add_joint(mb.RevoluteJoint(name), ends[k], ends[k + 1])
    path = mech.topology(["D"]).path_to_world("rocker")
    assert path.joints == ("C", "B", "A")
    assert mech.topology(["A"]).path_to_world("rocker").joints == ("D",)


def test_paths_through_long_chains_need_no_recursion():
    """A path through ten thousand bodies is walked, not recursed into."""
    names = [str(k) for k in range(10_000)]
    graph = BodyGraph()
    for k, name in enumerate(names):
        graph.add_body(name)
        graph.add_joint(f"j{k}", str(k - 1) if k else "world", name)
    topology = build_topology(graph)
    assert topology.path("world", names[-1]).bodies == ("world", *names)
    assert topology.depth(names[-1]) == 10_000


@pytest.mark.parametrize(
    "ask",
    [
        lambda topology: topology.children("arn"),
        lambda topology: topology.depth("arn"),
        lambda topology: topology.path("arn", "world"),
        lambda topology: topology.path("world", "arn"),
        lambda topology: topology.path_to_world("arn"),
        lambda topology: topology.common_ancestor("arm", "arn"),
    ],
)
def test_unknown_bodies_are_refused(ask):
    """With a guess."""
    mech = mb.Mechanism("arm")
    mech.add_joint(mb.RevoluteJoint("hinge"), "world", mech.add_body(mb.Body("arm")))
    with pytest.raises(mb.NameUnknownError, match=r"'arn' is not in this.*mean 'arm'\?"):
        ask(mech.topology())
