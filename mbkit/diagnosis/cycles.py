"""The loops of a mechanism by its joints, independent of the coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbkit.systems import System


def cycles(system: System) -> list[tuple[str, ...]]:
    """Return the joints of each loop: the loop joint, then the others from its successor.

    In relative coordinates the others are in the spanning tree. In absolute coordinates the tree is
    made of the joints of the mechanism, in their order, until one closes a loop.
    """
    ends = {name: (e.predecessor, e.successor) for name, e in system.joint_places.items()}
    free = set(system.free_joints)
    tree = [name for name in system.tree.joints[1:] if name not in free]
    loop_joints = system.arrays.closure.names[: system.arrays.closure.num_joints]
    if free:  # welds do not close a loop, if anything else does
        loop_joints = tuple(
            sorted(loop_joints, key=lambda name: not system.joint_places[name].is_weld)
        )
    around: dict[str, list[tuple[str, str]]] = {}
    group: dict[str, str] = {}
    found: list[str] = []
    for name in (*tree, *loop_joints):
        a, b = ends[name]
        if _root(group, a) == _root(group, b):
            found.append(name)
            continue
        group[_root(group, a)] = _root(group, b)
        around.setdefault(a, []).append((name, b))
        around.setdefault(b, []).append((name, a))
    return [(name, *_path(around, *reversed(ends[name]))) for name in found]


def _root(group: dict[str, str], body: str) -> str:
    while group.get(body, body) != body:
        group[body] = group.get(group[body], group[body])
        body = group[body]
    return body


def _path(around: dict[str, list[tuple[str, str]]], start: str, end: str) -> Iterator[str]:
    """Give the joints of a tree between two bodies, from the first to the second."""
    came: dict[str, tuple[str, str]] = {end: ("", end)}
    here = [end]
    while start not in came:
        beyond = []
        for body in here:
            for joint, other in around.get(body, ()):
                if other not in came:
                    came[other] = joint, body
                    beyond.append(other)
        here = beyond
    while start != end:
        joint, start = came[start]
        yield joint
