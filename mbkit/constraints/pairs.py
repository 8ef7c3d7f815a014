"""Base classes of constraints between two bodies and between two joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from mbkit.constraints.constraint import Constraint
from mbkit.constraints.fields import check_name_field, fault
from mbkit.errors import ConstraintError
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.joints import Joint


@attrs.frozen
class BodyPairConstraint(Constraint):
    """A constraint between two bodies, one of which may be the world."""

    name: str
    body_a: str = attrs.field(validator=check_name_field)
    body_b: str = attrs.field(validator=check_name_field)

    def __attrs_post_init__(self) -> None:
        if self.body_a == self.body_b:
            raise fault(self, "body_b", f"must be another body than body_a, got {self.body_b!r}.")

    @property
    def bodies(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of both bodies."""
        return (self.body_a, self.body_b)


@attrs.frozen
class JointPairConstraint(Constraint):
    """A constraint between the positions of two joints, each of which has one."""

    name: str
    driver: str = attrs.field(validator=check_name_field)
    driven: str = attrs.field(validator=check_name_field)

    num_rows = 1

    def __attrs_post_init__(self) -> None:
        if self.driver == self.driven:
            raise fault(self, "driven", f"must be another joint than driver, got {self.driven!r}.")

    @property
    def joints(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of both joints."""
        return (self.driver, self.driven)

    def row_units(self, joints: Sequence[Joint]) -> tuple[str, ...]:
        """Return the unit of the driven joint."""
        return ("rad",) if joints[1].position_units == ("rad",) else ("m",)

    def check_joint(self, joint: str, positions: int, velocities: int) -> None:
        """Raise unless a joint has one position and one velocity."""
        if positions != 1 or velocities != 1:
            raise ConstraintError(
                f"Constraint {self.name!r}: joint {joint!r} must have one position, it has "
                f"{positions}, with {velocities} velocities; couple joints of one degree of "
                "freedom, or subclass mbkit.Constraint."
            )


def unit(direction: FloatArray) -> FloatArray:
    """Return the unit vector along a direction (3,), not zero."""
    along: FloatArray = direction / np.linalg.norm(direction)
    return along


def axes_of(direction: FloatArray, beside: FloatArray | None = None) -> FloatArray:
    """Return three unit vectors in rows, right-handed, the first along a direction (3,), not zero.

    The other two are chosen by case, as for the direction `beside` if there is one: they move
    smoothly then.

    Examples
    --------
    >>> axes_of(np.array([0.0, 0.0, 2.0]))[0]
    array([0., 0., 1.])
    """
    first = unit(direction)
    of = first if beside is None else unit(beside)
    least = np.eye(3)[int(np.argmin(of * of))]
    second = unit(np.cross(first, least))
    return np.stack([first, second, np.cross(first, second)])
