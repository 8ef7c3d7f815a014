"""The contract of coordinates: strategies by which a mechanism is assembled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mbkit.model.mechanism import Mechanism
    from mbkit.systems import System


class Coordinates(Protocol):
    """A strategy, such as `mbkit.RelativeCoordinates`."""

    def assemble(self, mechanism: Mechanism) -> System:
        """Return the equations of motion of a mechanism; it is not referred to afterwards."""
        ...
