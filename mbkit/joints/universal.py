"""Two axes on a cross."""

from __future__ import annotations

import functools
import math
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import GeometryError
from mbkit.joints.bases.axes import DIRECTION, POINT, unit
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.spatial.arrays import ORIGIN, FloatArray, check_direction, frozen_array, owner, shown
from mbkit.spatial.frames import translation

_X_AXIS = frozen_array((1.0, 0.0, 0.0))

#: Sine of the least angle between the axes: half a degree.
_INDEPENDENT = 1e-2


def _check_second(joint: Any, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    check_direction(joint, attribute, value)
    if math.hypot(*np.cross(unit(joint.axis1), unit(value))) < _INDEPENDENT:
        raise GeometryError(
            f"{owner(joint)}: axis2 must not be parallel to axis1, got {shown(joint.axis1)} and "
            f"{shown(value)}; turn one away, or use mbkit.RevoluteJoint."
        ).about("axis2")


@final
@attrs.frozen(slots=False)  # a dictionary for the cached properties
class UniversalJoint(MotionJoint):
    """Rotation about an axis of the predecessor, then about one of the successor, on a cross.

    T = exp(X_1 q_1) exp(X_2 q_2), q two angles [rad], v their rates. The twists depend on the
    second angle; the motions form no subgroup. The axes keep their angle, so that S has rank 2
    everywhere, and a tree moves on through every configuration.

    Between two shafts along the common normal of the axes in the reference configuration the
    joint is a coupling, singular where an angle is pi/2: it transmits no turn of that shaft there.
    `singularity` is the lesser of |cos q_1| and |cos q_2|, whose ratio is that of the shafts'
    rates.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis1 : ndarray, shape (3,), default x
        Axis in the predecessor, of any length but zero.
    axis2 : ndarray, shape (3,), default y
        Axis in the successor, not parallel to the first; in the reference configuration.
    point : ndarray, shape (3,), default the origin
        Where the axes cross. [m]

    Raises
    ------
    ShapeError, GeometryError
        If an argument is not a finite vector of three, an axis is zero, or they are parallel.

    Examples
    --------
    >>> cross = UniversalJoint("cross", axis1=(1, 0, 0), axis2=(0, 1, 0))
    >>> cross.motion_subspace(np.array([0.3, np.pi / 2])).T.round(12) + 0.0
    array([[0., 0., 1., 0., 0., 0.],
           [0., 1., 0., 0., 0., 0.]])
    """

    name: str
    axis1: FloatArray = attrs.field(default=_X_AXIS, converter=frozen_array, **DIRECTION)
    axis2: FloatArray = attrs.field(
        default=frozen_array((0.0, 1.0, 0.0)),
        converter=frozen_array,
        validator=_check_second,
        eq=attrs.cmp_using(eq=np.array_equal),
        hash=False,
        repr=shown,
    )
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)

    singularity_remedy = (
        "it moves on as before, but transmits no turn between its shafts; "
        "mbkit.ConstantVelocityJoint does until the shafts are folded back"
    )

    @functools.cached_property
    def motion(self) -> Motion:
        """Two rotations about axes through the origin."""
        screws = _rotations(self.axis1, self.axis2)
        return ScrewProduct(screws, ("rad", "rad"), "universal_wrenches", chart="crossed_axes")

    @property
    def canonical_frame(self) -> FloatArray:
        """Frame where the axes cross, with the axes of the joint frame."""
        return translation(self.point)

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return the lesser of |cos q_1| and |cos q_2| of each row."""
        least: FloatArray = np.abs(np.cos(q)).min(axis=1)
        return least


def _rotations(*axes: FloatArray) -> FloatArray:
    """Return the screws (n, 6) of rotations about axes through the origin."""
    return np.array([[*unit(axis), 0.0, 0.0, 0.0] for axis in axes])
