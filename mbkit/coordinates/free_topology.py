"""The spanning tree of bodies that move by themselves: shallow, and found without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbkit.topology import WORLD, JointEdge, Topology

if TYPE_CHECKING:
    from mbkit.coordinates.free_bodies import FreeBodies
    from mbkit.model.parts import Parts

__all__ = ["free_topology"]


def free_topology(parts: Parts, division: FreeBodies) -> Topology:
    """Return the tree of the parts that `FreeBodies` makes, in regular numbering, depth-first.

    In it are the free joints, those that fix bodies to them, and those that keep coordinates with
    the parts of bodies on them; all others close loops.

    Parameters
    ----------
    parts : Parts
        Bodies and joints, divided.
    division : FreeBodies
        How.

    Returns
    -------
    Topology
        At a cost that is linear in bodies and joints.
    """
    children: dict[str, list[tuple[str, str]]] = {
        WORLD: [(name, root) for root, name in division.names.items()]
    }
    for joint, towards, body in division.groups.steps:
        children.setdefault(towards, []).append((joint, body))
    for each in division.hanging:
        edge = parts.joints[each.joint]
        towards = edge.predecessor if edge.successor == each.name else edge.successor
        children.setdefault(towards, []).append((each.joint, each.name))
    number, parent, joints, is_reversed = {WORLD: 0}, [-1], [""], [False]
    waiting = [(WORLD, *child) for child in reversed(children.get(WORLD, []))]
    while waiting:
        towards, joint, body = waiting.pop()
        number[body] = len(number)
        parent.append(number[towards])
        joints.append(joint)
        is_reversed.append(parts.joints[joint].predecessor == body)
        waiting += [(body, *child) for child in reversed(children.get(body, []))]
    in_tree = set(joints)
    edges = {name: _edge(parts, name) for name in parts.joints}
    loops = [edge for name, edge in edges.items() if name not in in_tree]
    return Topology(
        bodies=tuple(number),
        parent=tuple(parent),
        joint_of_body=tuple(joints),
        reversed=tuple(is_reversed),
        freedoms=(0, *(edges[joint].num_velocities for joint in joints[1:])),
        loop_joints=tuple(edge.name for edge in loops),
        cycles=tuple(
            (edge.name, *_path(number[edge.successor], number[edge.predecessor], parent, joints))
            for edge in loops
        ),
        loop_freedoms=tuple(edge.num_velocities for edge in loops),
        edges=tuple(edges.values()),
    )


def _edge(parts: Parts, name: str) -> JointEdge:
    edge = parts.joints[name]
    joint = edge.joint
    return JointEdge(
        name, edge.predecessor, edge.successor, joint.num_velocities, joint.num_positions
    )


def _path(start: int, end: int, parent: list[int], joints: list[str]) -> list[str]:
    """Return the joints of the tree's path between two bodies; numbers grow outwards."""
    here: list[str] = []
    there: list[str] = []
    while start != end:
        if start > end:
            here.append(joints[start])
            start = parent[start]
        else:
            there.append(joints[end])
            end = parent[end]
    return [*here, *reversed(there)]
