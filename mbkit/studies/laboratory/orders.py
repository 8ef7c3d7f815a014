"""Orders of convergence, with confidence, in the range of steps in which they are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mbkit.studies.laboratory.findings.table import Table

__all__ = ["ORDER_UNITS", "Order", "order_of", "orders_table"]

#: Slopes between neighbouring steps that differ by no more are of one asymptotic range.
SPREAD = 0.2

#: Errors are used that are so many times the doubt of the reference.
ABOVE_DOUBT = 10.0

#: Columns of a table of orders.
ORDER_UNITS = {
    "of": "", "order": "", "low": "", "high": "", "points": "", "h_largest": "s",
    "h_smallest": "s", "note": "",
}  # fmt: skip

#: Errors whose orders are determined.
ERRORS = ("error", "error_angular_velocity", "error_velocity")


class Order(NamedTuple):
    """An order, its confidence interval of 95 %, and the steps from which it was taken.

    The order is NaN where no range of steps shows one; the note has the reason.
    """

    order: float
    low: float
    high: float
    points: int
    h_largest: float
    h_smallest: float
    note: str


def order_of(h: Sequence[float], errors: Sequence[float], floor: float = 0.0) -> Order:
    """Return the order at which errors fall with h.

    Of the steps whose errors are above the floor, the longest sequence is taken in which the slopes
    between neighbours, in logarithms, differ by at most 0.2: the asymptotic range. The order is the
    slope of the line by least squares through it.

    Parameters
    ----------
    h : sequence of float
        Steps.
    errors : sequence of float
        Of each; those that are no positive numbers are left out.
    floor : float
        Errors below mean nothing.

    Examples
    --------
    >>> h = [0.4, 0.2, 0.1, 0.05, 0.025]
    >>> found = order_of(h, [0.5, 0.04, 0.01, 0.0025, 0.000625])
    >>> found.order, found.points, found.h_largest
    (2.0, 4, 0.2)
    """
    pairs = sorted(zip(h, errors, strict=True), reverse=True)
    kept = [(a, e) for a, e in pairs if math.isfinite(e) and e > max(floor, 0.0)]
    nothing = float("nan")
    if len(kept) < 3:
        note = f"{len(kept)} steps have errors above {floor:.1e}; three are needed"
        return Order(nothing, nothing, nothing, len(kept), nothing, nothing, note)
    x, y = np.log([each[0] for each in kept]), np.log([each[1] for each in kept])
    slopes = np.diff(y) / np.diff(x)
    first, count = _steady(slopes)
    if count < 2:
        told = ", ".join(f"{slope:.2f}" for slope in slopes)
        note = f"no asymptotic range: slopes {told}"
        return Order(nothing, nothing, nothing, len(kept), nothing, nothing, note)
    part = slice(first, first + count + 1)
    order, wide = _line(x[part], y[part])
    left_out = len(pairs) - (count + 1)
    note = f"{left_out} steps outside of the asymptotic range" if left_out else ""
    ends = float(np.exp(x[part][0])), float(np.exp(x[part][-1]))
    value, low, high = (round(each, 12) for each in (order, order - wide, order + wide))
    largest, smallest = (round(each, 15) for each in ends)
    return Order(value, low, high, count + 1, largest, smallest, note)


def _steady(slopes: Any) -> tuple[int, int]:
    """Return where the longest part begins in which slopes agree, and how many it has."""
    best = (0, 0)
    for first in range(len(slopes)):
        for end in range(first + 1, len(slopes) + 1):
            part = slopes[first:end]
            if np.ptp(part) <= SPREAD and part.mean() > 0.0 and end - first >= best[1]:
                best = first, end - first  # of equally long ones that of the smallest steps
    return best


def _line(x: Any, y: Any) -> tuple[float, float]:
    """Return slope and half the width of its confidence interval of 95 %."""
    from scipy.special import stdtrit

    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    freedom = len(x) - 2
    rest = y - slope * x
    return slope, float(stdtrit(freedom, 0.975) * np.sqrt(rest @ rest / freedom / (x @ x)))


def orders_table(cases: Table) -> Table:
    """Return the orders of a comparison, a row for each combination and kind of error."""
    rows = []
    for group in cases.groups("h").values():
        steps, errors, doubts = group["h"], group["error"], group["doubt"]
        choices = {name: group.rows[0].get(name) for name in cases.factors if name != "h"}
        for name in ERRORS:
            if name not in group.columns or not np.nanmax(group[name], initial=0.0):
                continue
            # the reference is doubted in other kinds of errors as much, by their size
            with np.errstate(invalid="ignore", divide="ignore"):
                scale = np.nanmedian(group[name] / errors)
            floor = ABOVE_DOUBT * float(np.nanmax(doubts, initial=0.0)) * float(scale)
            found = order_of(steps, group[name], floor if math.isfinite(floor) else 0.0)
            rows.append({**choices, "of": name, **found._asdict()})
    units = {**dict.fromkeys(cases.factors, ""), **ORDER_UNITS}
    units.pop("h", None)
    return Table(rows, units, tuple(name for name in cases.factors if name != "h"))
