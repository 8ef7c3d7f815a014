"""The choice of cut joints, against all spanning trees, and against networkx."""

from __future__ import annotations

import itertools

import hypothesis
import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest

import mbkit as mb
from mbkit.topology import BodyGraph, build_topology, cut_search


@st.composite
def graphs(draw, most_bodies=5, most_loops=4):
    """A connected graph of bodies, with joints of all freedoms, some of which must stay."""
    bodies = [f"b{k}" for k in range(draw(st.integers(1, most_bodies)))]
    nodes = ["world", *bodies]
    pairs = [(nodes[draw(st.integers(0, k))], body) for k, body in enumerate(bodies)]
    loops = range(draw(st.integers(0, most_loops)))
    pairs += [draw(st.permutations(nodes))[:2] for _ in loops]
    freedoms = draw(st.sampled_from([(1,), (1, 3), (0, 1, 2, 3, 6)]))
    graph, held = BodyGraph(), nx.Graph()
    for body in bodies:
        graph.add_body(body)
    for k, (a, b) in enumerate(draw(st.permutations(pairs))):
        stays = draw(st.integers(0, 5)) == 0
        if stays := stays and not (
            held.has_node(a) and held.has_node(b) and nx.has_path(held, a, b)
        ):
            held.add_edge(a, b)
        freedom = draw(st.sampled_from(freedoms))
        ends = (a, b) if draw(st.booleans()) else (b, a)
        reason = "it was told to" if stays else ""
        graph.add_joint(f"j{k}", *ends, freedom, num_positions=freedom + freedom // 3, held=reason)
    return graph


def judged(graph, loops):
    """Return what ranks the cut of the edges `loops`, or None if the others make no tree."""
    edges = graph.edges()
    left = [edge for edge in edges if edge not in loops]
    tree = nx.MultiGraph([(edge.predecessor, edge.successor) for edge in left])
    tree.add_nodes_from(graph.bodies())
    if not nx.is_tree(tree) or any(edge.held for edge in loops):
        return None
    depths = nx.shortest_path_length(tree, "world").values()
    rows = sum(6 - edge.num_velocities for edge in loops)
    kept = [edges.index(edge) for edge in left]  # the lesser, the earlier were they added
    return rows, max(depths), sum(depths), kept


def all_cuts(graph):
    """Return (rank, loop joints) of all spanning trees, the best first."""
    edges = graph.edges()
    count = len(edges) - len(list(graph.bodies())) + 1
    ranked = [
        (judged(graph, loops), tuple(edge.name for edge in loops))
        for loops in itertools.combinations(edges, count)
    ]
    return sorted(each for each in ranked if each[0] is not None)


@hypothesis.settings(max_examples=25)
@hypothesis.given(graphs())
def test_cuts_are_all_spanning_trees_in_the_order_of_the_rule(graph):
    """Fewest rows, then least depth and mean depth, then the joints added first in the tree."""
    expected = all_cuts(graph)
    topology = build_topology(graph)
    assert topology.loop_joints == expected[0][1]
    cuts = topology.cuts(limit=len(expected) + 1)
    assert [cut.loop_joints for cut in cuts] == [loops for _, loops in expected]
    assert [cut.num_constraints for cut in cuts] == [rank[0] for rank, _ in expected]
    assert [cut.depth for cut in cuts] == [rank[1] for rank, _ in expected]
    bodies = len(topology.bodies) - 1
    assert [round(cut.mean_depth * bodies) for cut in cuts] == [rank[2] for rank, _ in expected]
    assert (cuts.are_all, cuts.num_found, cuts.chosen) == (True, len(expected), cuts[0])


@hypothesis.given(graphs(most_bodies=6))
def test_the_number_of_cuts_is_that_of_the_matrix_tree_theorem(graph):
    """Kirchhoff: the determinant of the reduced Laplacian, held joints contracted."""
    held = nx.MultiGraph([(e.predecessor, e.successor) for e in graph.edges() if e.held])
    held.add_nodes_from(graph.bodies())
    part = {body: k for k, group in enumerate(nx.connected_components(held)) for body in group}
    laplacian = np.zeros((len(set(part.values())),) * 2)
    for edge in graph.edges():
        i, j = part[edge.predecessor], part[edge.successor]
        if i != j:
            laplacian[[i, j], [i, j]] += 1.0
            laplacian[[i, j], [j, i]] -= 1.0
    count = round(np.linalg.det(laplacian[1:, 1:])) if len(laplacian) > 1 else 1
    assert build_topology(graph).cuts().num_found == count


@hypothesis.settings(max_examples=25)
@hypothesis.given(graphs())
def test_sizes_are_those_of_the_topology_that_is_cut_so(graph):
    """And rows less velocities are less the mobility, whatever is cut."""
    topology = build_topology(graph)
    for cut in topology.cuts():
        again = build_topology(graph, cut.loop_joints)
        assert again.loop_joints == cut.loop_joints
        assert again.num_constraints == cut.num_constraints
        assert sum(again.freedoms) == cut.num_velocities
        assert cut.depth == max(again.depth(body) for body in again.bodies)
        assert cut.num_constraints - cut.num_velocities == -topology.mobility
        assert again.cuts().chosen == cut
        tree = {edge.name: edge for edge in graph.edges() if edge.name not in cut.loop_joints}
        assert cut.num_positions == sum(edge.num_positions for edge in tree.values())
        for body, joint, is_reversed in zip(
            again.bodies[1:], again.tree_joints, again.reversed[1:], strict=True
        ):
            edge = tree[joint]
            assert body == (edge.predecessor if is_reversed else edge.successor)


def grid(size, freedom):
    """Bodies in a square, joints between neighbours, the first body on the world."""
    graph = BodyGraph()
    for i, j in itertools.product(range(size), repeat=2):
        graph.add_body(f"{i},{j}")
    graph.add_joint("base", "world", "0,0", 1)
    for i, j in itertools.product(range(size), repeat=2):
        for k, (x, y) in enumerate(((i + 1, j), (i, j + 1))):
            if max(x, y) < size:
                name = f"{i},{j} {'right' if k else 'down'}"
                graph.add_joint(name, f"{i},{j}", f"{x},{y}", freedom(i, j, k))
    return graph


@pytest.mark.some(2)
@pytest.mark.parametrize("trees", [1, 100, 1000])
def test_rows_are_the_fewest_however_short_the_search(monkeypatch, trees):
    """Those of networkx' minimum spanning tree; a longer search finds no deeper a tree."""
    monkeypatch.setattr(cut_search, "MOST_TREES", trees)
    graph = grid(7, lambda i, j, k: 1 + (3 * i + 5 * j + k) % 4)
    weighted = nx.MultiGraph()
    for edge in graph.edges():
        weighted.add_edge(edge.predecessor, edge.successor, weight=edge.num_velocities)
    tree = nx.minimum_spanning_tree(weighted)
    topology = build_topology(graph)
    assert sum(topology.freedoms) == tree.size(weight="weight")
    cuts = topology.cuts(limit=5)
    assert not cuts.are_all
    assert min(cut.num_constraints for cut in cuts) == topology.num_constraints
    monkeypatch.setattr(cut_search, "MOST_TREES", 0)
    quick = build_topology(graph)
    assert cuts.chosen.depth <= quick.cuts().chosen.depth


def test_depth_is_the_least_where_all_joints_are_alike():
    """A grid of hinges, far too many trees to look at: each body is as near as in the graph."""
    graph = grid(20, lambda i, j, k: 1)
    topology = build_topology(graph)
    distances = nx.single_source_shortest_path_length(
        nx.Graph(graph.copy().to_undirected()), "world"
    )
    assert {body: topology.depth(body) for body in topology.bodies} == distances


def chain_of_rings(rings, size):
    """Rings of hinges with one body of the ring before in each: blocks that share a body."""
    graph, held = BodyGraph(), "world"
    for r in range(rings):
        bodies = [f"{r}.{k}" for k in range(size)]
        for body in bodies:
            graph.add_body(body)
        ring = [held, *bodies, held]
        for k, (a, b) in enumerate(itertools.pairwise(ring)):
            graph.add_joint(f"{r}.{k}", a, b, freedom=1 + r % 2)
        held = bodies[size // 2]
    return graph


def test_rings_of_their_own_kind_are_each_cut_in_the_middle():
    """Of forty rings in a row there are 6^40 trees; each ring is judged by itself."""
    topology = build_topology(chain_of_rings(40, size=5))
    assert topology.loop_joints == tuple(f"{r}.3" for r in range(40))


def test_a_long_ring_is_cut_in_the_middle():
    """A thousand bodies, with hinges and universal joints by turns."""
    count = 1_000
    graph = BodyGraph()
    names = ["world", *map(str, range(count)), "world"]
    for name in names[1:-1]:
        graph.add_body(name)
    for k, (a, b) in enumerate(itertools.pairwise(names)):
        graph.add_joint(f"j{k}", a, b, freedom=1 + k % 2)
    topology = build_topology(graph)
    assert topology.num_constraints == 4
    cut = int(topology.loop_joints[0][1:])
    assert cut % 2 == 1
    assert max(cut, count - cut) <= count // 2 + 1


def four_bar():
    mech = mb.Mechanism("four-bar")
    bodies = [mech.add_body(mb.Body(name)) for name in ("crank", "coupler", "rocker")]
    for name, a, b in zip("ABCD", [mech.world, *bodies], [*bodies, mech.world], strict=True):
        mech.add_joint(mb.RevoluteJoint(name), a, b)
    return mech


def test_joints_of_many_freedoms_are_cut():
    """A Stewart platform opens at five of its ball joints: three rows each."""
    mech = mb.Mechanism("platform")
    mech.add_body(mb.Body("platform"))
    for k in range(6):
        lower, upper = mech.add_body(mb.Body(f"lower {k}")), mech.add_body(mb.Body(f"upper {k}"))
        mech.add_joint(mb.UniversalJoint(f"U{k}"), mech.world, lower)
        mech.add_joint(mb.PrismaticJoint(f"P{k}"), lower, upper)
        mech.add_joint(mb.SphericalJoint(f"S{k}"), upper, "platform")
    topology = mech.topology()
    assert topology.loop_joints == ("S1", "S2", "S3", "S4", "S5")
    assert (topology.num_constraints, topology.mobility) == (15, 6)
    cuts = topology.cuts()
    assert [cut.num_constraints for cut in cuts[:7]] == [15] * 6 + [16]
    assert (cuts[0].num_velocities, cuts[0].num_positions) == (21, 22)


class Rolling(mb.Joint):
    """A knife edge in the plane: it goes where it points, and turns."""

    num_positions, num_velocities, ndx = 3, 2, 3

    def pose(self, q):
        T = np.eye(4)
        c, s = np.cos(q[2]), np.sin(q[2])
        T[:2, :2] = [[c, -s], [s, c]]
        T[:2, 3] = q[:2]
        return T

    def rates(self, q, v):
        return np.array([v[0] * np.cos(q[2]), v[0] * np.sin(q[2]), v[1]])


HELD = {
    "its motion is prescribed": lambda name: mb.CylindricalJoint(name).prescribe(
        lambda t: np.array([t, 0.0])
    ),
    r"it is nonholonomic: it has 2 velocities, and positions of 3 dimensions": Rolling,
}


@pytest.mark.parametrize("reason", HELD)
def test_some_joints_stay_in_the_tree(reason):
    """Though they would cost fewer rows than the hinges, and with a remedy for who cuts them."""
    mech = mb.Mechanism("driven")
    a, b = (mech.add_body(mb.Body(name)) for name in "ab")
    mech.add_joint(mb.RevoluteJoint("first"), mech.world, a)
    mech.add_joint(HELD[reason]("held"), a, b)
    mech.add_joint(mb.RevoluteJoint("last"), b, mech.world)
    assert mech.topology().loop_joints == ("last",)
    assert all("held" not in cut.loop_joints for cut in mech.topology().cuts())
    with pytest.raises(
        mb.TopologyError,
        match=f"^Joint 'held' must stay in the tree, for {reason};.*cut another joint of its loop",
    ):
        mech.topology(["held"])
    mech.add_joint(HELD[reason]("too"), b, a)
    with pytest.raises(
        mb.TopologyError, match=f"joints 'too', 'held' cannot be cut.*'too' for {reason}"
    ):
        mech.topology()


def test_joints_that_are_cut_anyway_are_in_every_cut():
    """A weld costs most, and yet stays out of the tree."""
    graph = BodyGraph()
    for body in ("a", "b"):
        graph.add_body(body)
    graph.add_joint("1", "world", "a", 1)
    graph.add_joint("2", "world", "b", 1)
    graph.add_joint("weld", "a", "b", 0, is_cut=True)
    assert build_topology(graph).loop_joints == ("weld",)
    graph.add_joint("3", "world", "b", 2)
    topology = build_topology(graph)
    assert topology.loop_joints == ("weld", "3")
    assert [cut.loop_joints for cut in topology.cuts()] == [("weld", "3"), ("2", "weld")]
    assert build_topology(graph, ["2"]).loop_joints == ("2", "weld")


def test_the_table_marks_the_chosen_cut():
    """Also where it is not among the best; a tree has one cut, of nothing."""
    table = repr(four_bar().topology(["A"]).cuts(limit=2)).splitlines()
    assert [line.split() for line in table[:-1]] == [
        ["rows", "depth", "mean", "nq", "nv", "loop", "joints"],
        ["5", "2", "1.33", "3", "3", "C"],
        ["5", "2", "1.33", "3", "3", "B"],
        ["*", "5", "3", "2.00", "3", "3", "A"],
    ]
    assert table[-1] == "(the best 2 of 4 cuts)"
    tree = build_topology(chain_of_rings(0, 1)).cuts()
    assert repr(tree).splitlines()[1].split() == ["*", "0", "0", "0.00", "0", "0", "none"]
    assert len(tree) == 1


def test_of_many_loop_joints_the_table_shows_the_others():
    """Ten rings: what is cut instead of what."""
    cuts = build_topology(chain_of_rings(10, size=2)).cuts(limit=3)
    lines = repr(cuts).splitlines()
    assert lines[1].startswith("*")
    for cut, line in zip(cuts[1:], lines[2:-1], strict=True):
        ours, best = set(cut.loop_joints), set(cuts[0].loop_joints)
        assert set(line.split("  ")[-1].split(" for ")[0].split(", ")) == ours - best
    assert lines[-1].startswith("(the best 3 of ")


def test_cuts_need_to_know_the_ends_of_joints():
    """A topology by hand has none; and a limit is a count."""
    by_hand = mb.Topology(("world", "a"), (-1, 0), ("", "1"), (False, False), (0, 1))
    with pytest.raises(
        mb.UsageError, match=r"has 1 joints and the ends of 0; make it by Mechanism"
    ):
        by_hand.cuts()
    for limit in (0, 2.5):
        with pytest.raises(mb.UsageError, match=f"limit must be .* from 1 on, got {limit}"):
            four_bar().topology().cuts(limit=limit)
