"""Rotation about a point."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import ConfigurationError
from mbkit.joints.joint import Joint
from mbkit.joints.kernels import JointKernels
from mbkit.spatial.arrays import (
    EQUAL,
    ORIGIN,
    FloatArray,
    frozen_array,
    owner,
    shown,
    stored_vector,
)
from mbkit.spatial.frames import translation, unit_rotation

__all__ = ["SphericalJoint"]


@final
@attrs.frozen
class SphericalJoint(Joint):
    """Rotation about a point, on the group of unit quaternions.

    The position is a unit quaternion (w, x, y, z), scalar first; the velocity is the angular
    velocity of the successor relative to the predecessor, in the axes of the successor's joint
    frame. [rad/s] The motion subspace of these quasi-velocities is constant.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    point : ndarray, shape (3,), default the origin
        The centre. [m]

    Raises
    ------
    ShapeError, GeometryError
        If `point` is not a finite vector of three.

    Examples
    --------
    >>> ball = SphericalJoint("ball", point=(0, 0, 1))
    >>> ball.neutral()
    array([1., 0., 0., 0.])
    >>> ball.pose(np.array([0.0, 1.0, 0.0, 0.0]))[:3, 3]
    array([0., 0., 2.])
    """

    num_positions = 4
    num_velocities = 3
    zero_reference = True

    name: str
    point: FloatArray = attrs.field(
        default=ORIGIN,
        converter=frozen_array,
        validator=stored_vector,
        eq=EQUAL,
        hash=False,
        repr=shown,
    )

    def pose(self, q: FloatArray) -> FloatArray:
        """Return (R(q), p - R(q) p), p the centre; see `Joint.pose`."""
        what = f"{owner(self)}: position"
        R = unit_rotation(q, what, ConfigurationError)
        T = np.eye(4)
        T[:3, :3] = R
        T[:3, 3] = self.point - R @ self.point
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return (I; p~): the centre p stands still."""
        x, y, z = self.point
        return np.vstack([np.eye(3), [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]])

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero: S is constant."""
        return np.zeros(6)

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return q exp(dx), dx a rotation vector in the successor's joint frame."""
        from mbkit.lie import UnitQuaternion

        moved = UnitQuaternion.compose(q, UnitQuaternion.exp(dx))
        unit: FloatArray = moved / np.linalg.norm(moved)  # or rounding would add up, step by step
        return unit

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return log(q0^-1 q1), at most pi long: the same for q1 and -q1."""
        from mbkit.lie import UnitQuaternion

        return UnitQuaternion.log(UnitQuaternion.compose(UnitQuaternion.inverse(q0), q1))

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return dexp_body^-1(x) v on SO(3)."""
        from mbkit.lie import SO3

        rate: FloatArray = SO3.dexp_body_inv(x) @ v
        return rate

    def neutral(self) -> FloatArray:
        """Return (1, 0, 0, 0)."""
        return np.array([1.0, 0.0, 0.0, 0.0])

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return the forces through the centre, (p~; I), along the successor's axes."""
        x, y, z = self.point
        return np.vstack([[[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], np.eye(3)])

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import spherical

        return JointKernels(
            motion=spherical.motion,
            retract=spherical.retract,
            difference=spherical.difference,
            dexp_inv=spherical.dexp_inv,
            constraint_wrenches=spherical.constraint_wrenches,
        )

    @property
    def canonical_frame(self) -> FloatArray:
        """Frame at the centre, with the axes of the joint frame."""
        return translation(self.point)
