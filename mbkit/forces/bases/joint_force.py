"""Base class of forces of one joint."""

from __future__ import annotations

import attrs

from mbkit.errors import ForceError
from mbkit.forces.bases.fields import check_name_field
from mbkit.forces.force import Force

__all__ = ["JointForce"]


@attrs.frozen
class JointForce(Force):
    """A force along the coordinates of one joint; subclasses define its size."""

    name: str
    joint: str = attrs.field(validator=check_name_field)

    @property
    def joints(self) -> tuple[str, ...]:  # type: ignore[override]
        """The joint's name."""
        return (self.joint,)

    def check_joint(self, joint: str, positions: int, velocities: int) -> None:
        """Raise unless the joint has coordinates that fit; see `check_force_names`."""
        if velocities == 0:
            raise ForceError(
                f"Force {self.name!r}: joint {joint!r} does not move, so that no force does work "
                "in it; choose one that does."
            )


@attrs.frozen
class PositionForce(JointForce):
    """A force that depends on positions, each of which must have its own velocity."""

    def check_joint(self, joint: str, positions: int, velocities: int) -> None:
        """Raise unless the joint has coordinates that fit; see `check_force_names`."""
        JointForce.check_joint(self, joint, positions, velocities)
        if positions != velocities:
            raise ForceError(
                f"Force {self.name!r}: joint {joint!r} has {positions} positions for {velocities} "
                f"velocities, of which {type(self).__name__} knows no zero; use a Bushing between "
                "its bodies."
            )
