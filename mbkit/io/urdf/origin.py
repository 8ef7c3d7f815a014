"""Poses in URDF files: the element <origin>."""

from __future__ import annotations

import numpy as np

from mbkit.io.xml.angles import rotation_from_rpy
from mbkit.io.xml.values import Part
from mbkit.lie.arrays import pose
from mbkit.spatial import FloatArray


def pose_of(part: Part) -> FloatArray:
    """Return the pose (4, 4) of the child <origin>, the identity where there is none."""
    origin = part.child("origin")
    return np.eye(4) if origin is None else pose_in(origin)


def pose_in(origin: Part) -> FloatArray:
    """Return the pose (4, 4) of an <origin> and its like."""
    shift = origin.numbers("xyz", 3, np.zeros(3))
    C = pose(rotation_of(origin), shift)
    origin.done()
    return C


def rotation_of(origin: Part) -> FloatArray:
    """Return the rotation (3, 3) of an <origin> and its like: rpy, since 1.2 also quat_xyzw."""
    if "quat_xyzw" not in origin.element.attributes:
        return rotation_from_rpy(origin.numbers("rpy", 3, np.zeros(3)))
    if origin.text("rpy", required=False) is not None:
        origin.fault("takes either rpy or quat_xyzw, got both; leave one out.")
    before = origin.reading.num_faults
    values = origin.numbers("quat_xyzw", 4)
    if origin.reading.num_faults > before:
        return np.eye(3)
    return origin.rotation_from_xyzw("quat_xyzw", values)
