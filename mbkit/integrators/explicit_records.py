"""The records that explicit time loops are given: a tableau's coefficients, memory for stages."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.integrators.charts import other_charts
from mbkit.integrators.integrator import Problem
from mbkit.integrators.tableau import Tableau

__all__ = ["empty_state", "scheme_of", "stages_of"]


def scheme_of(problem: Problem, tableau: Tableau, truncation: int | None, num_stages: int) -> Any:
    """Return a Runge-Kutta-Munthe-Kaas method, `kernels.explicit.stages.Scheme`.

    Parameters
    ----------
    problem : Problem
        What is integrated.
    tableau : Tableau
        The coefficients.
    truncation : int or None
        Brackets in the series of the inverse differential; None: it is exact.
    num_stages : int
        How many stages a step evaluates.
    """
    from mbkit.kernels.explicit.stages import ALL, Scheme, Series

    exact = truncation is None
    other = np.zeros(problem.ndx) if exact else other_charts(problem)
    series = Series(ALL if exact else truncation, other, np.zeros((4, problem.ndx)))
    return Scheme(np.array(tableau.A), np.array(tableau.b[:num_stages]), tableau.c, series)


def stages_of(problem: Problem, count: int) -> Any:
    """Return memory for so many stages, `kernels.explicit.stages.Stages`."""
    from mbkit.kernels.explicit.stages import Stages

    d, nv = problem.ndx, problem.nv
    return Stages(
        xdot=np.zeros((count, d)),
        vdot=np.zeros((count, nv)),
        powers=np.zeros((count, problem.work.size)),
        x=np.zeros(d),
        w=problem.v_stage if d == nv else np.zeros(d),
        q=problem.q_stage,
        v=problem.v_stage,
        q_end=np.zeros(problem.nq),
    )


def empty_state(problem: Problem) -> Any:
    """Return memory for a state."""
    from mbkit.kernels.time_loops.records import State

    return State(*(np.zeros_like(each) for each in (problem.q, problem.v, problem.work)))
