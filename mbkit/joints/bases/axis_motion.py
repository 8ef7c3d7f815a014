"""Screw motions given by an axis: its direction, a point of it, and the pitch."""

from __future__ import annotations

import functools

import attrs
import numpy as np

from mbkit.joints.bases.axes import DIRECTION, POINT, cross, unit
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.spatial.arrays import ORIGIN, Z_AXIS, FloatArray, frozen_array


@attrs.frozen(slots=False)  # a dictionary for the cached property
class AxisMotion(ScrewMotion):
    """A screw motion along the axis through a point; subclasses define its rate and lead."""

    name: str
    axis: FloatArray = attrs.field(default=Z_AXIS, converter=frozen_array, **DIRECTION)
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)

    @functools.cached_property
    def screw(self) -> FloatArray:
        """Screw X = (r e, r p x e + l e): e of length one along the axis, rate r, lead l."""
        e = unit(self.axis)
        X = np.concatenate([self.rate * e, self.rate * np.cross(self.point, e) + self.lead * e])
        X += 0.0  # no negative zeros
        X.flags.writeable = False
        return X

    def velocity_of(self, point: FloatArray) -> FloatArray:
        """Return how fast a point moves; see `ScrewMotion.velocity_of`."""
        e = self.direction
        v: FloatArray = self.rate * cross(e, point - self.point) + self.lead * e
        return v
