"""Rates of the forces of a system along a motion, by differences in time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.joints.defaults.differences import extrapolated
from mbkit.systems.calls.arguments import Floats, common_axes, times_of

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["derivative_along", "force_rate"]

#: First steps that are tried, halved three times each. [s]
_STEPS = np.array([0.2, 5e-2, 1e-2, 2e-3, 4e-4])
_HALVES = 0.5 ** np.arange(4)[:, None]


def force_rate(
    system: System, q: ArrayLike, rates: Floats, t: ArrayLike, order: int, on_error: str
) -> Floats:
    """Return the rate, or the second, of `generalized_forces` for rates (..., k, nv) of q.

    For a derivative of this order, the motion need be right to this order.
    """
    times = times_of(t, on_error)
    start = system.evaluator.arguments.with_leading_axes("q", q)
    axes = {"q": start.shape[:-1], "rates": rates.shape[:-2], "t": times.shape}
    leading = common_axes(axes)
    start = np.broadcast_to(start, (*leading, system.nq))
    rates = np.broadcast_to(rates, (*leading, *rates.shape[-2:]))
    system.generalized_forces(start, rates[..., 0, :], times, on_error=on_error)  # raises by itself

    def speed(e: Any) -> Floats:
        terms = (e**n / math.factorial(n) * rates[..., n, :] for n in range(order + 1))
        total: Floats = sum(terms, np.zeros(1))
        return total

    first = system.rates(start, rates[..., 0, :], on_error="nan")
    second = np.zeros(first.shape)
    if order > 1:

        def step_rate(e: Any) -> Floats:
            w = system.rates(
                system.retract(start, e * first, on_error="nan"), speed(e), on_error="nan"
            )
            return system.dexp_inv(e * first, w, on_error="nan")

        second = derivative_along(step_rate, leading, 1)

    def force(e: Any) -> Floats:
        there = system.retract(start, e * first + e * e / 2.0 * second, on_error="nan")
        return system.generalized_forces(there, speed(e), times + e[..., 0], on_error="nan")

    return derivative_along(force, leading, order)


def derivative_along(
    function: Callable[[Any], Floats], leading: tuple[int, ...], order: int
) -> Floats:
    """Return the first or second derivative at 0 of function(e), e (k, 1, ..., 1), (k, ..., n).

    Central differences, extrapolated three times: the error is of order h^8. The first step is, for
    each entry by itself, the one whose last two extrapolations agree best.
    """
    e = _HALVES * _STEPS  # (4, first steps)
    steps = np.concatenate([[0.0], e.ravel(), -e.ravel()])
    values = function(steps.reshape((-1, *(1,) * (len(leading) + 1))))
    middle, sides = values[0], values[1:].reshape((2, *e.shape, *values.shape[1:]))
    h = e.reshape((*e.shape, *(1,) * middle.ndim))
    with np.errstate(invalid="ignore"):
        if order == 1:
            table = (sides[0] - sides[1]) / (2.0 * h)
        else:
            table = (sides[0] - 2.0 * middle + sides[1]) / (h * h)
        found, moved = extrapolated(table, 4.0)
        error = moved + 1e-16 * np.abs(sides).max(axis=(0, 1)) / h[-1] ** order
    best = np.argmin(np.where(np.isnan(error), np.inf, error), axis=0)[None]
    chosen: Floats = np.take_along_axis(found, best, axis=0)[0]
    return chosen
