"""Explicit Runge-Kutta-Munthe-Kaas methods.

The step is `mbkit.kernels.time_loops.munthe_kaas`, or `munthe_kaas_adaptive` there; its stages are
`mbkit.kernels.explicit_integrators.stages`, the size of adaptive steps
`mbkit.kernels.explicit_integrators.step_size`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError, check_kind
from mbkit.given_values import as_number, positive_number
from mbkit.integrators.charts import angular_entries
from mbkit.integrators.checks import (
    check_above_rounding,
    has_tolerance,
    whole,
)
from mbkit.integrators.coefficients.tableaus import RK4, TABLEAUS, Tableau
from mbkit.integrators.description import shown
from mbkit.integrators.integrator import Advance, Integrator, Problem
from mbkit.integrators.step_memory import Record

if TYPE_CHECKING:
    from mbkit.integrators.compiled import StepInLanes

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
    adaptive steps, none longer than h, the last of which ends on the second. The error of a step
    is estimated in the algebra, by ``h sum (b_i - b_embedded_i) k_i`` of configuration and velocity
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
    takes_momenta = True

    tableau: Tableau = attrs.field(default=RK4)
    rtol: float | None = attrs.field(default=None, converter=as_number)
    atol: float | None = attrs.field(default=None, converter=as_number)
    truncation: int | None = attrs.field(default=None, converter=whole)

    @tableau.validator
    def _check_tableau(self, _attribute: object, tableau: object) -> None:
        remedy = f"mbkit.tableaus has {', '.join(each.name for each in TABLEAUS.values())}"
        what = "RungeKuttaMuntheKaas: tableau"
        check_kind(what, tableau, Tableau, "an mbkit.Tableau", remedy)

    @rtol.validator
    @atol.validator
    def _check_tolerance(self, attribute: Any, value: Any) -> None:
        if value is None:
            return
        what = f"RungeKuttaMuntheKaas: {attribute.name}"
        positive_number(what, value, remedy="leave out rtol and atol for steps of one size")
        if attribute.name == "rtol":
            check_above_rounding(what, value)
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
        return _adaptive_steps(self, problem) if self.adaptive else _equal_steps(self, problem)


def _equal_steps(method: RungeKuttaMuntheKaas, problem: Problem) -> Advance:
    from mbkit.integrators.explicit_records import (
        advance_by,
        dense_output_of,
        last_of,
        scheme_of,
        stages_of,
        state_of,
    )
    from mbkit.kernels.time_loops.munthe_kaas import advance

    tableau = method.tableau
    scheme = scheme_of(problem, tableau, method.truncation, tableau.num_stages)
    stages, last = stages_of(problem, tableau.b.size), last_of(problem)

    def between(t: float, state: Any) -> int:
        from mbkit.kernels.explicit_integrators.dense_output import interpolate  # long to compile

        return int(interpolate(problem.space, scheme, dense, t, state, last, stages))

    dense = dense_output_of(tableau, problem, between)
    state, count = state_of(problem), tableau.num_stages
    return advance_by(
        problem, advance, scheme, state, stages, last,
        evaluations=count, in_lanes=lambda: _in_lanes(problem, scheme),
    )  # fmt: skip


def _in_lanes(problem: Problem, scheme: Any) -> StepInLanes:
    """Return how several runs take these steps side by side."""
    from mbkit.integrators.compiled import StepInLanes
    from mbkit.kernels.time_loops.memory_in_lanes import size_of_stages
    from mbkit.kernels.time_loops.munthe_kaas import step_in_lanes

    count = scheme.b.size
    numbers = size_of_stages(problem.nq, problem.nv, count) + scheme.series.brackets.size
    return StepInLanes(step_in_lanes, scheme_in_lanes(scheme), numbers, count)


def scheme_in_lanes(scheme: Any) -> Record:
    """Return the record of a scheme for steps in lanes."""
    from mbkit.kernels.time_loops.munthe_kaas import METHOD

    count, series = scheme.b.size, scheme.series
    return Record(
        METHOD, num_stages=count, truncation=series.truncation, exact=series.exact,
        A=scheme.A[:count, :count].copy(), b=scheme.b, c=scheme.c,
    )  # fmt: skip


def _adaptive_in_lanes(problem: Problem, scheme: Any, control: Any) -> StepInLanes:
    """Return how several runs take steps side by side that each of them chooses."""
    from mbkit.integrators.compiled import StepInLanes
    from mbkit.kernels.time_loops.adaptive_in_lanes import (
        METHOD,
        NUM_OWN,
        attempt_in_lanes,
        size_of_rest,
    )
    from mbkit.kernels.time_loops.memory_in_lanes import size_of_stages
    from mbkit.kernels.time_loops.munthe_kaas_adaptive import NUM_PROGRESS

    behind = size_of_stages(problem.nq, problem.nv, scheme.b.size)
    numbers = behind + size_of_rest(problem.nq, problem.nv)
    method = Record(
        METHOD, scheme=scheme_in_lanes(scheme), b_error=control.b_error, angular=control.angular,
        order=control.order, rtol=control.rtol, atol=control.atol, widest=control.widest,
    )  # fmt: skip
    counted = behind + NUM_PROGRESS
    progress = slice(behind, counted), slice(counted, behind + NUM_OWN)
    return StepInLanes(attempt_in_lanes, method, numbers, 0, adaptive=True, progress=progress)


def _adaptive_steps(method: RungeKuttaMuntheKaas, problem: Problem) -> Advance:
    from mbkit.integrators.explicit_records import (
        Control,
        advance_by,
        dense_output_of,
        empty_state,
        last_of,
        scheme_of,
        stages_of,
        state_of,
    )
    from mbkit.kernels.time_loops.munthe_kaas_adaptive import (
        NUM_PROGRESS,
        Method,
        Progress,
        advance,
    )

    tableau, size = method.tableau, problem.ndx
    scheme = scheme_of(problem, tableau, method.truncation, tableau.b.size)
    stages = stages_of(problem, tableau.b.size)
    rtol = 0.0 if method.rtol is None else method.rtol
    control = Control(
        b_error=scheme.b - tableau.b_embedded,
        order=1.0 + min(method.order, tableau.embedded_order),
        rtol=rtol,
        atol=rtol if method.atol is None else method.atol,
        widest=float(problem.h),
        angular=angular_entries(problem),
        errors=np.zeros(size + problem.nv),
    )
    problem.memory["step_size"] = remembered = np.zeros(2)
    progress = Progress(
        np.zeros(NUM_PROGRESS), remembered, empty_state(problem), last_of(problem),
        empty_state(problem), np.zeros(size), problem.counts,
    )  # fmt: skip

    def between(t: float, state: Any) -> int:
        from mbkit.kernels.explicit_integrators import adaptive_dense_output  # long to compile

        interpolate = adaptive_dense_output.interpolate
        return int(interpolate(problem.space, pair, dense, t, state))

    dense = dense_output_of(tableau, problem, between)
    pair = Method(scheme, control, state_of(problem), progress, stages)
    return advance_by(
        problem, advance, pair, in_lanes=lambda: _adaptive_in_lanes(problem, scheme, control)
    )
