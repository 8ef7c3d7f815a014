"""Orders of convergence, measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Slope", "errors_of_steps", "fitted_slope", "last_points"]

#: Step sizes from which a slope is taken.
POINTS = 4


class Slope(NamedTuple):
    """A slope in doubly logarithmic scales, and its standard error."""

    value: float
    uncertainty: float

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.uncertainty:.3f}"


def errors_of_steps(
    measure: Callable[[int], Sequence[float]], first: int, *, ratio: float, floor: float, most: int
) -> tuple[list[int], Any]:
    """Return numbers of steps and errors, with ever smaller steps until rounding takes over.

    Parameters
    ----------
    measure : callable
        Returns the errors for a number of steps.
    first : int
        Number of steps to begin with.
    ratio : float
        Of one number of steps to the one before.
    floor : float
        Errors below are rounding.
    most : int
        Number of steps that is not exceeded.

    Returns
    -------
    list of int, ndarray
        Numbers of steps, and the errors, a row each.
    """
    counts: list[int] = []
    errors: list[Sequence[float]] = []
    steps = first
    while steps <= most and (not errors or max(errors[-1]) > floor):
        counts.append(steps)
        errors.append(measure(steps))
        steps = round(ratio * steps)
    return counts, np.array(errors)


def last_points(counts: Sequence[int], errors: Any, floor: float) -> tuple[Sequence[int], Any]:
    """Return the last `POINTS` numbers of steps with errors above the floor, and these errors."""
    end = int(np.argmax(errors < floor)) if (errors < floor).any() else len(counts)
    return counts[max(0, end - POINTS) : end], errors[max(0, end - POINTS) : end]


def fitted_slope(counts: Sequence[int], errors: Any) -> Slope:
    """Return the order of a sequence of errors, and its standard error.

    Parameters
    ----------
    counts : sequence of int
        Numbers of steps.
    errors : ndarray
        The error of each.

    Returns
    -------
    Slope
        Of the line through the logarithms, by least squares.

    Examples
    --------
    >>> fitted_slope([10, 20, 40], np.array([1e-2, 2.5e-3, 6.25e-4])).value
    2.0
    """
    x, y = -np.log2(np.asarray(counts, dtype=np.float64)), np.log2(errors)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    freedom = max(1, len(counts) - 2)
    return Slope(round(slope, 12), float(np.sqrt(rest @ rest / freedom / (x @ x))))
