"""Records of explicit time loops: a tableau's coefficients, memory for stages, the state.

To be imported in `prepare`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbkit.integrators.charts import other_charts
from mbkit.integrators.checks import check_state
from mbkit.integrators.coefficients.tableau import Tableau
from mbkit.integrators.compiled import advance_by
from mbkit.integrators.integrator import Problem
from mbkit.kernels.explicit_integrators.stages import (
    ALL,
    DenseOutput,
    LastStep,
    Scheme,
    Series,
    Stages,
)
from mbkit.kernels.explicit_integrators.step_size import Control
from mbkit.kernels.time_loops.records import State

__all__ = [
    "Control",
    "advance_by",
    "dense_output_of",
    "empty_state",
    "last_of",
    "scheme_of",
    "stages_of",
    "state_of",
]


def scheme_of(
    problem: Problem, tableau: Tableau, truncation: int | None, num_stages: int
) -> Scheme:
    """Return a Runge-Kutta-Munthe-Kaas method of `num_stages` stages.

    `truncation` counts the brackets in the series of the inverse differential; None: it is exact.
    """
    exact = truncation is None
    other = np.zeros(problem.ndx) if exact else other_charts(problem)
    series = Series(ALL if exact else truncation, other, np.zeros((4, problem.ndx)))
    return Scheme(tableau.A.copy(), tableau.b[:num_stages].copy(), tableau.c, series)


def stages_of(problem: Problem, count: int) -> Stages:
    """Return memory for so many stages."""
    d, nv = problem.ndx, problem.nv
    return Stages(
        xdot=np.zeros((count, d)),
        vdot=np.zeros((count, nv)),
        powers=np.zeros((count, 2)),
        x=np.zeros(d),
        w=problem.v_stage if d == nv and not problem.momenta else np.zeros(d),
        q=problem.q_stage,
        v=problem.v_stage,
        q_end=np.zeros(problem.nq),
    )


def state_of(problem: Problem) -> State:
    """Return the arrays of the problem's state, which stay the same."""
    return State(problem.q, problem.v, problem.work)


def empty_state(problem: Problem) -> State:
    """Return memory for a state."""
    return State(np.zeros(problem.nq), np.zeros(problem.nv), np.zeros(2))


def last_of(problem: Problem) -> LastStep:
    """Return memory for where the last step began, and its size."""
    return LastStep(empty_state(problem), np.zeros(3))


def dense_output_of(
    tableau: Tableau, problem: Problem, between: Callable[[float, State], int]
) -> DenseOutput | None:
    """Return the tableau's dense output, if it has one, and make it known to the problem.

    ``between(t, state) -> status`` writes the state at a time in the last step.
    """
    if tableau.b_dense is None:
        return None

    def interpolate(t: float, q: np.ndarray, v: np.ndarray, work: np.ndarray) -> int:
        check_state(problem, q, v, work)
        return between(t, State(q, v, work))

    problem.interpolate = interpolate
    return DenseOutput(tableau.b_dense.copy(), np.zeros(tableau.b.size))
