"""Cubic splines through traced points.

With slopes s at the knots, widths h, and slopes d of the chords, the second derivative does not
jump where

    h_k s_{k-1} + 2 (h_{k-1} + h_k) s_k + h_{k-1} s_{k+1} = 3 (h_k d_{k-1} + h_{k-1} d_k),

and at both ends either the third derivative does not jump at the next knot, or the curve repeats.
Source: C. de Boor, A Practical Guide to Splines, 1978, chapter IV.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["TracedCubicSpline"]


class TracedCubicSpline:
    """Traced form of `scipy.interpolate.CubicSpline`, with the same coefficients.

    Attributes
    ----------
    c : ndarray, shape (4, n - 1, width)
        From the highest power on.
    """

    def __init__(self, x: Any, y: Any, bc_type: str = "not-a-knot") -> None:
        x, y = np.array(x, dtype=object), np.array(y, dtype=object)
        h = np.diff(x)[:, None]
        d = np.diff(y, axis=0) / h
        s = _periodic_slopes(h, d) if bc_type == "periodic" else _free_slopes(h, d)
        bend = (s[:-1] + s[1:] - 2.0 * d) / h
        self.c = np.stack([bend / h, (d - s[:-1]) / h - bend, s[:-1], y[:-1]])


def _free_slopes(h: Any, d: Any) -> Any:
    """Return slopes (n, width) where the third derivative does not jump next to the ends."""
    n = len(h) + 1
    if n == 2:
        return np.concatenate([d, d])
    if n == 3:  # a parabola
        bend = (d[1] - d[0]) / (h[0] + h[1])
        return np.stack([d[0] - h[0] * bend, d[0] + h[0] * bend, d[1] + h[1] * bend])
    below, middle, above, right = _equations(h, d)
    first, last = h[0] + h[1], h[-1] + h[-2]
    right[0] = ((h[0] + 2.0 * first) * h[1] * d[0] + h[0] * h[0] * d[1]) / first
    right[-1] = ((h[-1] + 2.0 * last) * h[-2] * d[-1] + h[-1] * h[-1] * d[-2]) / last
    middle[0], above[0] = h[1, 0], first[0]
    middle[-1], below[-1] = h[-2, 0], last[0]
    return _solved(below, middle, above, right)


def _equations(h: Any, d: Any) -> tuple[Any, Any, Any, Any]:
    """Return three diagonals (n,) and right sides (n, width), whose ends are to be filled."""
    n = len(h) + 1
    below, middle, above = (np.zeros(n, dtype=object) for _ in range(3))
    right = np.zeros((n, d.shape[1]), dtype=object)
    below[1:-1], above[1:-1] = h[1:, 0], h[:-1, 0]
    middle[1:-1] = 2.0 * (h[:-1, 0] + h[1:, 0])
    right[1:-1] = 3.0 * (h[1:] * d[:-1] + h[:-1] * d[1:])
    return below, middle, above, right


def _periodic_slopes(h: Any, d: Any) -> Any:
    """Return slopes (n, width) of a curve that repeats: by its first slope, which is its last."""
    below, middle, above, right = _equations(h, d)
    width = right.shape[1]
    corner = np.zeros((len(right), 1), dtype=object)
    corner[1, 0] -= below[1]
    corner[-2, 0] -= above[-2]
    inner = slice(1, -1)
    sides = np.hstack([right, corner])[inner]
    found = _solved(below[inner], middle[inner], above[inner], sides)
    fixed, moved = found[:, :width], found[:, width:]  # slopes are fixed + moved s_0
    a, b, c = h[0, 0], 2.0 * (h[0, 0] + h[-1, 0]), h[-1, 0]
    side = 3.0 * (h[0] * d[-1] + h[-1] * d[0])
    start = (side - a * fixed[-1] - c * fixed[0]) / (b + a * moved[-1, 0] + c * moved[0, 0])
    return np.concatenate([start[None], fixed + moved * start, start[None]])


def _solved(below: Any, middle: Any, above: Any, right: Any) -> Any:
    """Return the solution of tridiagonal equations, of which the elements on top are eliminated."""
    n = len(middle)
    middle, right = middle.copy(), right.copy()
    for k in range(1, n):
        factor = below[k] / middle[k - 1]
        middle[k] = middle[k] - factor * above[k - 1]
        right[k] = right[k] - factor * right[k - 1]
    for k in range(n - 1, -1, -1):
        rest = right[k] - above[k] * right[k + 1] if k < n - 1 else right[k]
        right[k] = rest / middle[k]
    return right
