"""A rigid body."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import ShapeError, check_name
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown
from mbkit.spatial.frames import stored_pose


def _check_name(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    check_name("Body", value)


def _check_inertia(instance: Body, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, SpatialInertia):
        raise ShapeError(
            f"Body {instance.name!r}: inertia must be an mbkit.SpatialInertia, got {value!r}; "
            "make one by SpatialInertia.from_com(mass=..., com=..., moment_about_com=...)."
        )


@final
@attrs.frozen
class Body:
    """A rigid body with a frame of its own.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    inertia : SpatialInertia, default zero
        In the body's frame.
    pose : ndarray, shape (4, 4), default the identity
        Pose of the body's frame in the world, at the reference configuration. Joints that are
        described in the world start from it, no other thing does.

    Raises
    ------
    ModelError
        If the name does not fit.
    ShapeError, GeometryError
        If `pose` is not a pose, or `inertia` not a SpatialInertia.

    Examples
    --------
    >>> rod = Body("rod", inertia=SpatialInertia.cylinder(2.0, radius=0.01, length=1.0))
    >>> rod.inertia.mass
    2.0
    """

    name: str = attrs.field(validator=_check_name)
    inertia: SpatialInertia = attrs.field(factory=SpatialInertia.zero, validator=_check_inertia)
    pose: FloatArray = attrs.field(
        default=frozen_array(np.eye(4)),
        converter=frozen_array,
        validator=stored_pose,
        eq=EQUAL,
        hash=False,
        repr=shown,
    )
