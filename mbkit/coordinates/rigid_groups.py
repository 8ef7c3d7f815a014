"""Groups of bodies connected by fixed joints, and reference poses of bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.joints.defaults.poses import pose_of
from mbkit.spatial import inverse
from mbkit.spatial.arrays import FloatArray
from mbkit.topology import WORLD

if TYPE_CHECKING:
    from mbkit.parts.connection import Connection
    from mbkit.parts.parts import Parts

#: A joint of a tree: its name, the body towards the root, the body beyond.
Step = tuple[str, str, str]


def spanning_steps(
    joints: Mapping[str, Connection], roots: Iterable[str], bodies: Iterable[str] = ()
) -> Iterator[Step]:
    """Give the joints by which bodies are reached, from the roots outwards.

    Each with the body towards the root and the one beyond. Of several paths the one with fewest
    joints is used, then the one whose joint was added first. A body that another root reaches is no
    root; the other `bodies` are roots if not reached.
    """
    around: dict[str, list[tuple[str, str]]] = {}
    for name, edge in joints.items():
        around.setdefault(edge.predecessor, []).append((name, edge.successor))
        around.setdefault(edge.successor, []).append((name, edge.predecessor))
    reached: set[str] = set()
    for root in (*roots, *bodies):
        if root in reached:
            continue
        reached.add(root)
        here = [root]
        while here:
            beyond = []
            for body in here:
                for name, other in around.get(body, ()):
                    if other not in reached:
                        reached.add(other)
                        beyond.append(other)
                        yield name, body, other
            here = beyond


def relative_pose(edge: Connection, towards: str) -> FloatArray:
    """Return the pose of one body of a joint in the other, `towards`, at the reference."""
    T = pose_of(edge.joint, edge.reference)
    C: FloatArray = edge.S_pred @ T @ inverse(edge.S_succ)
    return C if edge.predecessor == towards else inverse(C)


@final
@attrs.frozen(eq=False)
class RigidGroups:
    """Bodies in groups that move as one.

    The root of each body is the first body of its group that has mass, or the world. Steps are the
    fixed joints of each group, from its root outwards; members the bodies of each, in that order.
    """

    root: dict[str, str]
    steps: tuple[Step, ...]
    members: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, parts: Parts) -> RigidGroups:
        """Return the groups of the bodies of a mechanism."""
        fixed = {name: e for name, e in parts.joints.items() if e.joint.num_velocities == 0}
        massive = (name for name, body in parts.bodies.items() if body.inertia.mass > 0.0)
        root = {WORLD: WORLD}
        steps = tuple(spanning_steps(fixed, (WORLD, *massive), parts.bodies))
        for _, towards, body in steps:
            root[body] = root.setdefault(towards, towards)
        for body in parts.bodies:
            root.setdefault(body, body)
        members: dict[str, list[str]] = {}
        for _, _, body in steps:
            members.setdefault(root[body], []).append(body)
        roots = dict.fromkeys(root[body] for body in (WORLD, *parts.bodies))
        return cls(root, steps, {each: (each, *members.get(each, ())) for each in roots})

    def poses(self, parts: Parts) -> dict[str, Any]:
        """Return the pose of each body in the body that carries it."""
        found = {root: np.eye(4) for root in self.members}
        for name, towards, body in self.steps:
            found[body] = found[towards] @ relative_pose(parts.joints[name], towards)
        return found
