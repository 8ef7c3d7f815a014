"""Explicit Runge-Kutta-Munthe-Kaas methods."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.integrator import Advance, Integrator, Problem, Rows
from mbkit.integrators.tableaus import RK4, TABLEAUS, Tableau

__all__ = ["RungeKuttaMuntheKaas"]


@final
@attrs.frozen
class RungeKuttaMuntheKaas(Integrator):
    """A Runge-Kutta method in coordinates of the group, taken anew at each step.

    Where the group is a vector space it is the classical method. The inverse differential of the
    exponential map is exact, joint by joint, so that the order is that of the tableau.

    Attributes
    ----------
    tableau : Tableau
        Coefficients of an explicit method; `mbkit.tableaus` has some.

    References
    ----------
    .. [1] H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Appl. Numer. Math. 29
       (1999) 115-127.
    .. [2] E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, Springer 2006,
       section IV.8.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.RungeKuttaMuntheKaas(tableau=mb.tableaus.HEUN).order
    2
    """

    looks = True
    takes_constraints = True

    tableau: Tableau = attrs.field(default=RK4)

    @tableau.validator
    def _check_tableau(self, _attribute: object, tableau: object) -> None:
        if not isinstance(tableau, Tableau):
            raise UsageError(
                f"RungeKuttaMuntheKaas: tableau must be an mbkit.Tableau, got {tableau!r}; "
                f"mbkit.tableaus has {', '.join(each.name for each in TABLEAUS.values())}."
            )

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q and v."""
        return self.tableau.order

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        from mbkit.kernels.munthe_kaas import advance

        A, b, c = (np.array(part) for part in (self.tableau.A, self.tableau.b, self.tableau.c))
        steps = problem.num_steps
        memory = np.zeros(problem.nq + steps)
        w = problem.v_stage if steps == problem.nv else np.zeros(steps)
        xdot, vdot = np.zeros((b.size, steps)), np.zeros((b.size, problem.nv))
        powers = np.zeros((b.size, problem.work.size))
        count = np.zeros(2, dtype=np.int64)

        def run(first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
            state = advance(
                problem.space, A, b, c, problem.t0, problem.h, first, steps, problem.save_every,
                problem.q, problem.v, problem.work, problem.q_stage, problem.v_stage, memory, w,
                xdot, vdot, powers, count, rows.t, rows.q, rows.v, rows.work,
            )  # fmt: skip
            return int(state), int(count[0]), int(count[1])

        return run
