"""Twists, wrenches, Jacobians, accelerations and jerks from one representation to another.

All go by way of the body-fixed twist, V = T(C) V_b (`Representation.twist_map`). A change of the
body frame to C S is V_b -> Ad_S^-1 V_b; a change of the world frame leaves V_b as it is. Source:
Mueller 2018, table 3 with its screws corrected (J^s_i = Ad_{r_i} 0X_i), and equations (20), (35).
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.lie import SE3
from mbkit.lie.arrays import FloatArray
from mbkit.representations.arguments import (
    check_broadcast,
    matrices,
    rigid_poses,
    shown,
    times,
    transposed,
    vectors,
)
from mbkit.representations.representation import Representation


def convert_twist(
    V: ArrayLike,
    C: ArrayLike,
    source: Representation,
    target: Representation,
    *,
    body_frame: ArrayLike | None = None,
    world_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return twists in another representation, and optionally in other frames.

    Parameters
    ----------
    V : array_like, shape (..., 6)
        Twists of the frame at `C`, in `source`.
    C : array_like, shape (..., 4, 4)
        Pose of the body frame in the world.
    source, target : Representation
        Such as ``mb.BodyFixed()``, ``mb.Hybrid()``.
    body_frame : array_like, shape (..., 4, 4), optional
        Pose S of another frame of the same body in the frame at `C`, constant. The result is the
        twist of the frame at C S.
    world_frame : array_like, shape (..., 4, 4), optional
        Pose U of another world frame in the world, constant. The result is as seen from there,
        where the body frame stands at U^-1 C, or at U^-1 C S.

    Returns
    -------
    ndarray, shape (..., 6)
        The same motion. Leading axes broadcast.

    Raises
    ------
    ShapeError
        If an array is of another shape, or leading axes do not broadcast.
    GeometryError
        If `C`, `body_frame` or `world_frame` is no pose.
    UsageError
        If `source` or `target` is no representation.

    Examples
    --------
    A body two metres along x turns about the world's z axis:

    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> mb.convert_twist([0, 0, 1, 0, 0, 0], C, mb.Spatial(), mb.Hybrid())
    array([0., 0., 1., 0., 2., 0.])

    At a frame of the body that is one metre farther out:

    >>> S = mb.spatial.translation((1.0, 0.0, 0.0))
    >>> mb.convert_twist([0, 0, 1, 0, 0, 0], C, mb.Spatial(), mb.Hybrid(), body_frame=S)
    array([0., 0., 1., 0., 3., 0.])
    """
    V = vectors(V, "convert_twist", source)
    change = _change("convert_twist", C, (source, target), (body_frame, world_frame), (V, 1))
    return times(change.matrix(), V)


