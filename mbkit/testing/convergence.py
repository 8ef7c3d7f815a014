"""Orders of convergence, measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import MbkitError

__all__ = ["Slope", "errors_of_steps", "fitted_slope"]

#: Step sizes from which a slope is taken.
POINTS = 4


class Slope(NamedTuple):
    """A slope in doubly logarithmic scales, and its standard error."""

    value: float
    uncertainty: float

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.uncertainty:.3f}"


def errors_of_steps(
    measure: Callable[[int], Sequence[float]],
    first: int,
    *,
    ratio: float,
    floors: Callable[[int], Sequence[float]],
    most: int,
    multiple: int = 1,
) -> tuple[list[int], Any]:
    """Return numbers of steps and errors, with ever smaller steps until rounding takes over.

    Steps that are too large for the method, so that it ends in an error of mbkit, are left out, and
    those before them; that error is raised if all are. ``measure(steps)`` returns the errors,
    ``floors(steps)`` their rounding, by column. The first number of steps is multiplied
    by `ratio` up to `most`, in multiples of `multiple`.
    """
    counts: list[int] = []
    errors: list[Sequence[float]] = []
    failed: MbkitError | None = None
    steps = first
    while steps <= most and (not errors or (np.array(errors[-1]) > floors(counts[-1])).any()):
        try:
            found = measure(steps)
        except MbkitError as error:
            failed = error
            counts.clear()
            errors.clear()
        else:
            counts.append(steps)
            errors.append(found)
        steps = max(steps + multiple, multiple * round(ratio * steps / multiple))
    if not errors and failed is not None:
        raise failed
    return counts, np.array(errors)


def fitted_slope(counts: Sequence[int], errors: Any) -> Slope:
    """Return the order of a sequence of errors, and its standard error.

    Of the line through the logarithms of numbers of steps and errors, by least squares.

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
