"""The equations of motion of one body, in every representation and at any frame.

Source: Mueller, "Screw and Lie group theory in multibody dynamics: recursive algorithms and
equations of motion of tree-topology systems", Multibody Syst. Dyn. 43, 2018, section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import QuantityError, ShapeError
from mbkit.lie import SE3
from mbkit.lie.arrays import FloatArray
from mbkit.representations import Representation
from mbkit.representations.arguments import (
    check_broadcast,
    rigid_poses,
    times,
    transposed,
    vectors,
)
from mbkit.representations.conversions import check_representation
from mbkit.representations.hybrid import Hybrid
from mbkit.spatial.inertia import SpatialInertia
from mbkit.spatial.quantities import Twist


def inertia_matrix(
    inertia: SpatialInertia,
    pose: ArrayLike,
    representation: Representation,
    *,
    body_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return the inertia matrix M of a body: V . M V / 2 is kinetic energy in a representation.

    Parameters
    ----------
    inertia : SpatialInertia
        In the body's frame.
    pose : array_like, shape (..., 4, 4)
        Pose of the body's frame in the world.
    representation : Representation
        Of the twists that the matrix takes.
    body_frame : array_like, shape (..., 4, 4), optional
        Pose of another frame of the body in the body's frame; the twists are at that frame.

    Returns
    -------
    ndarray, shape (..., 6, 6)
        M = T^-T M_b T^-1 with T of `Representation.twist_map`. M V is the momentum, a wrench's
        like: about the world's origin in the spatial representation, about the frame's origin in
        the others. Body-fixed, M is constant.

    Raises
    ------
    ShapeError, GeometryError, UsageError
        If an argument is of another shape or kind, or no pose.

    Examples
    --------
    >>> import mbkit as mb
    >>> ball = mb.SpatialInertia.sphere(2.5, radius=1.0)
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> float(mb.inertia_matrix(ball, C, mb.Spatial())[2, 2])
    11.0
    """
    M, C = _body(inertia, pose, representation, body_frame, "inertia_matrix")
    inverse = representation.inverse_twist_map(C)
    matrix: FloatArray = transposed(inverse) @ M @ inverse
    return matrix