def convert_wrench(
    W: ArrayLike,
    C: ArrayLike,
    source: Representation,
    target: Representation,
    *,
    body_frame: ArrayLike | None = None,
    world_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return wrenches in another representation: the inverse transpose of how twists go.

    W (..., 6) is (moment, force) in `source`. [N m], [N] W . V with the twist of the same frame and
    representation stays the same. Other arguments and errors are as of `convert_twist`.

    Examples
    --------
    A force along y at a body two metres along x has a moment about the world's origin:

    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> mb.convert_wrench([0, 0, 0, 0, 10, 0], C, mb.Hybrid(), mb.Spatial())
    array([ 0.,  0., 20.,  0., 10.,  0.])
    """
    W = vectors(W, "convert_wrench", source)
    change = _change("convert_wrench", C, (source, target), (body_frame, world_frame), (W, 1))
    return times(transposed(change.inverse_matrix()), W)


def convert_jacobian(
    J: ArrayLike,
    C: ArrayLike,
    source: Representation,
    target: Representation,
    *,
    body_frame: ArrayLike | None = None,
    world_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return Jacobians in another representation: their columns are twists.

    J (..., 6, n) is of the frame at `C`, V = J v in `source`; the result is V = J v in `target`,
    with the same v. Other arguments and errors are as of `convert_twist`.

    Examples
    --------
    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> screw = [[0.0], [0.0], [1.0], [0.0], [0.0], [0.0]]
    >>> mb.convert_jacobian(screw, C, mb.Spatial(), mb.BodyFixed()).T
    array([[0., 0., 1., 0., 2., 0.]])
    """
    J = matrices(J, "convert_jacobian")
    change = _change("convert_jacobian", C, (source, target), (body_frame, world_frame), (J, 2))
    converted: FloatArray = change.matrix() @ J
    return converted


def convert_acceleration(
    A: ArrayLike,
    V: ArrayLike,
    C: ArrayLike,
    source: Representation,
    target: Representation,
    *,
    body_frame: ArrayLike | None = None,
    world_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return accelerations in another representation.

    Parameters
    ----------
    A, V : array_like, shape (..., 6)
        Component-wise rates of twists, and the twists, both in `source`.
    C, source, target, body_frame, world_frame
        As for `convert_twist`.

    Returns
    -------
    ndarray, shape (..., 6)
        Component-wise rates of the twists in `target`.

    Raises
    ------
    ShapeError, GeometryError, UsageError
        As `convert_twist`.

    Notes
    -----
    The rate of a converted twist is not the converted rate, since the conversion moves with the
    body: A = T A_b + dT/dt V_b (`Representation.twist_map_rate`). From body-fixed to hybrid, for
    one, A = diag(R, R) (A_b + (0; w x v)).

    Examples
    --------
    On a circle of radius two at 3 rad/s the body-fixed twist is constant, while the body's origin
    accelerates towards the centre:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> V = [0.0, 0.0, 3.0, 0.0, 6.0, 0.0]
    >>> mb.convert_acceleration(np.zeros(6), V, C, mb.BodyFixed(), mb.Hybrid())
    array([  0.,   0.,   0., -18.,   0.,   0.])
    """
    A, V = (vectors(each, "convert_acceleration", source) for each in (A, V))
    arrays = (A, 1), (V, 1)
    change = _change(
        "convert_acceleration", C, (source, target), (body_frame, world_frame), *arrays
    )
    return change.out_of_body(change.into_body(V, A))


def convert_jerk(
    jerk: ArrayLike,
    A: ArrayLike,
    V: ArrayLike,
    C: ArrayLike,
    source: Representation,
    target: Representation,
    *,
    body_frame: ArrayLike | None = None,
    world_frame: ArrayLike | None = None,
) -> FloatArray:
    """Return jerks, the rates of accelerations, in another representation.

    Parameters
    ----------
    jerk, A, V : array_like, shape (..., 6)
        Second and first component-wise rates of twists, and the twists, all in `source`.
    C, source, target, body_frame, world_frame
        As for `convert_twist`.

    Returns
    -------
    ndarray, shape (..., 6)
        Second component-wise rates of the twists in `target`.

    Raises
    ------
    ShapeError, GeometryError, UsageError
        As `convert_twist`.

    Notes
    -----
    The jerk is T dA_b/dt + 2 dT/dt A_b + d2T/dt2 V_b (`Representation.twist_map_second_rate`).

    Examples
    --------
    On a circle of radius two at 3 rad/s, the jerk of the body's origin is against its velocity:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> V = [0.0, 0.0, 3.0, 0.0, 6.0, 0.0]
    >>> mb.convert_jerk(np.zeros(6), np.zeros(6), V, C, mb.BodyFixed(), mb.Hybrid())
    array([  0.,   0.,   0.,   0., -54.,   0.])
    """
    jerk, A, V = (vectors(each, "convert_jerk", source) for each in (jerk, A, V))
    arrays = (jerk, 1), (A, 1), (V, 1)
    change = _change("convert_jerk", C, (source, target), (body_frame, world_frame), *arrays)
    return change.out_of_body(change.into_body(V, A, jerk))


def check_representation(value: Any, what: str) -> None:
    """Raise UsageError, beginning with `what`, unless `value` is a representation.

    Examples
    --------
    >>> check_representation("hybrid", "convert_twist: source")
    Traceback (most recent call last):
    mbkit.errors.UsageError: convert_twist: source must be a representation, got 'hybrid'; give \
mb.BodyFixed(), mb.Spatial(), mb.Hybrid() or mb.Mixed().
    """
    if not isinstance(value, Representation):
        raise UsageError(
            f"{what} must be a representation, got {shown(value)}; give mb.BodyFixed(), "
            "mb.Spatial(), mb.Hybrid() or mb.Mixed()."
        )


@attrs.frozen
class _Change:
    """From `source` at `C` to `target` at `C_new`, through the body-fixed twists of both frames."""

    source: Representation
    target: Representation
    C: FloatArray
    C_new: FloatArray
    S: FloatArray

    def matrix(self) -> FloatArray:
        """Return T_target(C_new) Ad_S^-1 T_source(C)^-1."""
        inverse = SE3.Ad(SE3.inverse(self.S)) @ self.source.inverse_twist_map(self.C)
        matrix: FloatArray = self.target.twist_map(self.C_new) @ inverse
        return matrix

    def inverse_matrix(self) -> FloatArray:
        """Return T_source(C) Ad_S T_target(C_new)^-1."""
        inverse = SE3.Ad(self.S) @ self.target.inverse_twist_map(self.C_new)
        matrix: FloatArray = self.source.twist_map(self.C) @ inverse
        return matrix

    def into_body(self, V: FloatArray, *rates: FloatArray) -> list[FloatArray]:
        """Return the body-fixed twist at `C_new` and as many of its rates, acceleration first."""
        inverse = self.source.inverse_twist_map(self.C)
        found = [times(inverse, V)]
        for rate in rates:
            found.append(times(inverse, rate - _moving(self.source, self.C, found)))
        moved = SE3.Ad(SE3.inverse(self.S))
        return [times(moved, each) for each in found]

    def out_of_body(self, body: list[FloatArray]) -> FloatArray:
        """Return the highest rate in `target`; `body` is the result of `into_body`."""
        fixed = times(self.target.twist_map(self.C_new), body[-1])
        return fixed + _moving(self.target, self.C_new, body[:-1])


def _moving(representation: Representation, C: FloatArray, body: list[FloatArray]) -> FloatArray:
    """Return the terms by a moving map T: T' V_b to accelerations, 2 T' A_b + T'' V_b to jerks.

    `body` holds the body-fixed twist V_b, and for jerks its rate A_b.
    """
    rate = representation.twist_map_rate(C, body[0])
    if len(body) == 1:
        return times(rate, body[0])
    second = representation.twist_map_second_rate(C, body[0], body[1])
    return 2.0 * times(rate, body[1]) + times(second, body[0])


def _change(
    name: str,
    C: ArrayLike,
    representations: tuple[Representation, Representation],
    frames: tuple[ArrayLike | None, ArrayLike | None],
    *arrays: tuple[FloatArray, int],
) -> _Change:
    """Check the arguments of the function `name`, and return the change; see `check_broadcast`."""
    check_representation(representations[0], f"{name}: source")
    check_representation(representations[1], f"{name}: target")
    C, S, U = (
        np.eye(4) if each is None else rigid_poses(each, f"{name}: {what}")
        for each, what in zip((C, *frames), ("C", "body_frame", "world_frame"), strict=True)
    )
    check_broadcast(name, (C, 2), (S, 2), (U, 2), *arrays)
    return _Change(*representations, C, SE3.inverse(U) @ C @ S, S)
