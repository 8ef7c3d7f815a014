"""Coefficients of backward differentiation formulas on groups."""

from __future__ import annotations

import functools
from fractions import Fraction
from math import prod
from typing import Any, final

import attrs

from mbkit.errors import UsageError
from mbkit.integrators.checks import as_array
from mbkit.integrators.fields import whole

__all__ = ["MOST_STEPS", "BackwardDifferences", "numbers_of"]

#: With more steps the formulas are not stable, in vector spaces either.
MOST_STEPS = 6


@final
@attrs.frozen
class BackwardDifferences:
    """Backward differentiation by k steps of one size, in coordinates of the group.

    With x(t) the coordinates of q(t) about q_n, and x_i those of q_{n+1-i}, so that x_1 = 0,

        ``h x'(t_{n+1}) = sum_i alpha_i x_i + O(h^(k+1))``

    as for every function of time. What is wanted is the velocity, v = T(x) x', with T the body
    differential at x_0. T takes x_0 from the polynomial through what is known before the step,

        ``x_0 = slope h v_n + sum_i nodes_i x_i + O(h^(k+1))``,

    so that v is linear in the unknown x_0. No bracket appears, and the order is k for every
    retraction.

    Examples
    --------
    >>> BackwardDifferences(2).alpha
    (Fraction(3, 2), Fraction(-2, 1), Fraction(1, 2))
    """

    steps: int = attrs.field(converter=whole)  # k, 1 to 6

    @steps.validator
    def _check(self, _attribute: object, steps: object) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
            raise UsageError(
                f"A backward differentiation formula has 1 to {MOST_STEPS} steps: it is unstable "
                f"with more; got {steps!r}."
            )

    @property
    def alpha(self) -> tuple[Fraction, ...]:
        """The rate by k + 1 values, the newest first: sum of the differences 1/j nabla^j."""
        alpha = [Fraction(0)] * (self.steps + 1)
        for j in range(1, self.steps + 1):
            difference = Fraction(1, j)  # its coefficients: (-1)^i binomial(j, i) / j
            for i in range(j + 1):
                alpha[i] += difference
                difference *= Fraction(i - j, i + 1)
        return tuple(alpha)

    @property
    def gamma(self) -> tuple[Fraction, ...]:
        """The same by increments of k steps, the newest first: partial sums of alpha."""
        return tuple(sum(self.alpha[: j + 1], Fraction(0)) for j in range(self.steps))

    @property
    def slope(self) -> Fraction:
        """Weight of h v_n in the polynomial of degree k that is foreseen."""
        # l(1) for the polynomial with l(0) = 0, l'(0) = 1 and zeros at -1, ..., 1 - k
        return Fraction(prod(Fraction(1 + i, i) for i in range(1, self.steps)))

    @property
    def nodes(self) -> tuple[Fraction, ...]:
        """Weights of x_2, ..., x_k in it."""
        others = range(1, self.steps)  # values at -1, ..., 1 - k; a double zero at 0
        return tuple(
            prod((Fraction(1 + j, j - i) for j in others if j != i), start=Fraction(1, i * i))
            for i in others
        )


@functools.cache  # they take 70 us
def numbers_of(formula: BackwardDifferences) -> tuple[Any, Any, Any]:
    """Return alpha (k + 1,), gamma (k,), and (slope, nodes) (k,), floating point, read-only."""
    parts = (formula.alpha, formula.gamma, (formula.slope, *formula.nodes))
    alpha, gamma, foreseen = (as_array([float(each) for each in part]) for part in parts)
    return alpha, gamma, foreseen
