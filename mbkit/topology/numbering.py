"""From the steps of a walk over a spanning tree to its regular numbering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mbkit.topology.edge import WORLD, JointEdge
from mbkit.topology.topology import Topology

__all__ = ["numbered_tree"]


def numbered_tree(
    steps: Iterable[tuple[str, str, str]],
    edges: Mapping[str, JointEdge],
    loops: Sequence[JointEdge],
) -> Topology:
    """Return the topology of a tree whose bodies are numbered in the order of a walk.

    Parameters
    ----------
    steps : iterable of (str, str, str)
        From which body, to which one and by which joint, outwards from the world.
    edges : mapping of str to JointEdge
        All joints, in their order.
    loops : sequence of JointEdge
        Those that are not in the tree.

    Returns
    -------
    Topology
        At a cost that is linear in bodies and in the joints of cycles.
    """
    number = {WORLD: 0}
    parent, joints, is_reversed = [-1], [""], [False]
    for towards, body, joint in steps:
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
