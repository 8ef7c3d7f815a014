"""The contract of the numbers that events watch."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from mbkit.errors import UsageError

if TYPE_CHECKING:
    from mbkit.spatial.arrays import FloatArray
    from mbkit.systems import System


class Quantity(abc.ABC):
    """A number that depends on the state, and is zero at an event.

    Subclass it with `value`, and with `gradient` where an `Impact` shall be possible.

    Examples
    --------
    >>> import mbkit as mb
    >>> class KineticEnergy(mb.Quantity):
    ...     def value(self, system, t, q, v):
    ...         return system.kinetic_energy(q, v) - 2.0
    >>> mb.Event("fast enough", KineticEnergy(), terminal=True).name
    'fast enough'
    """

    def check(self, system: System) -> None:  # noqa: B027
        """Raise where the system does not have the parts of the quantity; called before a run."""

    @abc.abstractmethod
    def value(self, system: System, t: float, q: Any, v: Any) -> float:
        """Return the number at a state: continuous, and smooth near its zeros."""

    def gradient(self, system: System, t: float, q: Any) -> FloatArray:
        """Return the row g (nv,) with rate = g v, for a quantity of q alone."""
        raise UsageError(
            f"{type(self).__name__} has no gradient, along which an impact acts; use a "
            "JointPosition, a PlaneDistance or a Quantity with gradient(system, t, q) -> (nv,)."
        )

    def compiled(self, system: System) -> tuple[str, int, float] | None:
        """Return ("q" or "v", its entry, level) where that is all: then compiled code watches."""
        return None
