"""Changes of the equations of motion by finite differences of high order with a chosen step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import MbkitError, ParameterError, UsageError
from mbkit.joints.defaults.differences import central_differences, derivative_by
from mbkit.lie.arrays import hat
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.parameter_moves import is_pose

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
    here = _by_size(point, point.equations(point.system, point.t))

    def at(e: float) -> Floats:
        return _by_size(point, point.equations(*moved(e)))

    rate = rate_without_jump(at, start, what, here)
    widths = [point.v.shape[-1], *[point.multipliers.shape[-1]] * 2]
    rates = np.split(rate, np.cumsum(widths), axis=-1)
    return Change(**{n: (x * sizes[n])[..., None] for n, x in zip(sizes, rates, strict=True)})


def check_no_jump(
    point: Point, moved: Callable[[float], System], start: float, what: str, change: Change
) -> None:
    """Raise UsageError if the equations jump where a change of one entry is known; cf. above."""
    here = point.equations(point.system, point.t)
    rates = {name: np.asarray(getattr(change, name)) for name in here}
    rate = {
        name: np.broadcast_to(x[..., 0] if x.ndim else x, here[name].shape)
        for name, x in rates.items()
    }

    def at(e: float) -> Floats:
        return _by_size(point, point.equations(moved(e), point.t))

    beside = BESIDE * start
    check_continuous(at, _by_size(point, here), _by_size(point, rate), beside, what)


def _by_size(point: Point, equations: Mapping[str, Floats]) -> Floats:
    """Return equations in parts of how large their terms are, in a row."""
    parts = [x / point.sizes[name] for name, x in equations.items()]
    return np.concatenate(parts, axis=-1)


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
            f"its entries belong together. {error} Leave it out of by=, or write a class of your "
            f"own whose parameter is one number, from which these entries follow."
        ) from error
    here = function(0.0) if here is None else here
    check_continuous(function, here, rate, BESIDE * start, what)
    return rate


#: How near equations are compared with where they are, and how far apart they may be.
BESIDE, _JUMP = 1e-8, 1e-4


def check_continuous(
    function: Callable[[float], Floats], here: Floats, rate: Floats, step: float, what: str
) -> None:
    """Raise UsageError if a function jumps at 0."""
    for e in (-step, step):
        try:
            jump = np.abs(function(e) - here - e * rate)
        except ParameterError:  # there is nothing on that side
            continue
        if (jump > _JUMP).any():  # not a number where there is nothing
            raise UsageError(
                f"There is no derivative by '{what}' at this value: the equations jump, as "
                f"where a force is switched, or where directions in a plane are chosen by case. "
                f"Change it a little, by 1e-6 or so."
            )


#: How many first steps are tried, each a quarter of the one before; the error that is enough, and
#: one so good that a shorter step, which is worse, is the last.
_TRIALS, _ENOUGH, _GOOD = 10, 1e-13, 1e-9

#: How well differences agree, of how large they are, unless the function jumps near 0.
_AGREEING = 1e-4


def best_rate(function: Callable[[float], Floats], start: float) -> Floats:
    """Return the derivative at 0 by differences of sixteenth order, or those that agree best.

    Where they do not agree with those of fourteenth order, the best of eighth order are taken.
    Where there is a function on one side alone, or where it jumps so near 0 that central
    differences of no step agree, by those of sixth order there; where there is none, its
    ParameterError is raised. `start` is four times the first step that is tried.
    """
    best, found = np.inf, None
    refusal = ParameterError("There are no numbers on either side.")
    for side in (0, 1, -1):
        try:
            rate, error = _best_of_side(function, side, start)
        except ParameterError as refused:
            refusal = refused
            continue
        if found is None or error < best:
            best, found = error, rate
        if best <= _AGREEING * float(np.abs(found).max(initial=0.0)):
            break
        if best * start <= _JUMP * float(np.abs(function(0.0)).max(initial=0.0)):
            break  # no more than rounding, of a derivative that is nearly zero
    if found is None:
        raise refusal
    return found


def _best_of_side(
    function: Callable[[float], Floats], side: int, start: float
) -> tuple[Floats, float]:
    """Return the derivative by differences on both sides, or on one, and how far they differ."""
    refusal = ParameterError("There are no numbers on either side.")
    best, found = np.inf, None
    if not side:
        smooth = _of_smooth(function, start)
        if smooth is not None:
            return smooth
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
    if found is None:
        raise refusal
    return np.asarray(found), best


#: The orders of differences of smooth functions; how far both agree, of how large they are, and at
#: which step that is enough.
_ORDERS, _SMOOTH, _SMOOTH_ENOUGH = (16, 14), 1e-12, 2e-13

#: Their steps, in parts of a large number.
_SHORT = (1.0 / 32.0, 1.0 / 64.0, 1.0 / 16.0)


def _of_smooth(function: Callable[[float], Floats], start: float) -> tuple[Floats, float] | None:
    """Return the derivative of a smooth function by differences of sixteenth order, and its error.

    Of a function that is analytic as far as `start`, h^16 (8!)^2 = 1e-15 is left out at the first
    step, and rounding is divided by a longer one than by differences of eighth order.
    None where differences of fourteenth order do not agree, or where values are refused.
    """
    found = None
    for part in _SHORT:
        h = part * start
        try:
            values = {k: function(k * h) for k in range(-_ORDERS[0] // 2, _ORDERS[0] // 2 + 1) if k}
        except ParameterError:
            continue
        rates = []
        for order in _ORDERS:
            steps, weights = central_differences(order, 1.0)
            terms = zip(steps, weights / h, strict=True)
            rates.append(np.sum([w * values[int(k)] for k, w in terms], axis=0))
        error = float(np.abs(rates[0] - rates[1]).max(initial=0.0))
        size = float(np.abs(rates[0]).max(initial=0.0))
        if error <= _SMOOTH * size and (found is None or error < found[1]):
            found = rates[0], error
            if error <= _SMOOTH_ENOUGH * size:
                break
    return found


def chooses(part: Any) -> bool:
    """Whether some numbers of a part are chosen by case, which one beside it need not do."""
    return hasattr(part, "parameters_beside")


def rates_of_numbers(
    part: Any, field: str, start: float, moves: Sequence[Callable[[float], Any]]
) -> Floats:
    """Return the rates of parameters of a force or constraint by entries of a field, (n, k).

    They are read by its compiled function. Most are these entries, or linear in them, so that
    differences of large steps leave no more than rounding. `moves` take a number to values of the
    field, one for each entry, and `start` is a large number for them. UsageError if values beside
    the part's are refused, or the numbers jump there.
    """

    def numbers(value: Any) -> Floats:
        try:
            made: Any = attrs.evolve(part, **{field: value})
            own = made.parameters_beside(part) if chooses(part) else made.parameters()
            return np.asarray(own, dtype=np.float64).reshape(-1)
        except (MbkitError, TypeError, ValueError) as error:
            raise ParameterError(str(error)) from error

    value = getattr(part, field)
    here = numbers(value)
    copied = _rates_of_copies(numbers, np.asarray(value), here, moves)
    if copied is not None:
        return copied
    return rates_without_jump(numbers, start, moves, field, here)


#: How far the numbers of a field are moved: so that none becomes another by chance.
_FAR = 0.2718281828459


def _rates_of_copies(
    numbers: Callable[[Any], Floats],
    value: Any,
    here: Floats,
    moves: Sequence[Callable[[float], Any]],
) -> Floats | None:
    """Return the same where some numbers are entries of the field and the others do not change.

    That is seen at two values, far from the part's and beside it, to the last bit. None where it is
    not so, or where these values are refused.
    """
    if value.dtype != np.float64:
        return None
    is_copy, places = np.zeros(here.shape, dtype=bool), np.zeros(here.shape, dtype=np.int64)
    for e in (_FAR, BESIDE):
        moved = value
        for k, move in enumerate(moves):  # each at another rate
            step = move(e / (1.0 + 0.37 * k))
            moved = moved @ np.linalg.solve(value, step) if is_pose(value) else moved + step - value
        try:
            found = numbers(moved)
        except ParameterError:
            return None
        if found.shape != here.shape:
            return None
        if e == _FAR:
            same = found[:, None] == np.where(moved == value, np.nan, moved).ravel()
            is_copy, places = same.any(axis=1), same.argmax(axis=1)
            if (same.sum(axis=1) > 1).any():
                return None
        if not (found == np.where(is_copy, moved.ravel()[places], here)).all():
            return None
    if is_pose(value):
        rates = np.zeros((6, 4, 4))
        rates[:3, :3, :3] = value[:3, :3] @ hat(np.eye(3))
        rates[3:, :3, 3] = value[:3, :3].T
    else:
        rates = np.stack([move(1.0) - value for move in moves])
    return np.where(is_copy[:, None], rates.reshape((len(moves), -1)).T[places], 0.0)


def rates_without_jump(
    numbers: Callable[[Any], Floats],
    start: float,
    moves: Sequence[Callable[[float], Any]],
    what: str,
    here: Floats,
) -> Floats:
    """Return how numbers (n,) move with values that are moved in several ways, (n, k).

    `here` are their values; those that stay have a rate of zero, without rounding. Otherwise as
    `rate_without_jump`.
    """
    size, none = max(1.0, float(np.abs(here).max(initial=0.0))), np.zeros(here.shape)
    rates = [
        size * rate_without_jump(lambda e, m=m: (numbers(m(e)) - here) / size, start, what, none)  # type: ignore[misc]
        for m in moves
    ]
    return np.stack(rates, axis=-1)
