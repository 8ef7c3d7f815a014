"""Poses: matrices (4, 4) that take coordinates in one frame to another, p_A = C_AB p_B."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.autodiff.marks import traced_as, without
from mbkit.errors import GeometryError, MbkitError
from mbkit.kernels.layout import QUATERNION_TOLERANCE
from mbkit.spatial.arrays import (
    FloatArray,
    check_array,
    frozen_array,
    owner,
    shown,
    with_key,
)

__all__ = [
    "check_pose",
    "inverse",
    "nearest_rotation",
    "pose_from_quaternion",
    "rotation",
    "rotation_from_quaternion",
    "stored_pose",
    "translation",
]

#: Largest entry of R^T R - I that a rotation may have: a larger one was typed with few
#: digits, and would make every later result as inexact.
ROTATION_TOLERANCE = 1e-9


def translation(position: ArrayLike) -> FloatArray:
    """Return the pose of a frame that is shifted and not turned.

    Parameters
    ----------
    position : array_like, shape (3,)
        Origin of the shifted frame. [m]

    Returns
    -------
    ndarray, shape (4, 4)
        The pose.

    Raises
    ------
    ShapeError, GeometryError
        If `position` is not a finite vector of three.

    Examples
    --------
    >>> translation((1.0, 2.0, 3.0))[:3, 3]
    array([1., 2., 3.])
    """
    p = frozen_array(position)
    check_array(p, (3,), "position")
    C = np.eye(4)
    C[:3, 3] = p
    return C


def rotation(axis: ArrayLike, angle: float, point: ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return the pose that a turn about an axis leads to.

    Parameters
    ----------
    axis : array_like, shape (3,)
        Direction of the axis, of any length but zero.
    angle : float
        How far, right-handed. [rad]
    point : array_like, shape (3,), default the origin
        A point of the axis; it stays where it is. [m]

    Returns
    -------
    ndarray, shape (4, 4)
        The pose.

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, or the axis is zero.

    Notes
    -----
    Rodrigues' formula, R = I + sin(angle) e~ + (1 - cos(angle)) e~^2.

    Examples
    --------
    >>> rotation((0, 0, 2), np.pi, point=(1, 0, 0))[:3, 3].round(12) + 0.0
    array([2., 0., 0.])
    """
    given, p = frozen_array(axis), frozen_array(point)
    check_array(given, (3,), "axis")
    check_array(p, (3,), "point")
    check_array(frozen_array(angle), (), "angle")
    if not given.any():
        raise GeometryError(f"axis must have a direction, got {shown(given)}.")
    x, y, z = given / math.hypot(*given)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    C = np.eye(4)
    # 1 - cos(a) = 2 sin(a/2)^2: no cancellation at small angles
    C[:3, :3] += math.sin(angle) * cross + 2.0 * math.sin(0.5 * angle) ** 2 * (cross @ cross)
    C[:3, 3] = p - C[:3, :3] @ p
    return C


