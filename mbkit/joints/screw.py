"""The general joint with one degree of freedom."""

from __future__ import annotations

import functools
import math
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import GeometryError
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.spatial.arrays import (
    EQUAL,
    FloatArray,
    check_array,
    frozen_array,
    owner,
    shown,
    with_key,
)

#: How far from the joint frame an axis may be for the canonical frame to be on it. [m]
_FAR = 1e6

#: A screw that turns by less for a unit of q does not turn. [rad]
_NO_TURN = 1e-150

#: Part of the linear part of which an angular part is rounding. [rad/m]
_ROUNDING = 1e-12


def _check_screw(instance: object, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    with_key("screw", check_array, value, (6,), f"{owner(instance)}: screw")
    if not np.abs(value).max() > _NO_TURN:
        raise GeometryError(
            f"{owner(instance)}: screw must not be zero, got {shown(value)}; "
            "give (axis, point x axis + pitch axis), or (0, direction) for a translation."
        ).about("screw")


@final
@attrs.frozen
class ScrewJoint(ScrewMotion):
    """Joint with one degree of freedom: T(q) = exp(X q) with a constant screw X.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    screw : ndarray, shape (6,)
        X = (w, v) = (w, p x w + h w), angular first, of any length: the twist for a velocity
        of one. [rad, m per unit of q]

    Raises
    ------
    ShapeError, GeometryError
        If the screw is not a finite vector of six, or zero.

    Notes
    -----
    Poses are exact to rounding of the displacement, however small w is: with w = 0 but for
    rounding, as after a change of frames, the joint slides. An axis more than 1e6 m away has no
    frame on it: the canonical frame is then the joint's own, and q counts metres where w is less
    than 1e-12 |v|.

    Examples
    --------
    >>> import math
    >>> nut = ScrewJoint("nut", screw=(0, 0, 1, 0, 0, 0.01))  # a centimetre a radian along z
    >>> nut.pose([math.pi])[2, 3].round(12)
    np.float64(0.031415926536)
    """

    name: str
    screw: FloatArray = attrs.field(
        converter=frozen_array, validator=_check_screw, eq=EQUAL, hash=False, repr=shown
    )

    @property
    def rate(self) -> float:
        """Rotation about the axis by unit of q, |w|; zero where digits leave off. [rad]."""
        size = math.hypot(*self.screw[:3])
        return size if size > _NO_TURN else 0.0

    @property
    def lead(self) -> float:
        """Translation along the axis by unit of q, w.v / |w|; |v| where w is zero. [m]."""
        w, v = self.screw[:3], self.screw[3:]
        return float(w / self.rate @ v) if self.rate > 0.0 else math.hypot(*v)

    @property
    def position_units(self) -> tuple[str, ...]:
        """Radians where the joint turns, metres where it slides but for rounding."""
        slides = self.rate <= _ROUNDING * math.hypot(*self.screw[3:])
        return ("m",) if slides else ("rad",)

    @functools.cached_property
    def is_far(self) -> bool:  # type: ignore[override]
        """Whether the axis is too far from the joint frame for a frame on it."""
        to_axis = math.hypot(*np.cross(self.direction, self.screw[3:]))
        return self.rate > 0.0 and to_axis > _FAR * self.rate
