"""Explicit Runge-Kutta-Munthe-Kaas methods."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.charts import angular_entries, other_charts
from mbkit.integrators.checks import as_number, check_state, has_tolerance
from mbkit.integrators.compiled import advance_by
from mbkit.integrators.description import shown
from mbkit.integrators.fields import whole
from mbkit.integrators.integrator import Advance, Integrator, Problem
from mbkit.integrators.tableaus import RK4, TABLEAUS, Tableau

__all__ = ["RungeKuttaMuntheKaas"]

#: Brackets after which the series of the inverse differential may end.
MOST_BRACKETS = 6


@final
@attrs.frozen(repr=False)
class RungeKuttaMuntheKaas(Integrator):
    """A Runge-Kutta method in coordinates of the group, taken anew at each step.

    Where the group is a vector space it is the classical method. The inverse differential of the
    exponential map is exact, joint by joint, so that the order is that of the tableau; with
    `truncation` it is a series.

    With `rtol` or `atol` the method chooses its steps. The `h` of `simulate` is then the distance
    of the points on which states are saved and events looked for; between two of them it takes
    steps of its own size, at most h, the last of which ends on the second. The error of a step is
    estimated in the algebra, by ``h sum (b_i - b_embedded_i) k_i`` of configuration and velocity
    alike, and its root mean square in units of ``atol + rtol size`` is kept below one. The size is
    that of a velocity, and of a coordinate where they add; for joints on groups, such as spherical
    and free ones, it is 1 rad and 1 m. A step in which a joint on a group would turn by more than
    0.9 pi is rejected as well.

    With a tableau that has `b_dense`, states at output times within a step come from a polynomial
    in coordinates of the group about its start; closed mechanisms are closed again there.

    Attributes
    ----------
    tableau : Tableau
        Coefficients of an explicit method; `mbkit.tableaus` has some of every order from 1 to 8.
    rtol, atol : float, optional
        Relative and absolute tolerance of a step; steps have one size if both are left out. With
        `rtol` alone `atol` is the same number; with `atol` alone `rtol` is 0. [rad, m, rad/s, m/s]
    truncation : int, optional
        Nested brackets after which the series of the inverse differential ends, from 0 to 6; exact
        if left out. Of the order of the tableau this keeps 2 for 0, 3 for 1, 5 for 2 and 3, 7 for
        4 and 5, and all for 6. Joints whose steps are no exponentials, such as planar ones, have
        the exact one all the same.

    References
    ----------
    .. [1] H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Appl. Numer. Math. 29
       (1999) 115-127.
    .. [2] E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, Springer 2006,
       section IV.8.
    .. [3] E. Hairer, S. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, Springer
       1993, sections II.4 (step size control) and II.6 (dense output).
    .. [4] K. Gustafsson, "Control theoretic techniques for stepsize selection in explicit
       Runge-Kutta methods", ACM Trans. Math. Software 17 (1991) 533-554.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.RungeKuttaMuntheKaas(tableau=mb.tableaus.HEUN).order
    2
    >>> mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8, truncation=2).order
    5
    >>> mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8)
    RungeKuttaMuntheKaas(tableau=Tableau(name='dormand_prince5', order=5), rtol=1e-08)
    """

    looks = True
    takes_constraints = True

    tableau: Tableau = attrs.field(default=RK4)
    rtol: float | None = attrs.field(default=None, converter=as_number)
    atol: float | None = attrs.field(default=None, converter=as_number)
    truncation: int | None = attrs.field(default=None, converter=whole)

    @tableau.validator
    def _check_tableau(self, _attribute: object, tableau: object) -> None:
        if not isinstance(tableau, Tableau):
            raise UsageError(
                f"RungeKuttaMuntheKaas: tableau must be an mbkit.Tableau, got {tableau!r}; "
                f"mbkit.tableaus has {', '.join(each.name for each in TABLEAUS.values())}."
            )

    @rtol.validator
    @atol.validator
    def _check_tolerance(self, attribute: Any, value: Any) -> None:
        if value is None:
            return
        if not (isinstance(value, float) and 0.0 < value < np.inf):
            raise UsageError(
                f"RungeKuttaMuntheKaas: {attribute.name} must be a positive number, got {value!r}; "
                f"leave out rtol and atol for steps of one size."
            )
        if self.tableau.b_embedded is None:
            pairs = [name for name, each in TABLEAUS.items() if each.b_embedded is not None]
            raise UsageError(
                f"RungeKuttaMuntheKaas: {attribute.name}={value!r} needs an estimate of the error, "
                f"and tableau '{self.tableau.name}' has no b_embedded; use {', '.join(pairs)}."
            )

    @truncation.validator
    def _check_truncation(self, _attribute: object, value: Any) -> None:
        if value is None or (type(value) is int and 0 <= value <= MOST_BRACKETS):
            return
        raise UsageError(
            f"RungeKuttaMuntheKaas: truncation must be a number of brackets from 0 to "
            f"{MOST_BRACKETS}, or None for the exact inverse differential; got {value!r}."
        )

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q and v.

        A series that lacks its term with k brackets misses the rate of x by O(h^(k + 1)), since
        [x, w] is O(h^2) and every further bracket with x one order smaller: order k + 1 is kept.
        Terms with 3, 5, ... brackets are zero.
        """
        if self.truncation is None:
            return self.tableau.order
        r = self.truncation
        missing = r + 1 if r in (0, 1) else 2 * (r // 2) + 2
        return min(self.tableau.order, missing + 1)

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether steps are chosen by `rtol` or `atol`."""
        return has_tolerance(self)

    __repr__ = shown

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        arrays = _Arrays.of(self, problem)
        if not self.adaptive:
            return _steps_of_one_size(arrays, problem)
        return _adaptive_steps(self, arrays, problem)


@attrs.frozen(eq=False)
class _Arrays:
    """The coefficients and the memory that both time loops need."""

    tableau: Tableau
    A: Any
    b: Any
    series: tuple[Any, ...]
    memory: Any
    w: Any
    rates: tuple[Any, ...]
    span: Any

    @classmethod
    def of(cls, method: RungeKuttaMuntheKaas, problem: Problem) -> _Arrays:
        from mbkit.kernels.explicit.stages import ALL

        tableau, steps, nv = method.tableau, problem.ndx, problem.nv
        stages = tableau.b.size
        exact = method.truncation is None
        other = np.zeros(steps) if exact else other_charts(problem)
        return cls(
            tableau=tableau,
            A=np.array(tableau.A),
            b=np.array(tableau.b),
            series=(ALL if exact else method.truncation, other, np.zeros((4, steps))),
            memory=np.zeros(problem.nq + 3 * steps + nv),
            w=problem.v_stage if steps == nv else np.zeros(steps),
            rates=(
                np.zeros((stages, steps)),
                np.zeros((stages, nv)),
                np.zeros((stages, problem.work.size)),
            ),
            span=np.zeros(3),
        )

    def dense(self) -> tuple[Any, Any]:
        return np.array(self.tableau.b_dense), np.zeros(self.b.size)


def _steps_of_one_size(arrays: _Arrays, problem: Problem) -> Advance:
    from mbkit.kernels.time_loops.munthe_kaas import advance

    A, b, c = arrays.A, arrays.b, np.array(arrays.tableau.c)
    memory, held = arrays.memory[: problem.nq + problem.ndx], np.zeros(_state_size(problem))

    def loop(grid: Any, state: Any, saved: Any) -> Any:
        return advance(
            problem.space, A, b, c, *arrays.series, *grid, *state, problem.q_stage, problem.v_stage,
            memory, arrays.w, *arrays.rates, held, arrays.span, saved,
        )  # fmt: skip

    if arrays.tableau.b_dense is not None:
        dense, x = arrays.dense(), memory[problem.nq :]

        def between(t: float, q: Any, v: Any, work: Any) -> int:
            from mbkit.kernels.explicit.dense_output import interpolate  # long to compile

            check_state(problem, q, v, work)
            state = interpolate(
                problem.space, A, c, *arrays.series, *dense, t, q, v, work, problem.q_stage,
                problem.v_stage, x, arrays.w, *arrays.rates, held, arrays.span,
            )  # fmt: skip
            return int(state)

        problem.interpolate = between
    return advance_by(problem, loop)


def _adaptive_steps(method: RungeKuttaMuntheKaas, arrays: _Arrays, problem: Problem) -> Advance:
    from mbkit.kernels.time_loops.munthe_kaas_adaptive import NUM_PROGRESS, advance, interpolate

    tableau = method.tableau
    A, b, c = arrays.A, arrays.b, np.array(tableau.c)
    b_error = b - tableau.b_embedded
    rtol = 0.0 if method.rtol is None else method.rtol
    atol = rtol if method.atol is None else method.atol
    order = 1.0 + min(method.order, tableau.embedded_order)
    control = (rtol, atol, order, angular_entries(problem), *arrays.series)
    states, progress = np.zeros((3, _state_size(problem))), np.zeros(NUM_PROGRESS)
    remembered = problem.memory["step_size"] = np.zeros(2)

    def loop(grid: Any, state: Any, saved: Any) -> Any:
        return advance(
            problem.space, A, b, b_error, c, *control, *grid, *state, remembered, problem.q_stage,
            problem.v_stage, arrays.memory, arrays.w, *arrays.rates, states, progress, arrays.span,
            saved,
        )  # fmt: skip

    if tableau.b_dense is not None:
        dense = arrays.dense()

        def between(t: float, q: Any, v: Any, work: Any) -> int:
            check_state(problem, q, v, work)
            state = interpolate(
                problem.space, A, b, b_error, c, *dense, *control, problem.h, t, q, v, work,
                problem.q_stage, problem.v_stage, arrays.memory, arrays.w, *arrays.rates, states,
                progress, arrays.span,
            )  # fmt: skip
            return int(state)

        problem.interpolate = between
    return advance_by(problem, loop)


def _state_size(problem: Problem) -> int:
    return problem.nq + problem.nv + int(problem.work.size)
