"""Rotation about an axis, coupled to translation along it."""

from __future__ import annotations

from typing import final

import attrs

from mbkit.given_values import as_number
from mbkit.joints.bases.axes import PITCH
from mbkit.joints.bases.axis_motion import AxisMotion


@final
@attrs.frozen
class HelicalJoint(AxisMotion):
    """Rotation about an axis, coupled to translation along it; q is the angle. [rad].

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Direction of the axis, of any length but zero; rotation is right-handed about it.
    point : ndarray, shape (3,), default the origin
        A point of the axis. [m]
    pitch : float, keyword only
        Translation along the axis by radian; negative for a left-handed thread. A thread that
        advances by l in a turn has l / (2 pi). [m/rad]

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, the axis is zero, or the pitch is not
        finite (for an infinite one there is `mbkit.PrismaticJoint`).

    Examples
    --------
    >>> HelicalJoint("spindle", pitch=0.002).screw
    array([0.   , 0.   , 1.   , 0.   , 0.   , 0.002])
    """

    rate = 1.0
    pitch: float = attrs.field(kw_only=True, converter=as_number, **PITCH)

    @property
    def lead(self) -> float:
        """The pitch. [m]."""
        return self.pitch
