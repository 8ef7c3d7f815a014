"""Quantities of rigid motion: inertias, poses, and checked arrays."""

from mbkit.spatial.arrays import FloatArray as FloatArray
from mbkit.spatial.frames import inverse as inverse
from mbkit.spatial.frames import nearest_rotation as nearest_rotation
from mbkit.spatial.frames import pose_from_quaternion as pose_from_quaternion
from mbkit.spatial.frames import rotation as rotation
from mbkit.spatial.frames import rotation_from_quaternion as rotation_from_quaternion
from mbkit.spatial.frames import translation as translation
from mbkit.spatial.inertia import SpatialInertia as SpatialInertia

__all__ = [
    "FloatArray",
    "SpatialInertia",
    "inverse",
    "nearest_rotation",
    "pose_from_quaternion",
    "rotation",
    "rotation_from_quaternion",
    "translation",
]
