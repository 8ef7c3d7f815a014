"""Joints whose motion is a turn about an axis with shifts: the plane and its wrenches."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import attrs

from mbkit.joints.bases.axes import DIRECTION, POINT, frame_at
from mbkit.joints.bases.subgroup_joint import (
    GROUP,
    SubgroupJoint,
    as_order,
    check_coordinates,
    check_order,
)
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.planar_group import PlanarGroup
from mbkit.spatial.arrays import ORIGIN, Z_AXIS, FloatArray, frozen_array


@attrs.frozen(slots=False)  # a dictionary for the cached properties
class PlanarMotion(SubgroupJoint):
    """A turn about an axis and shifts across it; subclasses define the shift along the axis."""

    name: str
    axis: FloatArray = attrs.field(default=Z_AXIS, converter=frozen_array, **DIRECTION)
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)
    coordinates: str = attrs.field(default=GROUP, kw_only=True, validator=check_coordinates)
    order: Any = attrs.field(default=None, kw_only=True, converter=as_order, validator=check_order)

    same_along = (2,)
    default_order: ClassVar[tuple[str, ...]] = ("angle", "x", "y")

    def group_motion(self) -> Motion:
        """Return the motion in an angle and a place."""
        return PlanarGroup(self.stored_wrenches())

    @functools.cached_property
    def canonical_frame(self) -> FloatArray:
        """Frame at the point, with its z axis along the axis."""
        return frame_at(self.axis, self.point)
