"""Translation along an axis."""

from __future__ import annotations

from typing import final

import attrs

from mbkit.joints.bases.axis_motion import AxisMotion


@final
@attrs.frozen
class PrismaticJoint(AxisMotion):
    """Translation along an axis; q is the distance. [m].

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Direction of the translation, of any length but zero.
    point : ndarray, shape (3,), default the origin
        Where the axis is drawn; the motion does not depend on it, nor the point about which
        `System.reaction` takes moments, the origin of the joint frame. [m]

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, or the axis is zero.

    Examples
    --------
    >>> PrismaticJoint("slide", axis=(3, 0, 4)).pose([10.0])[:3, 3]
    array([6., 0., 8.])
    """

    rate = 0.0
    lead = 1.0
