"""Explicit multistep Munthe-Kaas methods.

The step is `mbkit.kernels.time_loops.multistep_munthe_kaas`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.checks import whole
from mbkit.integrators.coefficients.tableaus import DORMAND_PRINCE5, RK4, Tableau
from mbkit.integrators.description import shown
from mbkit.integrators.integrator import EVALUATIONS, Advance, Integrator, Problem
from mbkit.integrators.munthe_kaas import scheme_in_lanes
from mbkit.integrators.step_memory import Record

if TYPE_CHECKING:
    from mbkit.integrators.compiled import StepInLanes

__all__ = ["MultistepMuntheKaas", "adams_bashforth"]

#: Most steps of a method; with more of them there is next to no step size at which it is stable.
MOST_STEPS = 5


def adams_bashforth(steps: int) -> list[Fraction]:
    """Return the weights of the rates here, a step before, two before, ...

    They are the integrals from 0 to 1 of the polynomials that are 1 at one of 0, -1, -2, ..., and 0
    at the others. Source: Hairer, Norsett, Wanner, *Solving Ordinary Differential Equations I*,
    Springer 1993, equation III.1.5.

    Examples
    --------
    >>> adams_bashforth(2)
    [Fraction(3, 2), Fraction(-1, 2)]
    """
    weights = []
    for i in range(steps):
        others = [j for j in range(steps) if j != i]
        polynomial = [Fraction(1)]  # of s; its factors are s + j
        for j in others:
            raised = [Fraction(0), *polynomial]
            kept = [*polynomial, Fraction(0)]
            polynomial = [a + j * b for a, b in zip(raised, kept, strict=True)]
        integral = sum(entry / (k + 1) for k, entry in enumerate(polynomial))
        weights.append(Fraction(integral) / math.prod(j - i for j in others))
    return weights


@final
@attrs.frozen(repr=False)
class MultistepMuntheKaas(Integrator):
    """Adams and Bashforth's method in coordinates of the group about the state that is reached.

    One evaluation of the equations of motion a step. The states of the steps before, with their
    velocities and accelerations, are the method's memory; their coordinates are taken anew at each
    step, and their velocities pulled along by the inverse differential. The first steps, also after
    an event that has changed the state, are Runge-Kutta-Munthe-Kaas steps.

    It is stable for smaller steps than Runge-Kutta methods of its order, the smaller the higher
    the order.

    Attributes
    ----------
    steps : int
        How many states it uses, from 1 to 5; the order is the same.

    References
    ----------
    .. [1] S. Faltinsen, A. Marthinsen, H. Munthe-Kaas, "Multistep methods integrating ordinary
       differential equations on manifolds", Appl. Numer. Math. 39 (2001) 349-365.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.MultistepMuntheKaas(3).order
    3
    """

    looks = True
    takes_constraints = True
    takes_momenta = True

    steps: int = attrs.field(default=3, converter=whole)

    @steps.validator
    def _check(self, _attribute: object, steps: object) -> None:
        if type(steps) is not int or not 1 <= steps <= MOST_STEPS:
            raise UsageError(
                f"MultistepMuntheKaas: steps must be an integer from 1 to {MOST_STEPS}, got "
                f"{steps!r}."
            )

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q and v."""
        return self.steps

    @property
    def beta(self) -> Any:
        """Weights of the rates here, a step before, ...; shape (steps,)."""
        return np.array([float(weight) for weight in adams_bashforth(self.steps)])

    @property
    def starting_tableau(self) -> Tableau:
        """Coefficients of the first steps, whose error is of the order of the method's at most."""
        return DORMAND_PRINCE5 if self.steps > 4 else RK4

    __repr__ = shown

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        from mbkit.integrators.explicit_records import advance_by, scheme_of, stages_of, state_of
        from mbkit.kernels.time_loops.multistep_munthe_kaas import Past, advance

        beta, tableau = self.beta, self.starting_tableau
        count = tableau.num_stages
        scheme = scheme_of(problem, tableau, None, count)
        stages = stages_of(problem, max(beta.size, count))
        names = ("past_q", "past_rates", "past_vdot", "past_powers")
        sizes = (problem.nq, problem.ndx, problem.nv, problem.work.size)
        arrays = [np.zeros((self.steps - 1, size)) for size in sizes]
        known = np.zeros(1)
        if self.steps > 1:
            problem.memory.update(zip(names, arrays, strict=True), past_known=known)
        past: Any = Past(*arrays, known)  # type: ignore[call-arg]
        problem.counts[EVALUATIONS] += (self.steps - 1) * (count - 1)  # of the first steps
        state = state_of(problem)
        return advance_by(
            problem, advance, beta, scheme, state, past, stages,
            evaluations=1, in_lanes=lambda: _in_lanes(problem, beta, scheme),
        )  # fmt: skip


def _in_lanes(problem: Problem, beta: Any, scheme: Any) -> StepInLanes:
    """Return how several runs take these steps side by side."""
    from mbkit.integrators.compiled import StepInLanes
    from mbkit.kernels.time_loops.memory_in_lanes import size_of_stages
    from mbkit.kernels.time_loops.multistep_munthe_kaas import METHOD, step_in_lanes

    known, rows, nv = np.zeros(1), max(beta.size, scheme.b.size), problem.nv
    starting = scheme_in_lanes(scheme)
    method = Record(
        METHOD, scheme=starting, steps=beta.size, num_rows=rows, beta=beta, known=known
    )  # fmt: skip
    past = (beta.size - 1) * (problem.nq + 2 * nv + problem.work.size)
    numbers = size_of_stages(problem.nq, nv, rows) + 4 * nv + past
    return StepInLanes(step_in_lanes, method, numbers, 1, known)
