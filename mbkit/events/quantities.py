"""Numbers that events watch: entries of q and v, distances to planes, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError, no_coordinates, suggestion
from mbkit.events.fields import finite
from mbkit.events.quantity import Quantity
from mbkit.representations import Hybrid
from mbkit.spatial.arrays import (
    EQUAL,
    ORIGIN,
    Z_AXIS,
    FloatArray,
    check_direction,
    frozen_array,
    stored_vector,
)

if TYPE_CHECKING:
    from mbkit.systems import System


def _entry(system: System, name: str, known: tuple[str, ...], what: str) -> int:
    if name not in known:
        joint = name.partition("[")[0]
        if joint in system.loop_joints:
            raise NameUnknownError(
                f"There is no {what} called {name!r}: {no_coordinates(joint, system.remedy)}"
            )
        raise NameUnknownError(f"There is no {what} called {name!r}; {suggestion(name, known)}")
    return known.index(name)


@final
@attrs.frozen
class JointPosition(Quantity):
    """One entry of q minus a level.

    Rotation vectors and Euler angles of absolute joints jump at half a turn; their event sees the
    jump as a change of sign. Let it watch a function of the pose instead.

    Attributes
    ----------
    name : str
        One of `System.position_names`: that of the joint, or with a number, ``"ball[2]"``.
    level : float, default 0
        Where the event is. [rad], [m]

    Examples
    --------
    >>> JointPosition("drop", level=0.1)
    JointPosition(name='drop', level=0.1)
    """

    name: str
    level: float = finite(0.0)

    def check(self, system: System) -> None:
        """Raise NameUnknownError unless the system has this position."""
        _entry(system, self.name, system.position_names, "position")

    def value(self, system: System, t: float, q: Any, v: Any) -> float:
        """Return q - level."""
        return float(q[system.position_names.index(self.name)]) - self.level

    def gradient(self, system: System, t: float, q: Any) -> FloatArray:
        """Return the row of zeros and a one; UsageError where v is not the rate of q."""
        joint_name = self.name.partition("[")[0]
        joint = system.arrays.tree_joints[joint_name]
        positions, velocities = system.position_slice(joint_name), system.velocity_slice(joint_name)
        if not joint.positions_add:
            raise UsageError(
                f"An impact needs a velocity that is the rate of the position '{self.name}', and "
                f"those of a {type(joint).__name__} are others; let the event watch a "
                "PlaneDistance, or a Quantity with a gradient."
            )
        row = np.zeros(system.nv)
        row[velocities.start + system.position_names.index(self.name) - positions.start] = 1.0
        return row

    def compiled(self, system: System) -> tuple[str, int, float]:
        """Return ("q", entry, level)."""
        return "q", system.position_names.index(self.name), self.level


@final
@attrs.frozen
class JointVelocity(Quantity):
    """One entry of v minus a level.

    Attributes
    ----------
    name : str
        One of `System.velocity_names`.
    level : float, default 0
        Where the event is; 0 is where a motion turns round. [rad/s], [m/s]

    Examples
    --------
    >>> JointVelocity("elbow")
    JointVelocity(name='elbow', level=0.0)
    """

    name: str
    level: float = finite(0.0)

    def check(self, system: System) -> None:
        """Raise NameUnknownError unless the system has this velocity."""
        _entry(system, self.name, system.velocity_names, "velocity")

    def value(self, system: System, t: float, q: Any, v: Any) -> float:
        """Return v - level."""
        return float(v[system.velocity_names.index(self.name)]) - self.level

    def compiled(self, system: System) -> tuple[str, int, float]:
        """Return ("v", entry, level)."""
        return "v", system.velocity_names.index(self.name), self.level


@final
@attrs.frozen
class PlaneDistance(Quantity):
    """Distance of a point of a body from a plane of the world, along its normal, minus an offset.

    Attributes
    ----------
    body : str
        Name of the body.
    point : ndarray, shape (3,), default the origin
        In the frame of the body. [m]
    normal : ndarray, shape (3,), default z
        Of the plane, in world axes; its length does not count.
    through : ndarray, shape (3,), default the origin
        A point of the plane, in the world. [m]
    offset : float, default 0
        Distance at which the number is zero, such as the radius of a ball. [m]

    Examples
    --------
    >>> PlaneDistance("ball", offset=0.1).offset
    0.1
    """

    body: str
    point: FloatArray = attrs.field(
        default=ORIGIN, converter=frozen_array, validator=stored_vector, eq=EQUAL
    )
    normal: FloatArray = attrs.field(
        default=Z_AXIS, converter=frozen_array, validator=check_direction, eq=EQUAL
    )
    through: FloatArray = attrs.field(
        default=ORIGIN, converter=frozen_array, validator=stored_vector, eq=EQUAL
    )
    offset: float = finite(0.0)

    def check(self, system: System) -> None:
        """Raise NameUnknownError unless the system has this body."""
        system.body_index(self.body)

    def value(self, system: System, t: float, q: Any, v: Any) -> float:
        """Return n . (p + R r - p_plane) - offset."""
        pose = system.poses(q)[system.body_index(self.body)]
        place = pose[:3, 3] + pose[:3, :3] @ self.point
        return float(self._unit @ (place - self.through)) - self.offset

    def gradient(self, system: System, t: float, q: Any) -> FloatArray:
        """Return n . (J_v - (R r)~ J_w), with the hybrid Jacobian of the body."""
        pose = system.poses(q)[system.body_index(self.body)]
        J = system.jacobian(self.body, q, representation=Hybrid())
        arm = pose[:3, :3] @ self.point
        row: FloatArray = self._unit @ J[3:] + np.cross(arm, self._unit) @ J[:3]
        return row

    @property
    def _unit(self) -> FloatArray:
        unit: FloatArray = self.normal / np.linalg.norm(self.normal)
        return unit


@final
@attrs.frozen
class FunctionQuantity(Quantity):
    """The value of a function of (t, q, v)."""

    function: Callable[[float, Any, Any], float] = attrs.field(
        repr=lambda function: getattr(function, "__qualname__", type(function).__qualname__)
    )

    def value(self, system: System, t: float, q: Any, v: Any) -> float:
        """Return the value of the function."""
        return self.function(t, q, v)
