"""Piecewise polynomials on a tape: tables of forces and constraints, and curves of scipy.

Which piece holds a number is found by comparisons, as the kernels find it; all pieces are on the
tape, with a node ``where`` between the halves of the way. So the size of the program grows with
the number of pieces, for each number that is taken from the curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.tape import CannotTraceError, Number, Traced, apply
from mbkit.tracing.branches import BranchingTape

__all__ = ["Curves"]


class Curves:
    """Curves on a tape.

    Parameters
    ----------
    tape : BranchingTape
        The tape of the numbers at which curves are evaluated.
    """

    def __init__(self, tape: BranchingTape) -> None:
        from mbkit.kernels.constraints.kinds import spline
        from mbkit.kernels.forces import time_table

        self.tape = tape
        self._spline, self._time_table = spline, time_table

    def stand_ins(self) -> list[tuple[Any, Callable[..., Any]]]:
        """Return the replacements of the functions of kernels that search in tables."""
        return [
            (self._time_table.piece_at, self.piece_at),
            (self._time_table.value_at, self.value_at),
            (self._spline.curve_at, self.curve_at),
        ]

    def piece_at(self, p: Any, t: Number) -> tuple[None, Number]:
        """Return no piece, and the time within the table: see `value_at`."""
        times = self._time_table.TIMES
        first, last = p[times], p[times + int(p[self._time_table.COUNT])]
        return None, self._where(t, first, first, self._where(t, last, t, last))

    def value_at(self, p: Any, width: int, entry: int, _piece: None, t: Number) -> Number:
        """Return an entry of `mbkit.kernels.forces.time_table.value_at` at a time."""
        table = self._time_table
        ends, coefficients = _table(p, table.COUNT, table.TIMES, width, entry)
        return self._polynomial(ends, coefficients, t)

    def curve_at(self, p: Any, width: int, entry: int, x: Number) -> tuple[Number, ...]:
        """Return value, first and second derivative, as `spline.curve_at` does."""
        table = self._spline
        ends, c = _table(p, table.COUNT, table.KNOTS, width, entry)
        if p[table.PERIOD] != 0.0:
            x = _wrapped(x, ends[0], p[table.PERIOD])
        slopes = [[1.0 * b, 2.0 * d, 3.0 * e] for _, b, d, e in c]
        bends = [[2.0 * d, 6.0 * e] for _, _, d, e in c]
        return tuple(self._polynomial(ends, each, x) for each in (c, slopes, bends))

    def scipy(self, curve: Any, component: int, x: Traced) -> Number:
        """Return an entry, counted flat, of a curve of `scipy.interpolate` at x."""
        ends, rows = _pieces(curve, component)
        first, last = ends[0], ends[-1]
        if curve.extrapolate == "periodic":
            x = _wrapped(x, first, last - first)
        found = self._polynomial(ends, rows, x)
        if curve.extrapolate:
            return found
        within = self.tape.where(("<=", x, last), found, math.nan)
        return self.tape.where(("<", x, first), math.nan, within)

    def _where(self, x: Number, end: Number, before: Number, after: Number) -> Number:
        """Return one number for x < end, else another."""
        if isinstance(x, Traced) or isinstance(end, Traced):
            return self.tape.where(("<", x, end), before, after)
        return before if x < end else after

    def _polynomial(
        self, ends: Sequence[Number], coefficients: Sequence[Sequence[Number]], x: Number
    ) -> Number:
        """Return c_0 + c_1 s + c_2 s^2 + ... of the piece that holds x, s from where it begins."""
        values = []
        for start, numbers in zip(ends, coefficients, strict=False):
            s, value = x - start, numbers[-1]
            for c in numbers[-2::-1]:
                value = c + s * value
            values.append(value)
        return self._of_piece(ends, values, x)

    def _of_piece(self, ends: Sequence[Number], values: Sequence[Number], x: Number) -> Number:
        """Return the value of the piece that holds x, the outer ones beyond the ends."""
        if len(values) == 1:
            return values[0]
        half = len(values) // 2
        before = self._of_piece(ends[: half + 1], values[:half], x)
        return self._where(x, ends[half], before, self._of_piece(ends[half:], values[half:], x))


def _table(p: Any, count: int, knots: int, width: int, entry: int) -> tuple[Any, Any]:
    """Return ends and coefficients of the pieces of an entry, from the memory of a kernel."""
    n = int(p[count])
    rows = p[knots + n + 1 : knots + n + 1 + 4 * width * n].reshape(n, width, 4)
    return p[knots : knots + n + 1], rows[:, entry]


def _wrapped(x: Number, first: Number, period: Number) -> Number:
    """Return x within the period that begins at the first end."""
    return x - period * apply("floor", (x - first) / period)


def _pieces(curve: Any, component: int) -> tuple[Any, Any]:
    """Return ends and coefficients of the pieces of a curve of scipy."""
    from scipy.interpolate import BPoly, BSpline, PPoly

    if isinstance(curve, BSpline):
        c = curve.c.reshape(len(curve.c), -1)[:, component]
        ends = np.unique(curve.t[curve.k : -curve.k or None])
        made = PPoly.from_spline(BSpline(curve.t, c, curve.k))
        rows = made.c[:, np.searchsorted(made.x, ends[:-1], side="right") - 1]
    elif isinstance(curve, PPoly | BPoly):
        made = PPoly.from_bernstein_basis(curve) if isinstance(curve, BPoly) else curve
        ends, rows = made.x, made.c.reshape(*made.c.shape[:2], -1)[:, :, component]
    else:
        raise CannotTraceError(
            f"{type(curve).__name__} does not tell its polynomials; take a CubicSpline, or "
            f"scipy.interpolate.make_interp_spline"
        )
    return ends.tolist(), rows[::-1].T.tolist()
