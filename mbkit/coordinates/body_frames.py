"""The frames in which the recursions run, one for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.joints.defaults.poses import pose_of
from mbkit.kernels import layout
from mbkit.spatial import SpatialInertia, inverse
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts
    from mbkit.topology import Topology

#: The choices there are.
BODY_FRAMES = ("user", "joint", "com", "world")


def frames_in_joints(
    choice: str,
    parts: Parts,
    topology: Topology,
    poses_in_rows: Mapping[str, tuple[int, FloatArray]],
    inertias: Sequence[SpatialInertia],
) -> list[FloatArray]:
    """Return the pose (4, 4) of each row's frame in the canonical frame of its joint.

    With U the pose of the user's body in its joint's frame (`poses_in_rows` has the row of each
    body and the pose) and A its pose in the world at the reference configuration: "user" is U;
    "com" is U moved to the centre of mass; "world" is U A^-1, which makes A the identity. Source of
    the last choice: Mueller 2018 ("Screw and Lie group theory in multibody dynamics", Multibody
    Syst. Dyn. 42), section 4.4. `inertias` are those of the rows, in canonical frames.
    """
    frames = [np.eye(4) for _ in inertias]
    poses = poses_of_tree(parts, topology) if choice == "world" else {}
    # regular numbering: of the bodies that share a row, the one on the joint comes first
    for name in reversed(topology.bodies[1:]):
        row, U = poses_in_rows[name]
        if row == 0:
            continue
        if choice == "world":
            frames[row] = U @ inverse(poses[name])
        elif choice == "user":
            frames[row] = U
        elif inertias[row].mass > 0.0:
            frames[row] = U.copy()
            frames[row][:3, 3] = inertias[row].com
    return frames


def poses_of_tree(parts: Parts, topology: Topology) -> dict[str, FloatArray]:
    """Return the pose of each body in the world at the reference configuration."""
    poses: dict[str, FloatArray] = {"world": np.eye(4)}
    for child, parent, name, is_reversed in topology.tree_edges:
        edge = parts.joints[name]
        T = pose_of(edge.joint, edge.reference)
        C = edge.S_pred @ T @ inverse(edge.S_succ)
        poses[child] = poses[parent] @ (inverse(C) if is_reversed else C)
    return poses


def set_own_frame(row: Any, frame: FloatArray) -> list[Any]:
    """Set the frame (4, 4) of a row's body in the canonical frame of its joint, which is set.

    Return objects to be kept alive for the row. Nothing is done for the identity: the joint's
    own path is the fastest.
    """
    from mbkit.kernels.compile import array_address

    if np.array_equal(frame, np.eye(4)):
        return []
    own_frame = np.concatenate([frame[:3, :3].ravel(), frame[:3, 3]])
    row["own_frame"] = array_address(own_frame)
    is_screw = row["kind"] == layout.SCREW
    row["kind"] = layout.SCREW_IN_OWN_FRAME if is_screw else layout.TABLE_IN_OWN_FRAME
    return [own_frame]
