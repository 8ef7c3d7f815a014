"""Centres of mass of bodies, for frames that may be anywhere along an axis or in space."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbkit.coordinates.rigid_groups import relative_pose
from mbkit.errors import DistanceWarning, listed
from mbkit.spatial.arrays import ORIGIN, FloatArray

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.parts.connection import Connection
    from mbkit.parts.parts import Parts
    from mbkit.spatial import SpatialInertia
    from mbkit.topology import Topology

#: Loss of a moment of inertia by rounding, in parts of it, from which on there is a warning.
_LOSS = 1e-7

#: Bodies whose radius of gyration is below that turn as point masses do. [m]
_POINT = 1e-6


def centres_of_bodies(parts: Parts, topology: Topology) -> dict[str, FloatArray]:
    """Return the centre of mass of each body, in its frame.

    For a body without mass it is the centre of mass of the bodies that it carries with all joints
    neutral, or its origin where these have no mass either.
    """
    centres = {name: np.array(body.inertia.com) for name, body in parts.bodies.items()}
    if all(body.inertia.mass > 0.0 for body in parts.bodies.values()):
        return centres
    carried = {
        name: (body.inertia.mass, body.inertia.first_moment) for name, body in parts.bodies.items()
    }
    for k in range(len(topology.bodies) - 1, 0, -1):  # from the tips inwards
        child, parent = topology.bodies[k], topology.bodies[topology.parent[k]]
        mass, moment = carried[child]
        if mass > 0.0:
            if parts.bodies[child].inertia.mass == 0.0:
                centres[child] = moment / mass
            if parent in carried:
                C = relative_pose(parts.joints[topology.joint_of_body[k]], parent)
                total, before = carried[parent]
                carried[parent] = total + mass, before + C[:3, :3] @ moment + mass * C[:3, 3]
    return centres


def centre_between(parts: Parts, edge: Connection) -> FloatArray:
    """Return the middle of the centres of mass of the bodies that a joint joins, in its frame."""
    centres = []
    for body, S in ((edge.predecessor, edge.S_pred), (edge.successor, edge.S_succ)):
        if body in parts.bodies:
            centres.append(seen_from(S, parts.bodies[body].inertia.com))
    return np.mean(centres, axis=0) if centres else ORIGIN


def seen_from(S: FloatArray, point: FloatArray) -> FloatArray:
    """Return a point of a body as seen from a frame on it."""
    seen: FloatArray = S[:3, :3].T @ (point - S[:3, 3])
    return seen


def warn_of_distance(
    joints: Sequence[Joint | None],
    inertias: Sequence[SpatialInertia],
    origins: FloatArray | None,
) -> None:
    """Warn of bodies so far from the point of reference that their moments are lost in rounding.

    Joints and inertias are those of the rows, these in their frames. `origins` (rows, 3) are
    centres of mass in the world at the reference configuration where, as in spatial twists, the
    world's origin is the point of reference.
    """
    for where, points in (("joint", [each.com for each in inertias]), ("world", origins)):
        if points is None:
            continue
        lost = {}
        for joint, inertia, point in zip(joints, inertias, points, strict=True):
            own = float(np.abs(inertia.moment_about_com).max())
            distance = math.hypot(*point)
            loss = inertia.mass * distance**2 * np.finfo(np.float64).eps
            point_mass = own <= inertia.mass * _POINT**2
            if joint is not None and not point_mass and loss > _LOSS * own:
                lost[joint.name] = loss / own, distance
        if lost:
            worst = max(lost, key=lost.__getitem__)
            loss, distance = lost[worst]
            digits = max(0, round(-math.log10(loss)))
            warnings.warn(
                f"Bodies that {listed(lost)} move are far from {_TOLD[where][0]}, by joint "
                f"{worst!r} {distance:.3g} m: {digits} digits are left of the moment of inertia. "
                f"{_TOLD[where][1]}",
                DistanceWarning,
                stacklevel=2,
            )


_TOLD = {
    "joint": (
        "the point at which velocities of the joint are said",
        "Give the joint a point beside its bodies, or joint frames by frames= or reference=.",
    ),
    "world": (
        "the world's origin, about which spatial twists measure them",
        "Compute in body-fixed twists, or put the origin beside the mechanism.",
    ),
}
