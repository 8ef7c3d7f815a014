"""Backward differentiation formulas on Lie groups, for systems with and without constraints.

The step is `mbkit.kernels.time_loops.bliedf`, its Newton iteration
`mbkit.kernels.implicit_integrators.newton`.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from math import prod
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.given_values import as_number
from mbkit.integrators.checks import (
    as_array,
    check_choice,
    check_multipliers,
    check_tolerance,
    whole,
)
from mbkit.integrators.coefficients.tableaus import DORMAND_PRINCE5
from mbkit.integrators.implicit_in_lanes import ImplicitStepInLanes
from mbkit.integrators.integrator import Advance, Integrator, Problem
from mbkit.integrators.step_memory import Record, StepMemory
from mbkit.kernels.implicit_integrators.layout import FORMULA, STARTING

#: With more steps the formulas are not stable, in vector spaces either.
MOST_STEPS = 6


@final
@attrs.frozen
class BackwardDifferences:
    """Backward differentiation by k steps of one size, in coordinates of the group.

    With x(t) the coordinates of q(t) about q_n, and x_i those of q_{n+1-i}, so that x_1 = 0,

        ``h x'(t_{n+1}) = sum_i alpha_i x_i + O(h^(k+1))``

    as for every function of time. The unknown is the velocity, v = T(x) x', with T the body
    differential at x_0. T takes x_0 from the polynomial through the states before the step,

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


@final
@attrs.frozen
class BLieDF(Integrator):
    """The backward differentiation formulas on the configuration group; implicit, of k steps.

    Equations of motion and constraints are solved together at the end of each step. The formulas
    differentiate coordinates of the group about the newest configuration that is known, so that the
    order is the number of steps, for every retraction. Stiff motions are damped: fully at
    infinity, and near the imaginary axis only up to two steps.

    The first k - 1 steps are taken by the Runge-Kutta-Munthe-Kaas method of Dormand and Prince, of
    order 5, on the equations of index 1 with projection, each in as many parts as agree with half
    as many to ten digits; so are steps after an impact, and steps to output times between others.

    Attributes
    ----------
    steps : int
        k, 1 to 6: the order.
    formulation : {"stabilized_index2", "index3"}
        Whether constraints hold for positions and velocities, or for positions alone. The first is
        that of Gear, Gupta and Leimkuhler, of index 2, and has better multipliers for a slightly
        larger system of equations. Nothing else where there are no constraints.
    correction : bool
        Whether velocities follow the curvature of the group. Without, increments are added as on a
        vector space, and the order is 2 for all k above it, on groups that do not commute.
    tolerance : float
        Bound of the velocity errors of Newton's method in all steps of a second: a step is solved
        to h times that, or to rounding. [rad/s^2], [m/s^2]

    Notes
    -----
    Coordinates reach back over k - 1 steps: bodies on ball joints and free ones must turn by less
    than half a turn in that time.

    With k = 3 to 6 the formulas are stable in a sector about the negative real axis, of 86, 73, 52
    and 18 degrees to either side: stiff motions must be damped too.

    References
    ----------
    .. [1] V. Wieloch, M. Arnold, "BDF integrators for constrained mechanical systems on Lie
       groups", J. Comput. Appl. Math. 387 (2021) 112517.
    .. [2] E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, Springer 1996,
       sections V.1 and V.2.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> method = mb.BLieDF(steps=4)
    >>> run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, q=[0.1], integrator=method)
    >>> round(float(run.q[-1, 0]), 3)
    -0.1
    """

    looks = True
    takes_constraints = True
    keeps_constraints = True
    gives_multipliers = True
    takes_nonholonomic_joints = False

    steps: int = attrs.field(default=2, converter=whole)
    formulation: str = "stabilized_index2"
    correction: bool = True
    tolerance: float = attrs.field(default=1e-13, converter=as_number)

    def __attrs_post_init__(self) -> None:
        steps = self.steps
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
            raise UsageError(
                f"BLieDF: steps must be 1 to {MOST_STEPS}, got {steps!r}; with more the formulas "
                f"are unstable."
            )
        check_choice(self, "formulation", ("stabilized_index2", "index3"))
        if not isinstance(self.correction, bool):
            raise UsageError(f"BLieDF: correction must be True or False, got {self.correction!r}.")
        check_tolerance(self)

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q, v and multipliers."""
        return self.steps if self.correction else min(self.steps, 2)

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        from mbkit.integrators.compiled import advance_by
        from mbkit.kernels.time_loops.bliedf import predict, take_step
        from mbkit.kernels.time_loops.implicit_steps import advance
        from mbkit.kernels.time_loops.starting import starting_step

        problem.provide("inverse_dynamics")
        check_multipliers(self, problem)
        nq, nv = problem.nq, problem.nv
        step = StepMemory(
            problem, stabilised=self.formulation == "stabilized_index2",
            tolerance=self.tolerance, gain=self.correction, predict=predict,
            starting_step=starting_step,
        )  # fmt: skip
        past = max(1, self.steps - 1)
        own = {
            "past_q": np.zeros((past, nq)), "past_x": np.zeros((past, nv)),
            "past_v": np.zeros((past, nv)), "past_work": np.zeros((past, 2)),
            "started": np.zeros(1), "multipliers": problem.multipliers,
        }  # fmt: skip
        problem.memory |= own
        alpha, _, foreseen = numbers_of(BackwardDifferences(self.steps))
        tableau = {"num_stages": DORMAND_PRINCE5.b.size, "stage_weights": DORMAND_PRINCE5.A}
        tableau |= {"b": DORMAND_PRINCE5.b, "c": DORMAND_PRINCE5.c}
        size, count = nq + nv + 2, DORMAND_PRINCE5.b.size
        room = {"room": nq + nv, "xdot": count * nv, "vdot": count * nv, "powers": count * 2}
        starting = Record(
            STARTING, q=problem.q, v=problem.v, work=problem.work, **tableau,
            q_stage=problem.q_stage, v_stage=problem.v_stage,
            floats={"results": 2 * size, **room},
        )  # fmt: skip
        numbers = {
            "steps": self.steps, "num_past": past, "coefficients": alpha, "foreseen": foreseen
        }  # fmt: skip
        scratch = {
            "powers": 2, "x": nv, "sum_x": nv, "rate": nv,
            "q_before": nq, "v_before": nv, "work_before": 2,
        }  # fmt: skip
        method = Record(
            FORMULA, **own, take_step=take_step.address, **numbers, starting=starting,
            floats=scratch,
        )  # fmt: skip
        sizes = {name: array.size for name, array in own.items()} | scratch
        first = {"results": 3 * size, "q_stage": nq, "v_stage": nv, **room}
        return advance_by(
            problem, advance, step, method,
            in_lanes=lambda: _in_lanes(step, sizes, numbers, first, tableau),
        )  # fmt: skip


def _in_lanes(
    step: StepMemory, sizes: Any, fields: Any, first: Any, tableau: Any
) -> ImplicitStepInLanes:
    """Return how several runs take these steps side by side."""
    from mbkit.kernels.time_loops.bliedf import step_in_lanes
    from mbkit.kernels.time_loops.starting import starting_in_lanes

    starting = (starting_in_lanes, first, tableau)
    return ImplicitStepInLanes(step_in_lanes, step, FORMULA, sizes, fields, starting)
