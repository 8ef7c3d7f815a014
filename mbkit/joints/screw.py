"""The general joint with one degree of freedom."""

from __future__ import annotations

import math
from typing import Any, final

import attrs

from mbkit.errors import GeometryError
from mbkit.joints.screw_motion import ScrewMotion
from mbkit.spatial.arrays import (
    EQUAL,
    FloatArray,
    check_array,
    frozen_array,
    owner,
    shown,
    with_key,
)

__all__ = ["ScrewJoint"]


def _check_screw(instance: object, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    with_key("screw", check_array, value, (6,), f"{owner(instance)}: screw")
    if not value.any():
        error = GeometryError(
            f"{owner(instance)}: screw must not be zero, got {shown(value)}; "
            "give (axis, point x axis + pitch axis), or (0, direction) for a translation."
        )
        error.key = "screw"
        raise error


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
    An axis |v| / |w| away, farther than 1e8 m, say, is felt in the positions: they are exact to
    rounding of that distance.

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
        """Rotation about the axis by unit of q, |w|. [rad]."""
        return math.hypot(*self.screw[:3])

    @property
    def lead(self) -> float:
        """Translation along the axis by unit of q, w.v / |w|; |v| where w is zero. [m]."""
        w, v = self.screw[:3], self.screw[3:]
        return float(w / self.rate @ v) if self.rate > 0.0 else math.hypot(*v)
