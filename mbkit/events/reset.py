"""What an event does to the state."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import NotFiniteError, ShapeError, UsageError
from mbkit.events.fields import finite

if TYPE_CHECKING:
    from mbkit.events.quantity import Quantity
    from mbkit.systems import System

__all__ = ["FunctionReset", "Impact", "Reset"]


class Reset(abc.ABC):
    """A jump of the state. Subclass it, or give an event a function ``reset(t, q, v) -> (q, v)``.

    Attributes
    ----------
    departs : bool
        Whether the number of the event goes back after the jump to where it came from, however
        slowly. The event is then found just before its zero, and a start at zero is a contact.
        Otherwise it is found just after, and the motion may go on.
    """

    departs: bool = False

    def check(self, system: System, quantity: Quantity) -> None:  # noqa: B027
        """Raise where the jump cannot be done at this quantity; called before a run."""

    @abc.abstractmethod
    def apply(
        self, system: System, quantity: Quantity, t: float, q: Any, v: Any
    ) -> tuple[Any, Any]:
        """Return q and v after the jump."""


@final
@attrs.frozen
class Impact(Reset):
    """A collision: the velocities jump such that the rate of the event's number turns round.

    An impulse acts along the gradient g of the number, as from a frictionless contact there:
    v+ = v - (1 + e) (g v) M^-1 g / (g M^-1 g), so that g v+ = -e g v. All velocities jump, as far
    as the masses couple them; the momentum along everything else is kept. Source: Featherstone,
    *Rigid Body Dynamics Algorithms*, Springer 2008, section 11.7; Newton's law of restitution.

    Attributes
    ----------
    restitution : float
        e, from 0 (the bodies do not part again) to 1 (no energy is lost).

    Examples
    --------
    >>> import mbkit as mb
    >>> floor = mb.Event("floor", "drop", direction="falling", reset=mb.Impact(0.8))
    """

    restitution: float = finite(attrs.NOTHING, least=0.0, most=1.0)

    @property
    def departs(self) -> bool:  # type: ignore[override]
        """Yes."""
        return True

    def check(self, system: System, quantity: Quantity) -> None:
        """Raise UsageError where the number has no gradient."""
        quantity.gradient(system, 0.0, system.reference_configuration())

    def apply(
        self, system: System, quantity: Quantity, t: float, q: Any, v: Any
    ) -> tuple[Any, Any]:
        """Return q, and v after the impact."""
        g = np.asarray(quantity.gradient(system, t, q), dtype=np.float64)
        if g.shape != (system.nv,):
            raise ShapeError(
                f"{type(quantity).__name__}: gradient(system, t, q) must return an array of shape "
                f"({system.nv},), got {g.shape}."
            )
        jump = system.mass_factor(q).solve(g)
        mobility = float(g @ jump)
        if not mobility > 0.0:
            raise UsageError(
                f"An impact along {quantity!r} at t = {t:.9g} s moves nothing: its gradient is "
                "zero there; let the event watch another number."
            )
        return q, v - (1.0 + self.restitution) * float(g @ v) / mobility * jump


@final
@attrs.frozen
class FunctionReset(Reset):
    """A function ``(t, q, v) -> (q, v)``."""

    function: Callable[[float, Any, Any], tuple[Any, Any]] = attrs.field(
        repr=lambda function: getattr(function, "__qualname__", type(function).__qualname__)
    )

    def apply(
        self, system: System, quantity: Quantity, t: float, q: Any, v: Any
    ) -> tuple[Any, Any]:
        """Return what the function returns, checked."""
        try:
            q_new, v_new = self.function(t, q.copy(), v.copy())
        except (TypeError, ValueError) as error:
            error.add_note("A reset is called as reset(t, q, v) and must return the pair (q, v).")
            raise
        found = np.shape(q_new), np.shape(v_new)
        if found != ((system.nq,), (system.nv,)):
            raise ShapeError(
                f"reset(t, q, v) must return q and v of shapes ({system.nq},) and ({system.nv},), "
                f"got {found[0]} and {found[1]}."
            )
        q_new, v_new = np.array(q_new, dtype=np.float64), np.array(v_new, dtype=np.float64)
        if not (np.isfinite(q_new).all() and np.isfinite(v_new).all()):
            raise NotFiniteError("reset(t, q, v) returned numbers that are not finite.")
        system.potential_energy(q_new)  # refuses what is no configuration
        return q_new, v_new
