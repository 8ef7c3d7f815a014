"""From a graph to a spanning tree in regular numbering."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from mbkit.errors import NameUnknownError, TopologyError, UsageError, listed, suggestion
from mbkit.topology.cuts import choose_loop_joints
from mbkit.topology.forest import Forest
from mbkit.topology.graph import WORLD, BodyGraph, JointEdge, check_connected
from mbkit.topology.topology import Topology

__all__ = ["build_topology", "numbered_tree"]


def build_topology(graph: BodyGraph, loop_joints: Collection[str] | None = None) -> Topology:
    """Return a spanning tree of a graph, and the joints that close loops.

    If `loop_joints` are given, the other joints must make a tree. Else they are chosen: the best
    cut has, in this order,

    1. the fewest loop joints whose configuration is searched for, see `JointEdge`;
    2. the fewest constraint rows: 6 for each loop joint, less its velocities, so that joints of
       many freedoms are cut. As the rows less the velocities of the tree are the same for every
       cut, it is also one of the fewest velocities;
    3. the shallowest tree: the fewest joints between the world and the body that has the most, and
       then the fewest in the mean over all bodies;
    4. the joints that were added first in the tree: of the first two joints, in the order of
       adding, in which two trees differ, the earlier one is in the tree.

    The first two hold in any case. The rest holds in any case where the joints of each block
    (a part of the graph that no single body holds together, a ring for example) have equally many
    velocities, and otherwise if all cuts of fewest rows can be looked at: 10,000 trees, or as many
    as have 1,000,000 bodies together. Beyond that it is the best that was found.

    Joints whose motion is prescribed, nonholonomic joints, and joints that a force or a constraint
    acts along stay in the tree whatever they cost. Children stand in the order in which their
    joints were added. TopologyError if a body is not connected to the world, or is not without the
    loop joints; if loops are left with all loop joints cut; if a loop joint must stay in the tree,
    or all joints of a loop must.

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
    edges = {edge.name: edge for edge in graph.edges()}
    cut = frozenset(edge.name for edge in edges.values() if edge.is_cut)
    if loop_joints is None:
        _check_held(edges)
        check_connected(graph, cut)
        tree = _tree(graph, cut := choose_loop_joints(tuple(graph.bodies()), graph.edges()))
    else:
        _check_loop_joints(loop_joints, edges)
        tree = _tree(graph, cut := cut.union(loop_joints))
        check_connected(graph, cut)
    loops = [edge for name, edge in edges.items() if name in cut]
    return numbered_tree(tree.walk(WORLD), edges, loops)


def _check_loop_joints(loop_joints: Collection[str], edges: Mapping[str, JointEdge]) -> None:
    if isinstance(loop_joints, str):
        raise UsageError(
            f"loop_joints must be a collection of names, got {loop_joints!r}; write "
            f"[{loop_joints!r}]."
        )
    for name in loop_joints:
        if name not in edges:
            raise NameUnknownError(
                f"Loop joint {name!r} is no joint of the mechanism; {suggestion(name, edges)}"
            )
        if edges[name].held:
            raise TopologyError(
                f"Joint {name!r} must stay in the tree, for {edges[name].held}; leave it out of "
                "loop_joints, and cut another joint of its loop."
            )


def held_loop(edges: Collection[JointEdge]) -> tuple[str, ...]:
    """Return the joints along a loop in which all must stay in the tree; empty if there is none."""
    held = Forest(end for edge in edges for end in (edge.predecessor, edge.successor))
    for edge in edges:
        if not edge.held:
            continue
        ends = edge.predecessor, edge.successor
        if held.connects(*ends):
            return (edge.name, *held.path(*ends))
        held.add(edge.name, *ends)
    return ()


def _check_held(edges: Mapping[str, JointEdge]) -> None:
    """Raise if joints that must stay in the tree close a loop among themselves."""
    loop = held_loop(edges.values())
    if loop:
        edge = edges[loop[0]]
        cut = {edge.predecessor if edge.successor == WORLD else edge.successor: edge.name}
        raise TopologyError(
            f"The loop of the joints {listed(loop)} cannot be cut at a joint: all of them must "
            f"stay in the tree, {loop[0]!r} for {edge.held}. A body of it can be cut "
            f"instead: Mechanism.assemble cuts one that has mass by itself, if there is one, and "
            f"mbkit.RelativeCoordinates(cut_bodies={cut!r}) says which. Or take one of the joints "
            f"out of the loop, or let one move freely and apply a force instead."
        )


def _tree(graph: BodyGraph, cut: Collection[str]) -> Forest:
    """Return the bodies with the joints that are not cut, which must not close a loop."""
    tree = Forest(graph.bodies())
    for name, *ends in graph.joints():
        if name in cut:
            continue
        if tree.connects(*ends):
            cycle = listed((name, *tree.path(*ends)))
            raise TopologyError(
                f"The loop of the joints {cycle} must be cut by one of loop_joints, and is not; "
                "add one of them."
            )
        tree.add(name, *ends)
    return tree


def numbered_tree(
    walk: Iterable[tuple[str, str, str]],
    edges: Mapping[str, JointEdge],
    loops: Sequence[JointEdge],
) -> Topology:
    """Return the topology of a tree whose bodies are numbered in the order of a walk.

    A step of the walk has the body from which, the body to which and the joint by which it leads,
    outwards from the world. `edges` are all joints, `loops` those outside the tree. The cost is
    linear in bodies and in the joints of cycles.
    """
    number = {WORLD: 0}
    parent, joints, is_reversed = [-1], [""], [False]
    for towards, body, joint in walk:
        number[body] = len(number)
        parent.append(number[towards])
        joints.append(joint)
        is_reversed.append(edges[joint].predecessor == body)
    ends = [(number[edge.successor], number[edge.predecessor]) for edge in loops]
    return Topology(
        bodies=tuple(number),
        parent=tuple(parent),
        joint_of_body=tuple(joints),
        reversed=tuple(is_reversed),
        freedoms=(0, *(edges[joint].num_velocities for joint in joints[1:])),
        loop_joints=tuple(edge.name for edge in loops),
        cycles=tuple(
            (edge.name, *_path_in_tree(parent, joints, *pair))
            for edge, pair in zip(loops, ends, strict=True)
        ),
        loop_freedoms=tuple(edge.num_velocities for edge in loops),
        edges=tuple(edges.values()),
    )


def _path_in_tree(parent: list[int], joints: list[str], start: int, end: int) -> list[str]:
    """Return the joints between two bodies by number: as many steps as the path has."""
    out, back = [], []
    while start != end:
        if start > end:  # parents have lower numbers
            out.append(joints[start])
            start = parent[start]
        else:
            back.append(joints[end])
            end = parent[end]
    return out + back[::-1]
