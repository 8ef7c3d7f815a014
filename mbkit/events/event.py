"""An event: a name, a number, and an action when it changes its sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs

from mbkit.errors import UsageError, suggestion
from mbkit.events.fields import finite
from mbkit.events.quantities import FunctionQuantity, JointPosition
from mbkit.events.quantity import Quantity
from mbkit.events.reset import FunctionReset, Reset
from mbkit.given_values import check_name

if TYPE_CHECKING:
    from mbkit.systems import System

#: Which changes of sign count, as the kernels know them.
DIRECTIONS = {"falling": -1, "both": 0, "rising": 1}


def _as_quantity(when: Any) -> Any:
    if isinstance(when, str):
        return JointPosition(when)
    return FunctionQuantity(when) if _is_function(when, Quantity) else when


def _as_reset(reset: Any) -> Any:
    return FunctionReset(reset) if _is_function(reset, Reset) else reset


def _is_function(value: Any, kind: type) -> bool:
    """Return whether a function was given, and not an object of a kind, or its class."""
    return callable(value) and not isinstance(value, kind | type)


@final
@attrs.frozen
class Event:
    """A change of sign that a simulation finds, records and acts upon.

    Attributes
    ----------
    name : str
        Unique in a run.
    when : str, Quantity or callable
        The number that is zero at the event: the name of a position of the system, one of
        `JointPosition`, `JointVelocity`, `PlaneDistance`, or a function ``when(t, q, v) -> float``.
    direction : {"both", "rising", "falling"}
        Which changes of sign count.
    terminal : bool
        Whether the run ends there.
    reset : Reset or callable, optional
        How the state jumps there: an `Impact`, or a function ``reset(t, q, v) -> (q, v)``.
    tolerance : float, default 1e-12
        How exactly the time is found. [s]

    Notes
    -----
    The number is looked at after each step: an event is found where it differs in sign from one
    step to the next. Two changes within one step cancel each other; take a smaller step for those.
    The state at the event is that of a step of the integrator to it. An event that is recorded is
    found at most `tolerance` before its zero, an impact too; one that is terminal or has a function
    for `reset` just behind, so that the motion may go on from there.

    Examples
    --------
    >>> import mbkit as mb
    >>> apex = mb.Event("apex", mb.JointVelocity("drop"), direction="falling", terminal=True)
    >>> apex.when
    JointVelocity(name='drop', level=0.0)
    """

    name: str = attrs.field()
    when: Quantity = attrs.field(converter=_as_quantity)
    direction: str = attrs.field(default="both", kw_only=True)
    terminal: bool = attrs.field(default=False, kw_only=True)
    reset: Reset | None = attrs.field(default=None, converter=_as_reset, kw_only=True)
    tolerance: float = finite(1e-12, least=0.0, kw_only=True)  # [s]

    def __attrs_post_init__(self) -> None:
        check_name("Event", self.name)
        if not isinstance(self.when, Quantity):
            raise UsageError(
                f"Event '{self.name}': when must be the name of a position, a Quantity or a "
                f"function when(t, q, v) -> float; got {self.when!r}."
            )
        if not isinstance(self.direction, str) or self.direction not in DIRECTIONS:
            raise UsageError(
                f"Event '{self.name}': there is no direction {self.direction!r}; "
                f"{suggestion(self.direction, DIRECTIONS)}"
            )
        if not isinstance(self.terminal, bool):
            raise UsageError(
                f"Event '{self.name}': terminal must be True or False, got {self.terminal!r}."
            )
        if self.reset is not None and not isinstance(self.reset, Reset):
            raise UsageError(
                f"Event '{self.name}': reset must be an mbkit.Impact or a function "
                f"reset(t, q, v) -> (q, v); got {self.reset!r}."
            )
        if self.reset is not None and self.reset.departs and self.direction == "both":
            raise UsageError(
                f"Event '{self.name}': {type(self.reset).__name__} needs the direction, 'falling' "
                "or 'rising', from which the number comes to the wall."
            )

    @property
    def stops(self) -> bool:
        """Whether the steps cannot simply go on."""
        return self.terminal or self.reset is not None

    def check(self, system: System) -> None:
        """Raise where the event and the system do not fit together."""
        self.when.check(system)
        if self.reset is not None:
            self.reset.check(system, self)

    @property
    def departs(self) -> bool:
        """Whether the number goes back to where it came from after the event."""
        return self.reset is not None and self.reset.departs
