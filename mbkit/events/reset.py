"""Resets: the effect of an event on the state."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import ShapeError, UsageError
from mbkit.events.fields import finite
from mbkit.systems.calls.entries import prescribed_velocities

if TYPE_CHECKING:
    from mbkit.events.event import Event
    from mbkit.systems import System

#: Part of the largest below which a singular value counts as zero, and a motion as none.
_RANK = 1e-9


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

    def check(self, system: System, event: Event) -> None:  # noqa: B027
        """Raise where the jump cannot be done at this event; called before a run."""

    @abc.abstractmethod
    def apply(self, system: System, event: Event, t: float, q: Any, v: Any) -> tuple[Any, Any]:
        """Return q and v after the jump; the arrays that are given may be changed."""


@final
@attrs.frozen
class Impact(Reset):
    """A collision: the velocities jump such that the rate of the event's number turns round.

    An impulse acts along the gradient g of the number, as from a frictionless contact there:
    v+ = v - (1 + e) (g v) M^-1 g / (g M^-1 g), so that g v+ = -e g v. All velocities jump, as far
    as the masses couple them; the momentum along everything else is kept. It pushes and never
    pulls: where the number moves away from the wall already, nothing happens. Prescribed joints do
    not give way. In a closed mechanism the impulses of the constraints keep it closed: P M^-1 g
    stands for M^-1 g, with P = 1 - M^-1 A^T (A M^-1 A^T)^+ A. Source:
    Featherstone, *Rigid Body Dynamics Algorithms*, Springer 2008, section 11.7; Newton's law of
    restitution.

    The direction of the event, "falling" or "rising", selects the side from which the wall is hit.

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

    def check(self, system: System, event: Event) -> None:
        """Raise UsageError where the number has no gradient, or only prescribed joints move it."""
        g = np.asarray(event.when.gradient(system, 0.0, system.reference_configuration()))
        prescribed = ", ".join(f"'{joint}'" for joint in system.prescribed_joints)
        if prescribed and g.any() and not g[_free(system)].any():
            raise UsageError(
                f"An impact along {event.when!r} would have to move {prescribed}, whose motion is "
                "prescribed; let the event watch another number, or end the run there."
            )

    def apply(self, system: System, event: Event, t: float, q: Any, v: Any) -> tuple[Any, Any]:
        """Return q, and v after the impact."""
        g = np.asarray(event.when.gradient(system, t, q.copy()), dtype=np.float64)
        if g.shape != (system.nv,) or not np.isfinite(g).all():
            raise ShapeError(
                f"{type(event.when).__name__}: gradient(system, t, q) must return {system.nv} "
                f"finite numbers, got {g}."
            )
        rate = float(g @ v)
        if rate * (-1.0 if event.direction == "falling" else 1.0) <= 0.0:
            return q, v
        free = _free(system)
        size = float(np.abs(g[free]).max(initial=0.0))
        jump = np.zeros(system.nv)
        if size > 0.0:
            jump[free] = _moved(system, t, q, free, g / size)
        mobility = float(g @ jump) / size if size > 0.0 else 0.0
        if not mobility > 0.0:
            raise UsageError(
                f"An impact along {event.when!r} at t = {t:.9g} s moves nothing: what is "
                "prescribed, and the constraints, hold it. Let the event watch another number."
            )
        return q, v - (1.0 + self.restitution) * (rate / size) / mobility * jump


def _free(system: System) -> Any:
    """Return which velocities are not prescribed, a mask (nv,)."""
    return ~prescribed_velocities(system)


def _moved(system: System, t: float, q: Any, free: Any, g: Any) -> Any:
    """Return P M^-1 g of the free velocities; prescribed ones do not give way.

    With M = L L^T, B = A L^-T and y = L^-1 g it is L^-T (y - B^+ B y).
    """
    constrained = system.num_velocity_constraints > 0
    if free.all() and not constrained:
        return system.mass_factor(q).solve(g)
    M = system.mass_matrix(q)[np.ix_(free, free)]
    if not constrained:
        return np.linalg.solve(M, g[free])
    L = np.linalg.cholesky(M)
    y = np.linalg.solve(L, g[free])
    B = np.linalg.solve(L, system.constraint_jacobian(q, t)[:, free].T).T
    left = y - np.linalg.lstsq(B, B @ y, rcond=_RANK)[0]
    if not np.linalg.norm(left) > _RANK * np.linalg.norm(y):
        return np.zeros_like(y)
    return np.linalg.solve(L.T, left)


@final
@attrs.frozen
class FunctionReset(Reset):
    """A function ``(t, q, v) -> (q, v)``."""

    function: Callable[[float, Any, Any], tuple[Any, Any]] = attrs.field(
        repr=lambda function: getattr(function, "__qualname__", type(function).__qualname__)
    )

    def apply(self, system: System, event: Event, t: float, q: Any, v: Any) -> tuple[Any, Any]:
        """Return what the function returns."""
        state = self.function(t, q, v)
        if not isinstance(state, tuple) or len(state) != 2:
            raise UsageError(
                f"Event '{event.name}': reset(t, q, v) must return the pair (q, v), got {state!r}."
            )
        return state
