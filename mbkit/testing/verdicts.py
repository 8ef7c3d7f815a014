"""Verdicts on an order, by measured errors: it holds, it does not, or it is undecided.

An error ``C h^p + D h^(p + 1) + ...`` has the slope p where its first term is alone. Rounding, or
the most steps, may come before that: a slope beside the order then refutes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.testing.convergence import POINTS, Slope, fitted_slope
from mbkit.testing.report import Line

__all__ = ["NEAR_FLOOR", "ORDER_BOUND", "Measured", "falling_line", "highest_line", "order_line"]

#: How far a measured order may be from the one that is claimed.
ORDER_BOUND = 0.1

#: Changes of a slope below are none.
STEADY = 0.02

#: By how much less than the order a change may fall with the step.
SLOWER = 0.2

#: Orders are whole numbers: a slope that is farther away than this is of another one.
HALF = 0.5

#: How far above the floor, which is an estimate, errors that grow with smaller steps are rounding.
NEAR_FLOOR = 10.0


@attrs.frozen(eq=False)
class Measured:
    """Errors over numbers of steps, which increase, as far as they are above rounding.

    `rounded`: whether errors have reached rounding; else there were no more steps. Rounding may
    be some times larger than its estimate: the first `clear` of the errors are above that too.
    """

    counts: Any
    errors: Any
    rounded: bool
    clear: int

    @classmethod
    def above(cls, counts: Any, errors: Any, floors: Any) -> Measured:
        """Return the steps and errors before the first error that is rounding."""
        grown = np.append(False, errors[1:] > errors[:-1])
        rounding = (errors < floors) | (grown & (errors < NEAR_FLOOR * floors))
        end = int(np.argmax(rounding)) if rounding.any() else len(counts)
        near = (errors < NEAR_FLOOR * floors)[:end]
        clear = int(np.argmax(near)) if near.any() else end
        return cls(np.array(counts[:end]), errors[:end], bool(rounding.any()), clear)

    def without_doubt(self) -> Measured:
        """Return the steps and errors that are clear of rounding."""
        part = slice(self.clear)
        return attrs.evolve(self, counts=self.counts[part], errors=self.errors[part])

    @classmethod
    def none(cls) -> Measured:
        """Return no steps: the most steps are fewer than the first."""
        return cls(np.array([], dtype=int), np.array([]), rounded=False, clear=0)

    @property
    def slope(self) -> Slope | None:
        """That of the `POINTS` smallest steps; None if there are fewer."""
        if len(self.counts) < POINTS:
            return None
        return fitted_slope(self.counts[-POINTS:], self.errors[-POINTS:])

    @property
    def local_slopes(self) -> Any:
        """Those between the `POINTS` smallest steps, from the largest of them to the smallest."""
        return _between(self.counts[-POINTS:], self.errors[-POINTS:])

    @property
    def turns(self) -> bool:
        """Whether the slope changes from step to step as a further term of the error lets it.

        Such a change at most doubles where steps are halved: a third of it is in the first half.
        Rounding comes at once.
        """
        first, middle, last = self.local_slopes
        return bool(abs(last - first) > STEADY and (middle - first) / (last - first) > 0.25)

    @property
    def limit(self) -> float:
        """The slope extrapolated to h = 0, as if it changed in proportion to h, by a next term."""
        first, *_, last = self.local_slopes
        counts = self.counts[-POINTS:]
        ratio = np.sqrt(counts[0] * counts[1] / (counts[-2] * counts[-1]))
        return float(last + (last - first) * ratio / (1.0 - ratio))

    @property
    def straight(self) -> float | None:
        """The slope of `POINTS` steps, each half of the one before, if it is one; else None."""
        chosen = [len(self.counts) - 1]
        for k in range(len(self.counts) - 2, -1, -1):
            if len(chosen) < POINTS and 2 * self.counts[k] <= 1.02 * self.counts[chosen[-1]]:
                chosen.append(k)
        if len(chosen) < POINTS:
            return None
        counts, errors = self.counts[chosen[::-1]], self.errors[chosen[::-1]]
        slope = fitted_slope(counts, errors).value
        bent = np.abs(_between(counts, errors) - slope).max()
        return slope if bent <= ORDER_BOUND else None


def order_line(law: str, measured: Measured, order: int, most_steps: int) -> Line:
    """Return the line on an order that is claimed, by errors of at most `most_steps` steps.

    1. It holds where the slope is within 0.1 of it, and where the slope is above and errors fall so
       down to rounding: no term of lower order is then left to be seen.
    2. It fails where the slope is below, unless rounding comes before the slope is clear, or the
       slope rises with smaller steps: that slope, or its limit, must then be nearer to the
       order than to the one below, but for twice its uncertainty where rounding follows; errors
       that may have rounding in them refute nothing. What
       counts is the slope of the two smallest steps where that leaves the order, and there are no
       more steps that show whereto.
    3. Else it is undecided, and so it is where fewer than four step sizes are above rounding. Fewer
       than four up to the most steps are undecided as well, and fail: nothing was looked at.
    """
    slope = measured.slope
    if slope is None:
        found = f"{len(measured.counts)} step sizes, of {POINTS} that are needed, have errors above"
        if measured.rounded:
            return _undecided(law, f"{found} rounding")
        remark = f"{found} rounding up to most_steps={most_steps}; give more"
        return attrs.evolve(_undecided(law, remark), holds=False)
    missed, remark = slope.value - order, f"order {slope}"
    first, *_, last = measured.local_slopes
    end = "rounding" if measured.rounded else f"most_steps={most_steps}"
    if not measured.rounded and measured.turns and abs(last - order) > abs(missed):
        missed, remark = last - order, f"{remark}, that of the two smallest steps {last:.2f}"
    if abs(missed) <= ORDER_BOUND:
        return Line(law, True, abs(missed), ORDER_BOUND, remark)
    if missed > 0.0:
        if measured.rounded:
            return Line(law, True, 0.0, ORDER_BOUND, f"at least: {remark}, down to rounding")
        if measured.straight is not None:
            return Line(law, True, 0.0, ORDER_BOUND, f"at least: {remark}")
        return _undecided(law, f"{remark} when {end} is reached; give more")
    rises = last > first
    nearest = measured.limit if rises else slope.value
    doubt = 2.0 * slope.uncertainty if measured.rounded else 0.0
    if nearest + doubt < order - HALF or not (rises or measured.rounded):
        if measured.rounded and POINTS <= measured.clear < len(measured.counts):
            return order_line(law, measured.without_doubt(), order, most_steps)
        return Line(law, False, -missed, ORDER_BOUND, remark)
    more = "" if measured.rounded else "; give more"
    towards = f", and rises to {last:.2f}," if rises else ""
    return _undecided(law, f"{remark}{towards} when {end} is reached{more}")


def highest_line(found: Iterable[Measured], order: int) -> Line:
    """Return the line on whether an order is too low for all that was measured.

    One quantity of one motion may fall faster than the others. All of them do, and at least one
    with the same slope over steps that are halved three times, where the order is another one.
    """
    law = "no order is seen everywhere that is higher than the one claimed"
    known = [each for each in found if each.slope is not None]
    if not known:
        return Line(law, None, remark="none is seen")
    lowest = min(each.slope.value for each in known if each.slope is not None)
    higher = lowest > order + HALF and any(each.straight is not None for each in known)
    missed = max(0.0, lowest - order)
    remark = f"order {lowest:.2f} or higher everywhere; claim that one" if higher else ""
    return Line(law, not higher, missed, HALF, remark)


def falling_line(law: str, found: Sequence[float], order: int, floor: float) -> Line:
    """Return the line on a number that falls with the step at least by the order.

    `found` is the number for a step, where known for half of it, and for a quarter of it; `floor`
    is its rounding. With that in the middle the line may be undecided, as by
    `order_line`.
    """
    coarse, *middle, fine = found
    slope = float(np.log(coarse / fine) / np.log(4.0))
    missed, remark = max(0.0, order - slope), f"falls with order {slope:.2f}"
    rounded = fine < NEAR_FLOOR * floor
    if missed > SLOWER and middle:
        first, last = np.log2(coarse / middle[0]), np.log2(middle[0] / fine)
        nearest = 2.0 * last - first if last > first else slope  # at h = 0
        if nearest >= order - HALF and (last > first or rounded):
            rises = f", and rises to {last:.2f}" if last > first else ""
            return _undecided(law, f"{remark}{rises}{', down to rounding' if rounded else ''}")
    return Line(law, missed <= SLOWER, missed, SLOWER, remark)


def _undecided(law: str, remark: str) -> Line:
    return Line(law, None, remark=remark, undecided=True)


def _between(counts: Any, errors: Any) -> Any:
    return -np.diff(np.log(errors)) / np.diff(np.log(counts))
