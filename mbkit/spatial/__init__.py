"""Quantities of rigid motion: inertias, poses, and checked arrays."""

from mbkit.spatial.arrays import FloatArray as FloatArray
from mbkit.spatial.frames import inverse as inverse
from mbkit.spatial.frames import nearest_rotation as nearest_rotation
from mbkit.spatial.frames import pose_from_quaternion as pose_from_quaternion
from mbkit.spatial.frames import rotation as rotation
from mbkit.spatial.frames import rotation_from_quaternion as rotation_from_quaternion
from mbkit.spatial.frames import translation as translation
from mbkit.spatial.inertia import SpatialInertia as SpatialInertia
from mbkit.spatial.log_cholesky import from_log_cholesky as from_log_cholesky
from mbkit.spatial.log_cholesky import log_cholesky as log_cholesky
from mbkit.spatial.log_cholesky import log_cholesky_jacobian as log_cholesky_jacobian
from mbkit.spatial.newton_euler import inertia_matrix as inertia_matrix
from mbkit.spatial.newton_euler import newton_euler as newton_euler
from mbkit.spatial.newton_euler import newton_euler_bias as newton_euler_bias
from mbkit.spatial.newton_euler import newton_euler_in_frames as newton_euler_in_frames
from mbkit.spatial.quantities import Acceleration as Acceleration
from mbkit.spatial.quantities import Twist as Twist
from mbkit.spatial.quantities import Wrench as Wrench
from mbkit.spatial.screw import Screw as Screw
from mbkit.spatial.screw import reciprocal_product as reciprocal_product
from mbkit.spatial.typed import typed_accelerations as typed_accelerations
from mbkit.spatial.typed import typed_twists as typed_twists
from mbkit.spatial.typed import typed_wrenches as typed_wrenches

__all__ = [
    "Acceleration",
    "Screw",
    "SpatialInertia",
    "Twist",
    "Wrench",
    "from_log_cholesky",
    "inertia_matrix",
    "inverse",
    "log_cholesky",
    "log_cholesky_jacobian",
    "nearest_rotation",
    "newton_euler",
    "newton_euler_bias",
    "newton_euler_in_frames",
    "pose_from_quaternion",
    "reciprocal_product",
    "rotation",
    "rotation_from_quaternion",
    "translation",
    "typed_accelerations",
    "typed_twists",
    "typed_wrenches",
]
