"""A joint along a plane curve."""

from __future__ import annotations

import functools
import math
from typing import Any, final

import attrs
import numpy as np

import mbkit as mb

__all__ = ["CamJoint"]

#: Of the polynomials between knots.
DEGREE = 5


def _wrong(message: str) -> mb.JointError:
    """Return an error that readers of files place at the key."""
    error = mb.JointError(message)
    error.key = "points"
    return error


def _points(value: Any) -> Any:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise _wrong("points must be rows (x, y) of numbers, one a point.") from None
    array.flags.writeable = False
    return array


@final
@attrs.frozen
class CamJoint(mb.Joint):
    """Motion along a smooth curve in the xy plane of the joint frame.

    The curve is the spline of degree 5 through points, over the length of the polygon that joins
    them: q is nearly the way along it. [m] Four derivatives are continuous, so that accelerations
    have no jumps, nor have their rates. Through fewer than six points of an open curve it is one
    polynomial. Beyond its ends an open curve goes on as its last polynomials do; a closed one
    begins anew.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    points : array_like, shape (k, 2)
        At least three points of the curve, five of a closed one, of which the first is not
        repeated. [m]
    closed : bool, default False
        Whether the curve returns to its first point.
    follow : bool, default True
        Whether the body turns with the curve, its x axis along the tangent.
    compiled : bool, default True
        Whether compiled code computes it; else `pose` alone, which gives the same.

    Raises
    ------
    mbkit.JointError
        If the points are too few, not of shape (k, 2) or not finite, or two neighbours coincide.

    Examples
    --------
    >>> import numpy as np
    >>> angles = 2 * np.pi * np.arange(24) / 24
    >>> circle = CamJoint("cam", np.array([np.cos(angles), np.sin(angles)]).T, closed=True)
    >>> bool(abs(np.linalg.norm(circle.pose(np.array([1.7]))[:2, 3]) - 1.0) < 1e-5)
    True
    """

    num_positions = 1
    num_velocities = 1

    name: str
    points: Any = attrs.field(converter=_points, eq=attrs.cmp_using(eq=np.array_equal), hash=False)
    closed: bool = False
    follow: bool = True
    compiled: bool = True

    def __attrs_post_init__(self) -> None:
        what = f"Joint {self.name!r}: points"
        least, kind = (5, "a closed") if self.closed else (3, "an open")
        if self.points.ndim != 2 or self.points.shape[1:] != (2,) or len(self.points) < least:
            raise _wrong(
                f"{what} must have shape (k, 2), with k at least {least} for {kind} curve, got "
                f"{self.points.shape}; give the points that the curve passes through, in order."
            )
        if not np.isfinite(self.points).all():
            raise _wrong(f"{what} must be finite.")
        if (np.linalg.norm(np.diff(self._polygon, axis=0), axis=1) == 0.0).any():
            raise _wrong(
                f"{what} has the same point twice in a row; leave one out"
                f"{', also of the last and the first' if self.closed else ''}."
            )

    @property
    def _polygon(self) -> Any:
        return np.vstack([self.points, self.points[:1]]) if self.closed else self.points

    @functools.cached_property
    def curve(self) -> Any:
        """The spline: (x, y) over q, as polynomials between knots."""
        from scipy.interpolate import PPoly, make_interp_spline

        points = self._polygon
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        ways = np.concatenate([[0.0], np.cumsum(lengths)])
        if self.closed:
            spline = make_interp_spline(ways, points, k=DEGREE, bc_type="periodic")
        else:
            spline = make_interp_spline(ways, points, k=min(DEGREE, len(points) - 1))
        inner = slice(spline.k, len(spline.t) - spline.k)
        knots = np.unique(spline.t[inner])
        powers = [spline(knots[:-1], j) / math.factorial(j) for j in range(spline.k + 1)]
        padding = [np.zeros_like(powers[0])] * (DEGREE - spline.k)
        return PPoly(
            np.array([*padding, *reversed(powers)]), knots, "periodic" if self.closed else True
        )

    @property
    def length(self) -> float:
        """Where the curve ends, or begins anew, in q. [m]."""
        return float(self.curve.x[-1])

    def pose(self, q: Any) -> Any:
        """Return the pose at q; all else follows from it."""
        T = np.eye(4)
        T[:2, 3] = self.curve(q[0])
        if self.follow:
            x, y = self.curve(q[0], 1)
            speed = np.sqrt(x * x + y * y)
            c, s = x / speed, y / speed
            T[0, 0], T[0, 1], T[1, 0], T[1, 1] = c, -s, s, c
        return T

    @property
    def position_units(self) -> tuple[str, ...]:
        """Metres along the curve."""
        return ("m",)

    def kernels(self) -> mb.JointKernels | None:
        """Return the compiled form, unless `pose` shall do."""
        if not self.compiled:
            return None
        from mbkit_cam_joint.kernels import motion

        return mb.JointKernels(motion=motion)

    def parameters(self) -> Any:
        """Return whether it follows and is closed, the number of pieces, knots, polynomials."""
        coefficients = self.curve.c  # (6, pieces, 2), highest power first
        head = [float(self.follow), float(self.closed), float(coefficients.shape[1])]
        return np.concatenate([head, self.curve.x, coefficients.transpose(1, 2, 0).ravel()])
