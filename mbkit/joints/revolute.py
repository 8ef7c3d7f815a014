"""Rotation about an axis."""

from __future__ import annotations

from typing import final

import attrs

from mbkit.joints.bases.axis_motion import AxisMotion

# Its pose is that of a screw without pitch: `place_screw` in
# mbkit/kernels/joints/revolute_prismatic_screw.py.


@final
@attrs.frozen
class RevoluteJoint(AxisMotion):
    """Rotation about an axis; q is the angle. [rad].

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Direction of the axis, of any length but zero; rotation is right-handed about it.
    point : ndarray, shape (3,), default the origin
        A point of the axis. [m]

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, or the axis is zero.

    Examples
    --------
    >>> RevoluteJoint("elbow", axis=(0, 2, 0), point=(0, 0, 1)).screw
    array([ 0.,  1.,  0., -1.,  0.,  0.])
    """

    rate = 1.0
    lead = 0.0
