"""The spanning tree in absolute coordinates: shallow, and found without a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mbkit.topology import WORLD, JointEdge, Topology, numbered_tree

if TYPE_CHECKING:
    from mbkit.coordinates.free_bodies import FreeBodies
    from mbkit.parts.parts import Parts

__all__ = ["free_topology"]


def free_topology(parts: Parts, bodies: FreeBodies) -> Topology:
    """Return the tree of the parts that `FreeBodies` makes, in regular numbering, depth-first.

    Its joints are the free joints, fixed joints between bodies that move as one, and joints that
    keep their coordinates, with parts of split bodies on them; all others are loop joints. The cost
    is linear in bodies and joints.
    """
    children: dict[str, list[tuple[str, str]]] = {
        WORLD: [(name, root) for root, name in bodies.names.items()]
    }
    for joint, towards, body in bodies.groups.steps:
        children.setdefault(towards, []).append((joint, body))
    for each in bodies.hanging:
        edge = parts.joints[each.joint]
        towards = edge.predecessor if edge.successor == each.name else edge.successor
        children.setdefault(towards, []).append((each.joint, each.name))
    steps = list(_walk(children))
    in_tree = {joint for _, _, joint in steps}
    edges = {name: _edge(parts, name) for name in parts.joints}
    loops = [edge for name, edge in edges.items() if name not in in_tree]
    return numbered_tree(steps, edges, loops)


def _walk(children: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[tuple[str, str, str]]:
    """Give each body with its parent and the joint between, depth-first."""
    waiting = [(WORLD, *child) for child in reversed(children.get(WORLD, []))]
    while waiting:
        towards, joint, body = waiting.pop()
        yield towards, body, joint
        waiting += [(body, *child) for child in reversed(children.get(body, []))]


def _edge(parts: Parts, name: str) -> JointEdge:
    edge = parts.joints[name]
    joint = edge.joint
    return JointEdge(
        name, edge.predecessor, edge.successor, joint.num_velocities, joint.num_positions
    )
