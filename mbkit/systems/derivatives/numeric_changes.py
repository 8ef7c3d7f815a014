"""Changes of the equations of motion by differences of eighth order whose step is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import ParameterError, UsageError
from mbkit.joints.defaults.differences import derivative_by
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Change, Point

if TYPE_CHECKING:
    from mbkit.systems.system import System


def differences(
    point: Point, moved: Callable[[float], tuple[System, Floats]], start: float, what: str = "t"
) -> Change:
    """Return a change by differences of the equations at fixed accelerations and multipliers.

    `moved` takes a number to the system and the times that go with it; `start` is a large number
    for it, `what` its name in messages. UsageError if the equations jump.
    """
    sizes = point.sizes

    def parts(system: System, t: Floats) -> Floats:
        found = point.equations(system, t)
        return np.concatenate([x / sizes[name] for name, x in found.items()], axis=-1)

    def at(e: float) -> Floats:
        return parts(*moved(e))

    rate = rate_without_jump(at, start, what, parts(point.system, point.t))
    widths = [point.v.shape[-1], *[point.multipliers.shape[-1]] * 2]
    rates = np.split(rate, np.cumsum(widths), axis=-1)
    return Change(**{n: (x * sizes[n])[..., None] for n, x in zip(sizes, rates, strict=True)})


def rate_without_jump(
    function: Callable[[float], Floats], start: float, what: str, here: Floats | None = None
) -> Floats:
    """Return `best_rate`; UsageError if the function jumps at 0, where it may be known.

    UsageError, too, if there is no function beside 0.
    """
    try:
        rate = best_rate(function, start)
    except ParameterError as error:
        raise UsageError(
            f"There is no derivative by '{what}': values beside its value are refused, as where "
            f"its entries belong together. {error}"
        ) from error
    here = function(0.0) if here is None else here
    _check_no_jump(function, here, rate, _BESIDE * start, what)
    return rate


#: How near equations are compared with where they are, and how far apart they may be.
_BESIDE, _JUMP = 1e-8, 1e-4


def _check_no_jump(
    function: Callable[[float], Floats], here: Floats, rate: Floats, step: float, what: str
) -> None:
    """Raise UsageError if a function is not the limit of what it is beside 0."""
    for e in (-step, step):
        try:
            jump = np.abs(function(e) - here - e * rate)
        except ParameterError:  # there is nothing on that side
            continue
        if jump.max(initial=0.0) > _JUMP:
            raise UsageError(
                f"There is no derivative by '{what}' at this value: the equations jump, as "
                f"where a force is switched, or where directions in a plane are chosen by case. "
                f"Change it a little, by 1e-6 or so."
            )


#: How many first steps are tried, each a quarter of the one before; what is good enough, and what
#: is so good that a shorter step, which is worse, is the last.
_TRIALS, _ENOUGH, _GOOD = 10, 1e-13, 1e-9


def best_rate(function: Callable[[float], Floats], start: float) -> Floats:
    """Return the derivative at 0 by the differences of eighth order that agree best.

    Where there is a function on one side alone, by those of sixth order there; where there is none,
    its ParameterError is raised. `start` is four times the first step that is tried.
    """
    refusal = ParameterError("There are no numbers on either side.")
    for side in (0, 1, -1):
        best, found = np.inf, None
        for k in range(1, _TRIALS):
            try:
                rate, error = derivative_by(function, side, start / 4.0**k)
            except ParameterError as refused:
                refusal = refused
                continue
            size = float(np.abs(rate).max(initial=0.0))
            worse = not error < best
            if not worse:
                best, found = error, rate
            if best <= _ENOUGH * size or (worse and best <= _GOOD * size):
                break
        if found is not None:
            return np.asarray(found)
    raise refusal
