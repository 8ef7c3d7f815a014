"""Rotation about a point."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from mbkit.joints.bases.axes import POINT
from mbkit.joints.bases.subgroup_joint import (
    GROUP,
    SECOND_KIND,
    SubgroupJoint,
    as_order,
    check_coordinates,
    check_order,
)
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.rotation_group import RotationGroup
from mbkit.spatial.arrays import ORIGIN, FloatArray, frozen_array, owner
from mbkit.spatial.frames import translation


@final
@attrs.frozen(slots=False)  # a dictionary for the cached property
class SphericalJoint(SubgroupJoint):
    """Rotation about a point, on the group SO(3).

    With ``coordinates="group"`` the position is a unit quaternion (w, x, y, z), scalar first; the
    velocity is the angular velocity of the successor relative to the predecessor, in the axes of
    the successor's joint frame. [rad/s] The motion subspace of these quasi-velocities is constant.

    With ``"first kind"`` the position is a rotation vector, with ``"second kind"`` angles about the
    axes of `order`, each about the axis as the turns before it have left it: "zyx" is yaw, pitch
    and roll. The velocity is then the rate of the position. [rad, rad/s] A rotation vector is
    singular at 2 pi; angles are where the second one makes the first axis parallel to the third: at
    pi/2 for three different axes, at 0 and pi where the first and the last are the same.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    point : ndarray, shape (3,), default the origin
        The centre. [m]
    coordinates : {"group", "first kind", "second kind"}, keyword only
        The kind of coordinates.
    order : sequence of str, keyword only, default "zyx"
        Axes of the angles of the second kind, such as "xyz" or "zxz".

    Raises
    ------
    ShapeError, GeometryError
        If `point` is not a finite vector of three.
    ModelError
        If `coordinates` is no kind there is, or `order` is not three axes, neighbours of which
        differ.

    Examples
    --------
    >>> ball = SphericalJoint("ball", point=(0, 0, 1))
    >>> ball.neutral()
    array([1., 0., 0., 0.])
    >>> ball.pose(np.array([0.0, 1.0, 0.0, 0.0]))[:3, 3]
    array([0., 0., 2.])
    >>> gimbals = SphericalJoint("gimbals", coordinates="second kind", order="zyx")
    >>> round(gimbals.singularity(np.array([0.3, 1.5, -2.0])), 4)  # cos 1.5
    0.0707
    """

    name: str
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)
    coordinates: str = attrs.field(default=GROUP, kw_only=True, validator=check_coordinates)
    order: Any = attrs.field(default=None, kw_only=True, converter=as_order, validator=check_order)

    default_order = ("z", "y", "x")
    charts = ("rotation_vector", "angles")

    @property
    def freedoms(self) -> dict[str, FloatArray]:
        """Turns about the three axes."""
        return dict(zip("xyz", np.eye(6)[:3], strict=True))

    def group_motion(self) -> Motion:
        """Return the motion in unit quaternions."""
        return RotationGroup(f"{owner(self)}: position")

    def stored_wrenches(self) -> FloatArray:
        """Return the forces through the centre."""
        return np.eye(6)[:, 3:]

    def order_fits(self, order: tuple[str, ...]) -> bool:
        """Return whether angles in this order reach every rotation."""
        return len(order) == 3 and all(a != b for a, b in itertools.pairwise(order))

    def order_rule(self) -> str:
        """Return the rule of `order_fits` in words."""
        return "must be three of 'x', 'y', 'z', neighbours of which differ"

    def second_kind_measure(self) -> tuple[Callable[[Any], Any], int]:
        """Return the cosine of the second angle, the sine where the first axis is the last too."""
        first, _, last = self.factors
        return (np.sin if first == last else np.cos), 1

    @property
    def singularity_remedy(self) -> str:
        """A way to avoid singular configurations, as text."""
        remedy = super().singularity_remedy
        if self.coordinates == SECOND_KIND:
            return f"{remedy}, and other orders have theirs elsewhere"
        return remedy

    @property
    def canonical_frame(self) -> FloatArray:
        """Frame at the centre, with the axes of the joint frame."""
        return translation(self.point)
