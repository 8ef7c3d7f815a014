"""A joint along a plane curve."""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np

import mbkit as mb

__all__ = ["CamJoint"]


def _points(value: Any) -> Any:
    array = np.array(value, dtype=np.float64)
    array.flags.writeable = False
    return array


@final
@attrs.frozen
class CamJoint(mb.Joint):
    """Motion along a smooth curve in the xy plane of the joint frame.

    The curve is the cubic spline through points, over the length of the polygon that joins them: q is
    nearly the way along it. [m] Beyond its ends an open curve goes on as its last polynomials do; a
    closed one begins anew.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    points : array_like, shape (k, 2)
        At least three points of the curve; of a closed one the first is not repeated. [m]
    closed : bool, default False
        Whether the curve returns to its first point.
    follow : bool, default True
        Whether the body turns with the curve, its x axis along the tangent.
    compiled : bool, default True
        Whether compiled code computes it; else `pose` alone, which gives the same.

    Raises
    ------
    mbkit.JointError
        If the points are not of shape (k, 2) and finite, or two neighbours coincide.

    Examples
    --------
    >>> import numpy as np
    >>> angles = 2 * np.pi * np.arange(24) / 24
    >>> circle = CamJoint("cam", np.array([np.cos(angles), np.sin(angles)]).T, closed=True)
    >>> np.linalg.norm(circle.pose(np.array([1.7]))[:2, 3]).round(4)
    1.0
    """

    num_positions = 1
    num_velocities = 1

    name: str
    points: Any = attrs.field(converter=_points, eq=attrs.cmp_using(eq=np.array_equal), hash=False)
    closed: bool = False
    follow: bool = True
    compiled: bool = True

    @points.validator
    def _check_points(self, _attribute: object, points: Any) -> None:
        what = f"Joint {self.name!r}: points"
        if points.ndim != 2 or points.shape[1:] != (2,) or len(points) < 3:
            raise mb.JointError(
                f"{what} must have shape (k, 2) with k at least 3, got {points.shape}; give the "
                "points that the curve passes through, in order."
            )
        if not np.isfinite(points).all():
            raise mb.JointError(f"{what} must be finite.")
        if (np.linalg.norm(np.diff(points, axis=0), axis=1) == 0.0).any():
            raise mb.JointError(f"{what} has the same point twice in a row; leave one out.")

    @functools.cached_property
    def curve(self) -> Any:
        """The spline: (x, y) over q."""
        from scipy.interpolate import CubicSpline

        points = np.vstack([self.points, self.points[:1]]) if self.closed else self.points
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        knots = np.concatenate([[0.0], np.cumsum(lengths)])
        return CubicSpline(knots, points, bc_type="periodic" if self.closed else "not-a-knot")

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
        """Return whether it follows and is closed, the number of pieces, knots and polynomials."""
        coefficients = self.curve.c  # (4, pieces, 2), highest power first
        head = [float(self.follow), float(self.closed), float(coefficients.shape[1])]
        return np.concatenate([head, self.curve.x, coefficients.transpose(1, 2, 0).ravel()])