def rotation_from_quaternion(quaternion_wxyz: ArrayLike) -> FloatArray:
    """Return the rotation matrix of a unit quaternion.

    Parameters
    ----------
    quaternion_wxyz : array_like, shape (4,)
        Scalar first, of length one within 1e-6; the rotation is that of Q / abs(Q).

    Returns
    -------
    ndarray, shape (3, 3)
        R = I + 2 (w p~ + p~^2), Q = (w, p).

    Raises
    ------
    ShapeError, GeometryError
        If it is not a finite vector of four, or its length is not one.

    Examples
    --------
    >>> rotation_from_quaternion((0.0, 0.0, 0.0, 1.0))
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    Q = frozen_array(quaternion_wxyz)
    check_array(Q, (4,), "quaternion_wxyz")
    return unit_rotation(Q, "quaternion_wxyz", GeometryError)


def unit_rotation(Q: FloatArray, what: str, error: type[MbkitError]) -> FloatArray:
    """Return the rotation matrix (3, 3) of a quaternion (4,); raise `error` unless it is a unit.

    NaN comes out where it comes in.
    """
    length = math.hypot(*Q)
    if abs(length * length - 1.0) > QUATERNION_TOLERANCE:
        raise error(
            f"{what} must be a unit quaternion, got {shown(Q)} of length {length:.9g}; "
            "divide it by its length."
        )
    w, x, y, z = Q / length
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    R: FloatArray = np.eye(3) + 2.0 * (w * cross + cross @ cross)
    return R


def pose_from_quaternion(
    position: ArrayLike = (0.0, 0.0, 0.0), quaternion_wxyz: ArrayLike = (1.0, 0.0, 0.0, 0.0)
) -> FloatArray:
    """Return the pose of a frame given by its origin and a unit quaternion.

    Parameters
    ----------
    position : array_like, shape (3,)
        Origin of the frame. [m]
    quaternion_wxyz : array_like, shape (4,)
        Scalar first, of length one.

    Returns
    -------
    ndarray, shape (4, 4)
        The pose.

    Raises
    ------
    ShapeError, GeometryError
        If an argument is not a finite vector, or the quaternion not of length one.

    Examples
    --------
    >>> pose_from_quaternion((1, 0, 0), (0, 1, 0, 0)).diagonal()
    array([ 1., -1., -1.,  1.])
    """
    C = translation(position)
    C[:3, :3] = rotation_from_quaternion(quaternion_wxyz)
    return C


def inverse(C: ArrayLike) -> FloatArray:
    """Return the inverse of a pose, (R^T, -R^T p).

    Parameters
    ----------
    C : array_like, shape (4, 4)
        A pose; whether its rotation is one is not looked at.

    Returns
    -------
    ndarray, shape (4, 4)
        Its inverse.

    Raises
    ------
    ShapeError, GeometryError
        If it is not made of (4, 4) finite numbers.

    Examples
    --------
    >>> inverse(translation((1.0, 2.0, 3.0)))[:3, 3]
    array([-1., -2., -3.])
    """
    C = frozen_array(C)
    check_array(C, (4, 4), "C")
    C_inverse = np.eye(4)
    C_inverse[:3, :3] = C[:3, :3].T
    C_inverse[:3, 3] = -(C[:3, :3].T @ C[:3, 3]) + 0.0  # + 0.0: no negative zeros
    return C_inverse


def nearest_rotation(matrix: ArrayLike) -> FloatArray:
    """Return the rotation nearest to a matrix, for rotations that were typed with few digits.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Nearly a rotation.

    Returns
    -------
    ndarray, shape (3, 3)
        The rotation R that minimises the Frobenius norm of R - `matrix`.

    Raises
    ------
    ShapeError, GeometryError
        If `matrix` is not finite or not (3, 3), or is nearer to a reflection than to a rotation.

    Notes
    -----
    The orthogonal factor of the polar decomposition, U V^T of the singular value decomposition.

    Examples
    --------
    >>> R = nearest_rotation([[0.7071, -0.7071, 0], [0.7071, 0.7071, 0], [0, 0, 1]])
    >>> bool(np.allclose(R @ R.T, np.eye(3), atol=1e-15))
    True
    """
    given = frozen_array(matrix)
    check_array(given, (3, 3), "matrix")
    U, _, V_transposed = np.linalg.svd(given)
    R: FloatArray = U @ V_transposed
    if np.linalg.det(R) < 0.0:
        raise GeometryError(
            f"matrix must be near a rotation, got {shown(given)}, which mirrors; "
            "exchange two axes or turn one round."
        )
    return R


@traced_as(without)
def check_pose(C: FloatArray, what: str) -> None:
    """Raise ShapeError or GeometryError unless `C` is a pose, as `frozen_array` returned it.

    That is finite, (4, 4), a rotation and a last row (0, 0, 0, 1). Messages begin with `what`, such
    as "Body 'rod': pose".

    Examples
    --------
    >>> check_pose(np.diag([1.0, 1.0, -1.0, 1.0]), "Body 'rod': pose")
    Traceback (most recent call last):
    mbkit.errors.GeometryError: Body 'rod': pose must hold a rotation, got one that mirrors \
(determinant -1); exchange two axes or turn one round.
    """
    check_array(C, (4, 4), what)
    if C[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise GeometryError(f"{what} must have the last row [0, 0, 0, 1], got {shown(C[3])}.")
    check_rotation(C[:3, :3], what)


_IDENTITY = np.eye(3)


@traced_as(without)
def check_rotation(R: FloatArray, what: str) -> None:
    """Raise unless `R` (3, 3) is a rotation within ROTATION_TOLERANCE; see `check_pose`."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers like 1e308 are none either
        error = float(np.abs(R.T @ R - _IDENTITY).max())
    if not error <= ROTATION_TOLERANCE:
        raise GeometryError(
            f"{what} must hold a rotation, got {shown(R)}, where R^T R differs from the identity "
            f"by {error:.3g}; give more digits, or use mbkit.spatial.nearest_rotation."
        )
    if np.linalg.det(R) < 0.0:
        raise GeometryError(
            f"{what} must hold a rotation, got one that mirrors (determinant -1); "
            "exchange two axes or turn one round."
        )


def stored_pose(instance: object, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    """Check a field that is a pose (a validator of attrs)."""
    with_key(attribute.name, check_pose, value, f"{owner(instance)}: {attribute.name}")
