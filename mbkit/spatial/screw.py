"""Screws as values: an axis, a pitch and a magnitude."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.lie import SE3
from mbkit.representations.arguments import check_broadcast, rigid_poses
from mbkit.spatial.arrays import EQUAL, ORIGIN, FloatArray, check_array, frozen_array, shown
from mbkit.spatial.quantities import Twist, Wrench
from mbkit.spatial.screw_arrays import (
    FIELDS,
    NOTHING,
    checked_fields,
    checked_rounding,
    divided,
    dot,
    length,
    screw_vectors,
)

#: Part of the linear part of which an angular part is rounding, as of screw joints. [rad/m]
_ROUNDING = 1e-12

#: Angle of which the rotation of a pose is rounding: some tens of units in the last place. [rad]
_ANGLE_ROUNDING = 1e-14


@final
@attrs.frozen(repr=False)
class Screw:
    """An axis with a pitch and a magnitude: a twist, a displacement or a wrench, as geometry.

    One screw, or many at once: the leading axes of the fields broadcast. They are stored in one
    form, in which equal screws have equal fields, up to rounding: the direction with length one,
    the point of the axis next to the origin, the magnitude positive.

    Attributes
    ----------
    direction : ndarray, shape (..., 3)
        Direction of the axis, given in any length. Zero where the magnitude is zero and no axis is
        known.
    point : ndarray, shape (..., 3), default the origin
        A point of the axis, given anywhere on it. Zero for translations, which have no place. [m]
    pitch : ndarray, shape (...), default 0
        Advance by rotation; infinite for a translation. [m/rad]
    magnitude : ndarray, shape (...), default 1
        Of a twist the rate of rotation [rad/s], of a displacement the angle [rad], of a wrench the
        force [N]. Where the pitch is infinite, the velocity [m/s], the distance [m], the moment
        [N m]. A negative one turns the direction round.

    Raises
    ------
    ShapeError
        If a field has another shape, or the leading axes do not broadcast.
    GeometryError
        If an entry is not finite (but an infinite pitch, which has no sign), or the direction is
        zero where the magnitude is not.

    Notes
    -----
    The screw stands for the vector of six X = magnitude (e; p x e + pitch e), and for
    magnitude (0; e) where the pitch is infinite. Source: Mueller 2018, appendix A.

    Examples
    --------
    >>> screw = Screw(direction=(0, 0, 2), point=(1, 0, 5), pitch=0.1, magnitude=3.0)
    >>> screw
    Screw(direction=[0.0, 0.0, 1.0], point=[1.0, 0.0, 0.0], pitch=0.1, magnitude=3.0)
    >>> screw.twist().round(12)
    array([ 0. ,  0. ,  3. ,  0. , -3. ,  0.3])
    """

    direction: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False)
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, eq=EQUAL, hash=False)
    pitch: FloatArray = attrs.field(default=0.0, converter=frozen_array, eq=EQUAL, hash=False)
    magnitude: FloatArray = attrs.field(default=1.0, converter=frozen_array, eq=EQUAL, hash=False)

    def __attrs_post_init__(self) -> None:
        e, p, h, m = checked_fields(self.direction, self.point, self.pitch, self.magnitude)
        e = np.where(m < 0.0, -1.0, 1.0)[..., None] * divided(e, length(e))
        nowhere = np.isinf(h) | ~e.any(axis=-1)
        p = np.where(nowhere[..., None], 0.0, p - dot(p, e)[..., None] * e)
        for name, value in zip(FIELDS, (e, p, h, np.abs(m)), strict=True):
            object.__setattr__(self, name, frozen_array(value)[()])  # [()]: one number is a scalar

    # --------------------------------------------------------------------------------- from vectors

    @classmethod
    def from_twist(cls, V: ArrayLike, *, rounding: float = _ROUNDING) -> Screw:
        """Return the instantaneous screw of a twist.

        Parameters
        ----------
        V : array_like, shape (..., 6), or Twist
            Angular and linear velocity in the axes of one frame, the latter at its origin: a
            spatial twist gives the screw in the world, a body-fixed one in the frame of the body, a
            hybrid one in the axes of the world from the origin of the body's frame. Mixed twists
            are in two frames and are refused if they are a `Twist`. [rad/s], [m/s]
        rounding : float, default 1e-12
            An angular part of at most this times the linear part is rounding and left out; the
            screw is then a translation. [rad/m]

        Returns
        -------
        Screw
            Pitch w.v / |w|^2, point w x v / |w|^2, magnitude |w|; of a translation an infinite
            pitch and the magnitude |v|. Of a zero twist (no entry above 1e-150), everything zero.

        Raises
        ------
        ShapeError
            If `V` is of another shape.
        GeometryError
            If it is not finite.
        UsageError
            If `V` is mixed, or no twist, or `rounding` is no positive number.

        Examples
        --------
        A wheel of radius 0.5 that rolls along x turns about the point on the ground:

        >>> Screw.from_twist([0, 2, 0, 1, 0, 0]).point
        array([ 0. ,  0. , -0.5])
        >>> Screw.from_twist([0, 0, 0, 0, 0, 3])
        Screw(direction=[0.0, 0.0, 1.0], point=[0.0, 0.0, 0.0], pitch=inf, magnitude=3.0)
        """
        X = screw_vectors(V, "Screw.from_twist: V", Twist)
        return cls._of(X[..., :3], X[..., 3:], checked_rounding(rounding, "Screw.from_twist"), 0.0)

    @classmethod
    def from_wrench(cls, W: ArrayLike, *, rounding: float = _ROUNDING) -> Screw:
        """Return the central axis of a wrench: the line on which moment and force are parallel.

        Parameters
        ----------
        W : array_like, shape (..., 6), or Wrench
            Moment about the origin of one frame and force, in its axes. [N m], [N]
        rounding : float, default 1e-12
            A force of at most this times the moment is rounding and left out; the wrench is then a
            couple. [1/m]

        Returns
        -------
        Screw
            Its magnitude is the force, its pitch moment by force [m]; of a couple the pitch is
            infinite and the magnitude the moment.

        Raises
        ------
        ShapeError, GeometryError, UsageError
            As `from_twist`.

        Examples
        --------
        >>> Screw.from_wrench([0, 0, 20, 0, 10, 0])
        Screw(direction=[0.0, 1.0, 0.0], point=[2.0, 0.0, 0.0], pitch=0.0, magnitude=10.0)
        """
        X = screw_vectors(W, "Screw.from_wrench: W", Wrench)
        return cls._of(X[..., 3:], X[..., :3], checked_rounding(rounding, "Screw.from_wrench"), 0.0)

    @classmethod
    def from_pose(cls, C: ArrayLike, *, rounding: float = _ROUNDING) -> Screw:
        """Return the screw displacement that leads from the identity to a pose.

        Parameters
        ----------
        C : array_like, shape (..., 4, 4)
            Pose.
        rounding : float, default 1e-12
            As for `from_twist`; besides, an angle of at most 1e-14 is rounding. [rad/m]

        Returns
        -------
        Screw
            In the frame in which the pose is given. Its magnitude is the angle, between 0 and pi,
            or the distance of a translation; see `angle` and `shift`. Of the identity everything is
            zero. At an angle of pi both directions are right.

        Raises
        ------
        ShapeError, GeometryError
            If `C` is no pose.
        UsageError
            If `rounding` is no positive number.

        Notes
        -----
        Chasles' theorem; the screw of the logarithm of the pose on SE(3).

        Examples
        --------
        >>> import numpy as np
        >>> from mbkit.spatial import rotation
        >>> C = rotation(axis=(0, 0, 1), angle=np.pi / 2, point=(1, 0, 0))
        >>> C[2, 3] = 0.5
        >>> screw = Screw.from_pose(C)
        >>> screw.point.round(12) + 0.0, screw.angle.round(6), screw.shift
        (array([1., 0., 0.]), np.float64(1.570796), np.float64(0.5))
        """
        X = SE3.log(rigid_poses(C, "Screw.from_pose: C"))
        least = checked_rounding(rounding, "Screw.from_pose")
        return cls._of(X[..., :3], X[..., 3:], least, _ANGLE_ROUNDING)

    @classmethod
    def _of(cls, w: FloatArray, v: FloatArray, rounding: float, least: float) -> Screw:
        """Return the screw of X = (w; v); w is rounding below `least` or `rounding` of v."""
        turn, speed = length(w), length(v)
        slides = (turn <= np.maximum(least, NOTHING)) | (turn <= rounding * speed)
        speed = np.where(speed <= NOTHING, 0.0, speed)
        along = divided(v, np.where(slides, speed, 0.0))
        e = np.where(slides[..., None], along, divided(w, turn))
        moved = divided(v, np.where(slides, 0.0, turn))  # v / |w|
        h = np.where(slides, np.where(speed > 0.0, np.inf, 0.0), dot(e, moved))
        return cls(e, np.cross(e, moved), h, np.where(slides, speed, turn))

    # ---------------------------------------------------------------------------------- to vectors

    def twist(self) -> FloatArray:
        """Return the vector of six (..., 6) that the screw stands for: of a motion, its twist."""
        w = self.angle[..., None] * self.direction
        v = np.cross(self.point, w) + self.shift[..., None] * self.direction
        return np.concatenate([w, v], axis=-1)

    def wrench(self) -> FloatArray:
        """Return the wrench (..., 6) of the screw, (moment, force): `twist` with halves swapped."""
        return np.roll(self.twist(), 3, axis=-1)

    def pose(self, part: ArrayLike = 1.0) -> FloatArray:
        """Return the pose that the displacement leads to from the identity.

        Parameters
        ----------
        part : array_like, shape (...), default 1
            The part of the displacement that is made; for a twist, the time for which it lasts.
            Broadcasts with the leading axes of the screw.

        Returns
        -------
        ndarray, shape (..., 4, 4)
            exp(part X).

        Raises
        ------
        ShapeError
            If `part` is not numeric, or does not broadcast.

        Examples
        --------
        Half of a displacement:

        >>> from mbkit.spatial import translation
        >>> Screw.from_pose(translation((0, 4, 0))).pose(0.5)[:3, 3]
        array([0., 2., 0.])
        """
        share = frozen_array(part)
        check_array(share, share.shape, "Screw.pose: part")
        X = self.twist()
        check_broadcast("Screw.pose: part", (share, 0), (X, 1))
        return SE3.exp(share[..., None] * X)

    def transformed(self, C_AB: ArrayLike) -> Screw:
        """Return the same screw as seen from another frame.

        Parameters
        ----------
        C_AB : array_like, shape (..., 4, 4)
            Pose of the frame B, in which the screw is given, in the frame A.

        Returns
        -------
        Screw
            In A; its twist is Ad(C_AB) times that in B.

        Raises
        ------
        ShapeError, GeometryError
            If `C_AB` is no pose, or the leading axes do not broadcast.

        Examples
        --------
        >>> from mbkit.spatial import translation
        >>> Screw((0, 0, 1)).transformed(translation((2, 0, 7))).point
        array([2., 0., 0.])
        """
        C = rigid_poses(C_AB, "Screw.transformed: C_AB")
        check_broadcast("Screw.transformed", (C, 2), (self.direction, 1))
        R = C[..., :3, :3]
        e = (R @ self.direction[..., None])[..., 0]
        p = (R @ self.point[..., None])[..., 0] + C[..., :3, 3]
        return Screw(e, p, self.pitch, self.magnitude)

    # ------------------------------------------------------------------------------------- measures

    @property
    def angle(self) -> FloatArray:
        """Rotation about the axis, (...): the magnitude, or zero of a translation. [rad]."""
        return np.asarray(np.where(np.isinf(self.pitch), 0.0, self.magnitude))[()]

    @property
    def shift(self) -> FloatArray:
        """Translation along the axis, (...), with its sign: pitch times angle. [m]."""
        return np.asarray(np.where(np.isinf(self.pitch), 1.0, self.pitch) * self.magnitude)[()]

    def __repr__(self) -> str:
        values = (f"{name}={shown(np.asarray(getattr(self, name)))}" for name in FIELDS)
        return f"Screw({', '.join(values)})"


def reciprocal_product(first: Screw | ArrayLike, second: Screw | ArrayLike) -> FloatArray:
    """Return the reciprocal product of screws: the power of the wrench of one on the other.

    Parameters
    ----------
    first, second : Screw, or array_like of shape (..., 6)
        Screws in the same frame; vectors of six in the form of twists, (e; p x e + h e). A wrench
        enters as ``Screw.from_wrench(W)``. Leading axes broadcast.

    Returns
    -------
    ndarray, shape (...)
        w1 . v2 + v1 . w2. For two axes at the distance d, turned by the angle a about the common
        normal, it is ((h1 + h2) cos(a) - d sin(a)) times the magnitudes. Zero for reciprocal
        screws: a wrench on one does no work in a motion about the other.

    Raises
    ------
    ShapeError
        If an array is of another shape, or the leading axes do not broadcast.
    UsageError
        If one is a `Wrench` or an `Acceleration`.

    Examples
    --------
    Lines that meet are reciprocal; a force of 10 N at a lever of 2 m, and a turn of 3 rad/s:

    >>> reciprocal_product(Screw((0, 0, 1)), Screw((1, 0, 0)))
    np.float64(0.0)
    >>> turn = Screw((0, 0, 1), magnitude=3.0)
    >>> reciprocal_product(turn, Screw.from_wrench([0, 0, 20, 0, 10, 0]))
    np.float64(60.0)
    """
    X, Y = (
        each.twist()
        if isinstance(each, Screw)
        else screw_vectors(each, "reciprocal_product", Twist)
        for each in (first, second)
    )
    check_broadcast("reciprocal_product", (X, 1), (Y, 1))
    return np.asarray(dot(X[..., :3], Y[..., 3:]) + dot(X[..., 3:], Y[..., :3]))[()]
