"""From a graph to a spanning tree in regular numbering."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from typing import Any

from mbkit.errors import NameUnknownError, TopologyError, suggestion
from mbkit.topology.graph import BodyGraph
from mbkit.topology.topology import WORLD, Topology

__all__ = ["build_topology"]

_SHOWN = 12  # names in a message


def build_topology(graph: BodyGraph, loop_joints: Collection[str] | None = None) -> Topology:
    """Return a spanning tree of a graph, and the joints that close loops.

    Parameters
    ----------
    graph : BodyGraph
        Bodies and joints.
    loop_joints : collection of str, optional
        Joints to be left out of the tree; the others must then make a tree. Without it, a joint
        closes a loop if those added before it connect its bodies already.

    Returns
    -------
    Topology
        Children stand in the order in which their joints were added.

    Raises
    ------
    NameUnknownError
        If a loop joint is unknown.
    TopologyError
        If a body is not connected to the world, or is not without the loop joints, or loops
        are left with all loop joints cut.

    Notes
    -----
    The tree of least sum of ranks, if a joint's rank is its place in the order of adding (Kruskal).

    Examples
    --------
    >>> graph = BodyGraph()
    >>> graph.add_body("rod")
    >>> graph.add_joint("left", "world", "rod")
    >>> graph.add_joint("right", "world", "rod")
    >>> build_topology(graph).loop_joints
    ('right',)
    >>> build_topology(graph, loop_joints=["left"]).tree_joints
    ('right',)
    """
    import networkx as nx

    ends = {name: (predecessor, successor) for name, predecessor, successor in graph.joints()}
    _check_known(loop_joints or (), ends)
    tree = nx.Graph()
    tree.add_nodes_from(graph.bodies())
    connected = nx.utils.UnionFind(tree)
    loops = []
    for name, (predecessor, successor) in ends.items():
        closes = connected[predecessor] == connected[successor]
        if closes if loop_joints is None else name in loop_joints:
            loops.append(name)
        elif closes:
            _refuse_left_loop(tree, name, ends[name])
        else:
            connected.union(predecessor, successor)
            tree.add_edge(predecessor, successor, joint=name)
    _check_connected(tree, loops if loop_joints is not None else [])
    return _numbered(tree, ends, loops, graph.freedom)


def _check_known(loop_joints: Collection[str], ends: Collection[str]) -> None:
    for name in loop_joints:
        if name not in ends:
            raise NameUnknownError(
                f"Loop joint {name!r} is no joint of the mechanism; {suggestion(name, ends)}"
            )


def _refuse_left_loop(tree: Any, name: str, ends: tuple[str, str]) -> None:
    cycle = ", ".join(repr(each) for each in (name, *_path_joints(tree, *ends)))
    raise TopologyError(
        f"The loop of the joints {cycle} must be cut by one of loop_joints, and is not; "
        "add one of them."
    )


def _check_connected(tree: Any, cut: list[str]) -> None:
    import networkx as nx

    reached = nx.node_connected_component(tree, WORLD)
    lost = [body for body in tree if body not in reached]
    if not lost:
        return
    names = ", ".join(repr(body) for body in lost[:_SHOWN])
    if len(lost) > _SHOWN:
        names += f" and {len(lost) - _SHOWN} more"
    one = len(lost) == 1
    remedy = (
        f"do not cut {', '.join(repr(name) for name in cut)}"
        if cut
        else "connect with a joint, an mbkit.FreeJoint for a body that floats"
    )
    raise TopologyError(
        f"{'Body' if one else 'Bodies'} {names} must be connected to the world by joints, and "
        f"{'is' if one else 'are'} not; {remedy}."
    )


def _numbered(
    tree: Any,
    ends: dict[str, tuple[str, str]],
    loops: list[str],
    freedom: Callable[[str], int],
) -> Topology:
    import networkx as nx

    number = {WORLD: 0}
    parent, joints, is_reversed = [-1], [""], [False]
    # networkx visits neighbours in the order in which edges were added
    for towards, body in nx.dfs_edges(tree, WORLD):
        joint = tree.edges[towards, body]["joint"]
        number[body] = len(number)
        parent.append(number[towards])
        joints.append(joint)
        is_reversed.append(ends[joint][0] == body)
    return Topology(
        bodies=tuple(number),
        parent=tuple(parent),
        joint_of_body=tuple(joints),
        reversed=tuple(is_reversed),
        freedoms=(0, *map(freedom, joints[1:])),
        loop_joints=tuple(loops),
        cycles=tuple((name, *_path_joints(tree, *reversed(ends[name]))) for name in loops),
        loop_freedoms=tuple(map(freedom, loops)),
    )


def _path_joints(tree: Any, start: str, end: str) -> list[str]:
    """Return the joints of the tree's path between two bodies."""
    import networkx as nx

    path = nx.shortest_path(tree, start, end)
    return [tree.edges[pair]["joint"] for pair in itertools.pairwise(path)]
