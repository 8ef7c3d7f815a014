"""Places of joints in pictures: a point of each on both of its bodies, and its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from mbkit.joints import FreeJoint, Joint
from mbkit.parts.placed_joints import placed_beside
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse

if TYPE_CHECKING:
    from mbkit.systems import System

#: Bound of zero, for a joint's motion subspace and for lengths in parts of the size.
_NOTHING = 1e-9


@final
@attrs.frozen(eq=False)
class DrawnJoint:
    """A joint of a system, with the data for drawing it.

    Attributes
    ----------
    name : str
        Of the joint.
    joint : Joint or None
        None of a weld.
    bodies : tuple of int
        Rows of predecessor and successor in `System.poses`.
    near, far : ndarray, shape (4, 4)
        Its frame on either body.
    point : ndarray, shape (3,)
        Where it is drawn, in its frame. [m]
    entries : slice or None
        Its positions in q; None of a joint that closes a loop.
    """

    name: str
    joint: Joint | None
    bodies: tuple[int, int]
    near: FloatArray
    far: FloatArray
    point: FloatArray
    entries: slice | None

    @property
    def is_free(self) -> bool:
        """Whether it lets its bodies move in all directions, and is not drawn."""
        return self.joint is not None and self.joint.num_velocities == 6

    @property
    def slides(self) -> bool:
        """Whether its motion is a translation, along any number of directions."""
        return self.joint is not None and self.joint.num_velocities > 0 and _slides(self.joint)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Its point on predecessor and successor, (3,) each, at the reference of the joint."""
        here = np.append(self.point, 1.0)
        return (self.near @ here)[:3], (self.far @ here)[:3]

    def columns(self, q: FloatArray, poses: FloatArray) -> FloatArray:
        """Return its motion subspace (nv, 6) in its frame on the successor.

        From the configuration (nq,) and the poses (bodies + 1, 4, 4) of the system.
        """
        assert self.joint is not None
        if self.entries is not None:
            own = q[self.entries]
        else:
            before, after = (poses[k] for k in self.bodies)
            own = self.joint.configuration_from_pose(inverse(before @ self.near) @ after @ self.far)
        return np.asarray(self.joint.motion_subspace(np.asarray(own))).T


def drawn_joints(system: System) -> tuple[DrawnJoint, ...]:
    """Return all joints of a system, welds and those that close loops included."""
    arrays = system.arrays
    known = dict(arrays.tree_joints)
    known |= {joint.name: joint for joint in arrays.closure.joints if joint is not None}
    q = system.reference_configuration()
    poses = system.poses(q)
    coms = system.inertias.coms
    found = []
    for name, place in system.joint_places.items():
        joint = None if place.is_weld else known.get(name)
        if joint is None and not place.is_weld:
            continue
        rows = system.body_index(place.predecessor), system.body_index(place.successor)
        centres = [poses[row] @ [*coms[row], 1.0] for row in rows if row]
        frame = poses[rows[1]] @ place.far
        point = _point(joint, inverse(frame) @ np.mean(centres, axis=0), frame)
        has_entries = joint is not None and name not in system.loop_joints
        entries = system.position_slice(name) if has_entries else None
        found.append(DrawnJoint(name, joint, rows, place.near, place.far, point, entries))
    return tuple(found)


def _point(joint: Joint | None, beside: FloatArray, frame: FloatArray) -> FloatArray:
    """Return where a joint is drawn, in its frame: the point it was given, if it has one.

    Else the point of its axis next to the bodies' centres of mass, `beside` (4,). A frame (4, 4)
    that is that of the world does not locate a translation.
    """
    turns = joint is not None and not _slides(joint)
    given = getattr(joint, "point", None)
    if turns and given is not None:
        return np.asarray(given, dtype=np.float64)
    if not turns and not np.allclose(frame, np.eye(4)):
        return np.zeros(3)
    if joint is None or isinstance(joint, FreeJoint):
        return beside[:3]
    return placed_beside(joint, beside[:3])[1][:3, 3]


def _slides(joint: Joint) -> bool:
    S = np.asarray(joint.motion_subspace(np.asarray(joint.neutral())))
    return bool(np.abs(S[:3]).max(initial=0.0) < _NOTHING)
