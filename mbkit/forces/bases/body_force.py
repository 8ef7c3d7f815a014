"""Base class of forces on bodies."""

from __future__ import annotations

from typing import ClassVar

import attrs

from mbkit.errors import ForceError
from mbkit.forces.bases.fields import check_name_field
from mbkit.forces.force import Force


@attrs.frozen
class BodyForce(Force):
    """A force on one body."""

    acts_on: ClassVar[str] = "bodies"

    name: str
    body: str = attrs.field(validator=check_name_field)

    @property
    def bodies(self) -> tuple[str, ...]:  # type: ignore[override]
        """The body's name."""
        return (self.body,)


@attrs.frozen
class PairForce(Force):
    """A force between two bodies, one of which may be the world, opposite on either."""

    acts_on: ClassVar[str] = "bodies"

    name: str
    body_a: str = attrs.field(validator=check_name_field)
    body_b: str = attrs.field(validator=check_name_field)

    def __attrs_post_init__(self) -> None:
        if self.body_a == self.body_b:
            raise ForceError(
                f"Force {self.name!r}: body_a and body_b must be two bodies, got {self.body_a!r} "
                "twice."
            ).about("body_b")

    @property
    def bodies(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of both bodies."""
        return (self.body_a, self.body_b)