def newton_euler_bias(
    inertia: SpatialInertia,
    pose: ArrayLike,
    twist: ArrayLike,
    representation: Representation,
    *,
    body_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return the wrench that a body needs for its motion where its acceleration is zero.

    That is p (..., 6) in W = M A + p, for the twist (..., 6) of the frame. Body-fixed and spatial
    it is -ad_V^T M V, hybrid ad_w M (w; 0), mixed (w x Th w; m R w~ w~ d) with the moment Th about
    the frame's origin and the centre of mass d in the body. Other arguments and errors are as of
    `inertia_matrix`.

    Examples
    --------
    A body that turns about its frame's origin; its centre of mass is half a metre off:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> rod = mb.SpatialInertia.from_com(2.0, (0.5, 0.0, 0.0))
    >>> mb.newton_euler_bias(rod, np.eye(4), [0, 0, 3, 0, 0, 0], mb.Hybrid())
    array([ 0.,  0.,  0., -9.,  0.,  0.])
    """
    V = vectors(twist, "newton_euler_bias", representation)
    zero = np.zeros(6)
    return _wrench(inertia, pose, V, zero, representation, body_frame, name="newton_euler_bias")


def newton_euler(
    inertia: SpatialInertia,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    representation: Representation,
    *,
    body_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return the wrench that moves a body: the equations of Newton and Euler.

    Parameters
    ----------
    inertia, pose, representation, body_frame
        As for `inertia_matrix`.
    twist, acceleration : array_like, shape (..., 6)
        Of the frame, in the representation; the acceleration is the component-wise rate of the
        twist. Gravity is not in it.

    Returns
    -------
    ndarray, shape (..., 6)
        W = M A + p, the resultant of everything that acts on the body, weight included, in the
        representation at the frame.

    Raises
    ------
    ShapeError, GeometryError, UsageError
        If an argument is of another shape or kind, or no pose.

    Notes
    -----
    Body-fixed W_b = M_b A_b - ad_V^T M_b V_b, and W = T^-T W_b in all representations.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> rod = mb.SpatialInertia.from_com(2.0, (0.5, 0.0, 0.0))
    >>> mb.newton_euler(rod, np.eye(4), [0, 0, 3, 0, 0, 0], [0, 0, 1, 0, 0, 0], mb.Hybrid())
    array([ 0. ,  0. ,  0.5, -9. ,  1. ,  0. ])
    """
    V = vectors(twist, "newton_euler", representation)
    A = vectors(acceleration, "newton_euler", representation)
    return _wrench(inertia, pose, V, A, representation, body_frame, name="newton_euler")


def newton_euler_in_frames(
    inertia: SpatialInertia,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    *,
    measured_in: Twist | None = None,
    resolved_in: Twist | None = None,
) -> FloatArray:
    """Return the wrench that moves a body, measured in one moving frame and resolved in another.

    Parameters
    ----------
    inertia : SpatialInertia
        In the body's frame.
    pose : array_like, shape (4, 4)
        Pose of the body's frame in the world.
    twist, acceleration : array_like, shape (6,)
        Angular velocity of the body, and velocity of the body point at the origin of the measuring
        frame, both relative to the world, in the axes of the resolving frame; and the rates of
        these six components.
    measured_in, resolved_in : Twist, optional
        The two frames, with their motion; the world where they are left out. They may be frames of
        this body, of others, or of none.

    Returns
    -------
    ndarray, shape (6,)
        Moment about the origin of the measuring frame, and force, in the axes of the resolving
        frame.

    Raises
    ------
    ShapeError, GeometryError, QuantityError
        If an argument is of another shape or kind, or no pose.

    Notes
    -----
    W = M (A + (ad_v + ad_w) V) - ad_V^T M V, where v is the velocity of the origin of the
    measuring frame and w the angular velocity of the resolving one, both in the axes of the latter:
    Mueller 2018, equation (63), with ad of the linear velocity alone. As printed, with the whole
    twist of the measuring frame, it fails for hybrid twists. Both frames in the body give the
    body-fixed equations, both in the world the spatial ones; measured in the body and resolved in
    the world they are hybrid.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> rod, V = mb.SpatialInertia.from_com(2.0, (0.5, 0.0, 0.0)), [0, 0, 3, 1, 0, 0]
    >>> body = mb.Twist(V, mb.BodyFixed(), pose=np.eye(4), body="rod")
    >>> mb.newton_euler_in_frames(rod, np.eye(4), V, np.zeros(6), measured_in=body)
    array([ 0.,  0.,  0., -9.,  0.,  0.])
    """
    name = "newton_euler_in_frames"
    V, A = vectors(twist, name), vectors(acceleration, name)
    C = rigid_poses(pose, f"{name}: pose")
    if not (V.shape == A.shape == (6,) and C.shape == (4, 4)):
        raise ShapeError(
            f"{name} takes one body: pose (4, 4), twist and acceleration (6,); got shapes "
            f"{C.shape}, {V.shape} and {A.shape}."
        )
    _check_inertia(inertia, name)
    _, origin, origin_velocity, _ = _moving_frame(measured_in, f"{name}: measured_in")
    R_k, _, _, spin = _moving_frame(resolved_in, f"{name}: resolved_in")
    D = np.eye(4)
    D[:3, :3] = R_k.T @ C[:3, :3]
    D[:3, 3] = R_k.T @ (C[:3, 3] - origin)
    inverse = SE3.Ad(SE3.inverse(D))
    M = inverse.T @ inertia.matrix() @ inverse
    frames = SE3.ad(np.concatenate([R_k.T @ spin, R_k.T @ origin_velocity]))
    wrench: FloatArray = M @ (A + frames @ V) - SE3.ad(V).T @ M @ V
    return wrench


def _moving_frame(frame: Twist | None, what: str) -> tuple[FloatArray, ...]:
    """Return rotation, origin, the origin's velocity, and spin of a frame, all in the world."""
    if frame is None:
        return np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    if not isinstance(frame, Twist):
        raise QuantityError(
            f"{what} must be the mb.Twist of a frame, got {type(frame).__name__}; make one with "
            "the frame's pose, or leave it out for the world."
        )
    motion = frame.to(Hybrid())
    return motion.pose[:3, :3], motion.pose[:3, 3], motion.linear, motion.angular


def _check_inertia(inertia: SpatialInertia, name: str) -> None:
    if not isinstance(inertia, SpatialInertia):
        raise QuantityError(
            f"{name}: inertia must be an mb.SpatialInertia, got {type(inertia).__name__}; make one "
            "by SpatialInertia.from_com(mass=..., com=..., moment_about_com=...)."
        )


def _body(
    inertia: SpatialInertia,
    pose: ArrayLike,
    representation: Representation,
    body_frame: ArrayLike | None,
    name: str,
) -> tuple[FloatArray, FloatArray]:
    """Return the body-fixed inertia matrix and the pose, both of the given frame."""
    _check_inertia(inertia, name)
    check_representation(representation, f"{name}: representation")
    M, C = inertia.matrix(), rigid_poses(pose, f"{name}: pose")
    if body_frame is None:
        return M, C
    S = rigid_poses(body_frame, f"{name}: body_frame")
    check_broadcast(name, (C, 2), (S, 2))
    return transposed(SE3.Ad(S)) @ M @ SE3.Ad(S), C @ S


def _wrench(
    inertia: SpatialInertia,
    pose: ArrayLike,
    V: FloatArray,
    A: FloatArray,
    representation: Representation,
    body_frame: ArrayLike | None,
    *,
    name: str,
) -> FloatArray:
    M, C = _body(inertia, pose, representation, body_frame, name)
    check_broadcast(name, (C, 2), (V, 1), (A, 1))
    inverse = representation.inverse_twist_map(C)
    V_b = times(inverse, V)
    A_b = times(inverse, A - times(representation.twist_map_rate(C, V_b), V_b))
    W_b = times(M, A_b) - times(transposed(SE3.ad(V_b)), times(M, V_b))
    return times(transposed(inverse), W_b)
