"""Poses of the bodies of a mechanism at its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.coordinates.rigid_groups import relative_pose, spanning_steps
from mbkit.coordinates.spanning_trees import relative_tree
from mbkit.spatial.arrays import FloatArray
from mbkit.topology import WORLD

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts

__all__ = ["reference_poses"]

#: How far joints may be from neutral and count as such: in entries of a pose, lengths in parts of
#: the largest.
_SAME = 1e-9


def reference_poses(parts: Parts) -> tuple[dict[str, FloatArray], bool]:
    """Return the poses in the world with all joints neutral, and whether all joints are.

    If neutral joints do not close the loops, the joints in the default tree of
    `mbkit.RelativeCoordinates` are neutral.
    """
    poses: dict[str, FloatArray] = {WORLD: np.eye(4)}
    for name, towards, body in spanning_steps(parts.joints, (WORLD,)):
        poses[body] = poses[towards] @ relative_pose(parts.joints[name], towards)
    size = 1.0 + max((float(np.abs(C[:3, 3]).max()) for C in poses.values()), default=0.0)
    for edge in parts.joints.values():
        near, far = poses[edge.predecessor], poses[edge.successor]
        missing = np.abs(near @ relative_pose(edge, edge.predecessor) - far)
        if missing[:3, :3].max() > _SAME or missing[:3, 3].max() > _SAME * size:
            return _poses_of_the_tree(parts), False
    return poses, True


def _poses_of_the_tree(parts: Parts) -> dict[str, FloatArray]:
    divided, topology = relative_tree(parts)
    poses: dict[str, FloatArray] = {WORLD: np.eye(4)}
    for number, body in enumerate(topology.bodies[1:], start=1):
        towards = topology.bodies[topology.parent[number]]
        edge = divided.joints[topology.joint_of_body[number]]
        poses[body] = poses[towards] @ relative_pose(edge, towards)
    return {body: poses[body] for body in (WORLD, *parts.bodies)}
