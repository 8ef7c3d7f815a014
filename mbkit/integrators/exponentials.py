"""Explicit methods that compose exponentials: Crouch-Grossman and commutator-free ones.

The step is `mbkit.kernels.time_loops.exponentials`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import check_kind
from mbkit.integrators.charts import other_charts
from mbkit.integrators.coefficients.composition import COMMUTATOR_FREE4, COMPOSITIONS, Composition
from mbkit.integrators.coefficients.tableaus import CROUCH_GROSSMAN3, Tableau
from mbkit.integrators.description import shown
from mbkit.integrators.integrator import Advance, Integrator, Problem
from mbkit.integrators.step_memory import Record

if TYPE_CHECKING:
    from mbkit.integrators.compiled import StepInLanes


@final
@attrs.frozen(repr=False)
class CommutatorFree(Integrator):
    """A method whose stages and steps are products of exponentials of sums of velocities.

    It needs no differential of the exponential, and no brackets. Joints whose steps are no
    exponentials, such as planar ones, move in coordinates of their own, with the exact
    differential, to the same order.

    Attributes
    ----------
    composition : Composition
        Coefficients; `mbkit.COMMUTATOR_FREE4` if left out.

    References
    ----------
    .. [1] E. Celledoni, A. Marthinsen, B. Owren, "Commutator-free Lie group methods", Future Gener.
       Comput. Syst. 19 (2003) 341-352.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.CommutatorFree().order
    4
    """

    looks = True
    takes_constraints = True
    takes_momenta = True

    composition: Composition = attrs.field(default=COMMUTATOR_FREE4)

    @composition.validator
    def _check(self, _attribute: object, composition: object) -> None:
        what, remedy = "CommutatorFree: composition", f"there are {', '.join(COMPOSITIONS)}"
        check_kind(what, composition, Composition, "an mbkit.Composition", remedy)

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q and v."""
        return self.composition.order

    __repr__ = shown

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        return _prepare(self.composition, problem)


@final
@attrs.frozen(repr=False)
class CrouchGrossman(Integrator):
    """A Runge-Kutta method with an exponential for each of its coefficients.

    Where the group is a vector space it is the classical method. Elsewhere the order is that to
    which the conditions of Crouch and Grossman hold, which most tableaus do not keep from order 3
    on.

    Attributes
    ----------
    tableau : Tableau
        Coefficients of an explicit method; `mbkit.tableaus.CROUCH_GROSSMAN3` if left out, and
        CROUCH_GROSSMAN4 is there too.

    References
    ----------
    .. [1] P. E. Crouch, R. Grossman, "Numerical integration of ordinary differential equations on
       manifolds", J. Nonlinear Sci. 3 (1993) 1-33.
    .. [2] B. Owren, A. Marthinsen, "Runge-Kutta methods adapted to manifolds and based on rigid
       frames", BIT 39 (1999) 116-142.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.CrouchGrossman(mb.tableaus.CROUCH_GROSSMAN4).order
    4
    >>> mb.CrouchGrossman(mb.tableaus.RK4).order
    2
    """

    looks = True
    takes_constraints = True
    takes_momenta = True

    tableau: Tableau = attrs.field(default=CROUCH_GROSSMAN3)

    @tableau.validator
    def _check(self, _attribute: object, tableau: object) -> None:
        what, remedy = "CrouchGrossman: tableau", "for example mbkit.tableaus.CROUCH_GROSSMAN3"
        check_kind(what, tableau, Tableau, "an mbkit.Tableau", remedy)

    @functools.cached_property
    def composition(self) -> Composition:
        """The exponentials, one for each coefficient that is not zero."""
        return Composition.of_tableau(self.tableau)

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q and v."""
        return self.composition.order

    __repr__ = shown

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        return _prepare(self.composition, problem)


def _prepare(composition: Composition, problem: Problem) -> Advance:
    from mbkit.integrators.explicit_records import advance_by, stages_of, state_of
    from mbkit.kernels.time_loops.exponentials import Products, advance

    A = composition.A
    c = A[:-1].sum(axis=1)
    method = Products(
        factors=composition.packed(),
        A=A,
        c=c,
        other=other_charts(problem),
        total=np.zeros(problem.ndx),
        q_before=np.zeros(problem.nq),
    )
    state, stages = state_of(problem), stages_of(problem, c.size)
    return advance_by(
        problem, advance, method, state, stages,
        evaluations=c.size, in_lanes=lambda: _in_lanes(problem, method),
    )  # fmt: skip


def _in_lanes(problem: Problem, products: Any) -> StepInLanes:
    """Return how several runs take these steps side by side."""
    from mbkit.integrators.compiled import StepInLanes
    from mbkit.kernels.time_loops.exponentials import METHOD, step_in_lanes
    from mbkit.kernels.time_loops.memory_in_lanes import size_of_stages

    count = products.c.size
    method = Record(
        METHOD, num_stages=count, num_factors=products.factors.shape[1], factors=products.factors,
        A=products.A, c=products.c, other=products.other,
    )  # fmt: skip
    numbers = size_of_stages(problem.nq, problem.nv, count) + problem.nv + problem.nq
    return StepInLanes(step_in_lanes, method, numbers, count)
