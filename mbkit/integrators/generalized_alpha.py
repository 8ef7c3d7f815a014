"""The generalized-alpha method on Lie groups, for systems with and without constraints.

The step is `mbkit.kernels.time_loops.generalized_alpha`; its Newton iteration, `solve_step` in
`mbkit.kernels.implicit_integrators.newton`.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.given_values import as_number
from mbkit.integrators.charts import angular_entries
from mbkit.integrators.checks import (
    check_choice,
    check_multipliers,
    check_tolerance,
    has_tolerance,
)
from mbkit.integrators.description import shown
from mbkit.integrators.implicit_in_lanes import ImplicitStepInLanes
from mbkit.integrators.integrator import Advance, Integrator, Problem
from mbkit.integrators.step_memory import Record, StepMemory
from mbkit.kernels.implicit_integrators.layout import ALPHA

__all__ = ["AlphaCoefficients", "GeneralizedAlpha"]

#: Of the tolerance of a step, what Newton's method may leave of it in a second.
SMALL = 1e-4

#: By how much coefficients may miss a condition.
ROUNDED = 1e-12


@final
@attrs.frozen
class AlphaCoefficients:
    """The four numbers of a generalized-alpha method.

    Attributes
    ----------
    alpha_m, alpha_f : float
        Where in the step accelerations, and forces, are taken.
    beta, gamma : float
        Of Newmark's formulas.

    Raises
    ------
    UsageError
        If ``gamma = 1/2 + alpha_f - alpha_m``, by which the method is of second order, or
        ``alpha_m <= alpha_f <= 1/2``, without which it is unstable, does not hold, or a number is
        not one: beta is positive.

    Notes
    -----
    Stable in steps of any size with ``beta >= 1/4 + (alpha_f - alpha_m) / 2`` too [1]_. Below that,
    as with ``AlphaCoefficients(0, 0, 1/6, 1/2)``, linear acceleration, only where nothing is faster
    than the step, and no constraints are there.

    References
    ----------
    .. [1] J. Chung, G. M. Hulbert, "A time integration algorithm for structural dynamics with
       improved numerical dissipation: the generalized-alpha method", J. Appl. Mech. 60 (1993)
       371-375.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.AlphaCoefficients.from_rho_inf(1.0)
    AlphaCoefficients(alpha_m=0.5, alpha_f=0.5, beta=0.25, gamma=0.5)
    >>> mb.AlphaCoefficients.newmark()
    AlphaCoefficients(alpha_m=0.0, alpha_f=0.0, beta=0.25, gamma=0.5)
    """

    alpha_m: float = attrs.field(converter=as_number)
    alpha_f: float = attrs.field(converter=as_number)
    beta: float = attrs.field(converter=as_number)
    gamma: float = attrs.field(converter=as_number)

    def __attrs_post_init__(self) -> None:
        numbers = (self.alpha_m, self.alpha_f, self.beta, self.gamma)
        if not all(isinstance(x, float) and math.isfinite(x) for x in numbers):
            raise UsageError(f"{self!r}: all four must be finite numbers.")
        if not self.beta > 0.0:
            raise UsageError(f"{self!r}: beta must be positive.")
        gamma = 0.5 + self.alpha_f - self.alpha_m
        if abs(gamma - self.gamma) > ROUNDED:
            raise UsageError(
                f"{self!r} is not of second order: gamma must be 1/2 + alpha_f - alpha_m, which is "
                f"{gamma!r}."
            )
        if not self.alpha_m - ROUNDED <= self.alpha_f <= 0.5 + ROUNDED:
            raise UsageError(
                f"{self!r} is unstable: alpha_m <= alpha_f <= 1/2 must hold, or motions grow in "
                f"steps of any size, or what is faster than the step does. "
                f"AlphaCoefficients.from_rho_inf has coefficients that damp."
            )

    @classmethod
    def from_rho_inf(cls, rho_inf: float) -> AlphaCoefficients:
        """Return the coefficients with that spectral radius for infinite frequencies.

        Parameters
        ----------
        rho_inf : float
            From 0, where what is stiff is gone after a step, to 1, where nothing is damped.
        """
        rho = as_number(rho_inf)
        if not (isinstance(rho, float) and 0.0 <= rho <= 1.0):
            raise UsageError(f"rho_inf must be a number from 0 to 1, got {rho_inf!r}.")
        alpha_m = (2.0 * rho - 1.0) / (rho + 1.0)
        alpha_f = rho / (rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        return cls(alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma)

    @classmethod
    def newmark(cls) -> AlphaCoefficients:
        """Return Newmark's constant average acceleration, the trapezoidal rule: undamped.

        In index 3 its multipliers oscillate; take the stabilised form of index 2.
        """
        return cls(0.0, 0.0, 0.25, 0.5)

    @classmethod
    def hht(cls, alpha: float) -> AlphaCoefficients:
        """Return the method of Hilber, Hughes and Taylor.

        Parameters
        ----------
        alpha : float
            From -1/3, most damping, to 0, Newmark's trapezoidal rule.
        """
        a = as_number(alpha)
        if not (isinstance(a, float) and -1.0 / 3.0 <= a <= 0.0):
            raise UsageError(f"alpha must be a number from -1/3 to 0, got {alpha!r}.")
        return cls(0.0, -a, 0.25 * (1.0 - a) ** 2, 0.5 - a)


@final
@attrs.frozen(repr=False)
class GeneralizedAlpha(Integrator):
    """The generalized-alpha method on the configuration group; implicit, of second order.

    Equations of motion and constraints are solved together at the end of each step, by Newton's
    method with a matrix whose condition does not depend on h, and which is kept for many steps.

    With `rtol` or `atol` the method chooses its steps, as `mbkit.RungeKuttaMuntheKaas` does: the
    `h` of `simulate` is the distance of the points on which states are saved and events looked for,
    and between two of them it takes adaptive steps, none longer than h.

    Attributes
    ----------
    rho_inf : float
        What a step leaves of motions that are infinitely fast: from 0, most damping, to 1, none;
        0.9 if neither it nor `coefficients` is given.
    coefficients : AlphaCoefficients, keyword only
        Others than those that follow from `rho_inf`, such as `AlphaCoefficients.newmark`.
    formulation : {"stabilized_index2", "index3"}
        Whether constraints hold for positions and velocities, or for positions alone. The first is
        that of Gear, Gupta and Leimkuhler, of index 2, and has better multipliers for a slightly
        larger system of equations. Nothing else where there are no constraints.
    tolerance : float
        Of what Newton's method may leave of velocities in all steps of a second: a step is solved
        to h times that, or to rounding. [rad/s^2], [m/s^2]
    start : {"second order", "plain"}
        In index 3, whether the first velocity is perturbed such that multipliers are of second
        order from the first step on; and whether the acceleration-like variable starts at its own
        time. "plain" starts both from what they stand for, and leaves a transient of first order in
        the multipliers.
    rtol, atol : float, optional
        Relative and absolute tolerance of a step; steps have one size if both are left out. With
        `rtol` alone `atol` is the same number; with `atol` alone `rtol` is 0. [rad, m, rad/s, m/s]

    Notes
    -----
    Forces may be stiff: `rho_inf` below 1 damps what is faster than the step. Their derivatives are
    taken by `System.force_derivatives`; a Python function ``tau`` is not differentiated, so that a
    stiff one belongs into an `mbkit.Force`. Rolling joints are not taken, rolling constraints are.

    References
    ----------
    .. [1] O. Bruels, A. Cardona, M. Arnold, "Lie group generalized-alpha time integration of
       constrained flexible multibody systems", Mech. Mach. Theory 48 (2012) 121-137.
    .. [2] M. Arnold, O. Bruels, A. Cardona, "Error analysis of generalized-alpha Lie group time
       integration methods for constrained mechanical systems", Numer. Math. 129 (2015) 149-179.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> method = mb.GeneralizedAlpha(rho_inf=0.8)
    >>> run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, q=[0.1], integrator=method)
    >>> round(float(run.q[-1, 0]), 3)
    -0.1
    """

    order = 2
    looks = True
    takes_constraints = True
    keeps_constraints = True
    gives_multipliers = True
    takes_nonholonomic_joints = False

    rho_inf: float | None = attrs.field(default=None, converter=as_number)
    coefficients: AlphaCoefficients | None = attrs.field(default=None, kw_only=True)
    formulation: str = "stabilized_index2"
    tolerance: float = attrs.field(default=1e-8, converter=as_number)
    start: str = "second order"
    rtol: float | None = attrs.field(default=None, converter=as_number)
    atol: float | None = attrs.field(default=None, converter=as_number)

    @property
    def numbers(self) -> AlphaCoefficients:
        """The coefficients that are used."""
        if self.coefficients is not None:
            return self.coefficients
        return AlphaCoefficients.from_rho_inf(0.9 if self.rho_inf is None else self.rho_inf)

    @coefficients.validator
    def _check_coefficients(self, _attribute: object, given: object) -> None:
        if given is not None and not isinstance(given, AlphaCoefficients):
            raise UsageError(
                f"GeneralizedAlpha: coefficients must be mbkit.AlphaCoefficients, got {given!r}; "
                f"for example mbkit.AlphaCoefficients.newmark()."
            )
        if given is not None and self.rho_inf is not None:
            raise UsageError(
                f"GeneralizedAlpha: rho_inf={self.rho_inf!r} and coefficients are given, of which "
                f"one says the other; give one of them."
            )

    def __attrs_post_init__(self) -> None:
        _ = self.numbers  # says what is wrong with rho_inf
        check_choice(self, "formulation", ("stabilized_index2", "index3"))
        check_choice(self, "start", ("second order", "plain"))
        check_tolerance(self)
        for field in ("rtol", "atol"):
            if getattr(self, field) is not None:
                check_tolerance(self, field)

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether steps are chosen by `rtol` or `atol`."""
        return has_tolerance(self)

    __repr__ = shown

    def for_parts(self) -> GeneralizedAlpha:
        """Return the stabilised method: index 3 divides rounding by the part of a step."""
        return attrs.evolve(self, formulation="stabilized_index2")

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        from mbkit.integrators.compiled import advance_by
        from mbkit.kernels.time_loops.generalized_alpha import solve_end, take_step
        from mbkit.kernels.time_loops.implicit_steps import advance

        problem.provide("inverse_dynamics")
        check_multipliers(self, problem)
        stabilised = self.formulation == "stabilized_index2"
        given = [each for each in (self.rtol, self.atol) if each is not None]
        tolerance = min([self.tolerance, *(SMALL * each for each in given)])
        step = StepMemory(problem, stabilised=stabilised, tolerance=tolerance, solve_end=solve_end)
        corrected = self.start == "second order"
        c = self.numbers
        nq, nv, m = problem.nq, problem.nv, problem.equations.num_velocity_constraints
        own = {
            "vdot": np.zeros(nv), "multipliers": problem.multipliers, "eta": np.zeros(m),
            "powers": np.zeros(2), "started": np.zeros(1), "change": np.zeros(nv),
        }  # fmt: skip
        acceleration = np.zeros(nv)
        problem.memory |= {"acceleration": acceleration, **own}
        coefficients = np.array(
            [c.alpha_m, c.alpha_f, c.beta, c.gamma, corrected, corrected and not stabilised],
            dtype=np.float64,
        )
        scratch = {
            "v_n": nv, "powers_next": 2, "trial": nq, "wanted": nv, "room": 2 * nv,
            "aside": 4 * nv + 2 * m + 2,
        }  # fmt: skip
        method = Record(
            ALPHA, **own, take_step=0 if self.adaptive else take_step.address, a=acceleration,
            coefficients=coefficients, floats=scratch,
        )  # fmt: skip
        sizes = {name: array.size for name, array in own.items()} | {"a": nv} | scratch
        if self.adaptive:
            return _adaptive_steps(self, problem, step, method, sizes)
        return advance_by(
            problem, advance, step, method,
            in_lanes=lambda: _in_lanes(step, sizes, coefficients),
        )  # fmt: skip


def _in_lanes(step: StepMemory, sizes: Any, coefficients: Any) -> ImplicitStepInLanes:
    """Return how several runs take these steps side by side."""
    from mbkit.kernels.time_loops.generalized_alpha import step_in_lanes

    fields = {"coefficients": coefficients}
    return ImplicitStepInLanes(step_in_lanes, step, ALPHA, sizes, fields)


def _adaptive_in_lanes(
    h: float, step: StepMemory, coefficients: Any, sizes: Any, choice: Any
) -> ImplicitStepInLanes:
    """Return how several runs take steps side by side that each of them chooses."""
    from mbkit.kernels.time_loops.generalized_alpha_in_lanes import NUM_COUNTS, attempt_in_lanes
    from mbkit.kernels.time_loops.munthe_kaas_adaptive import NUM_PROGRESS

    own = {
        "rate": choice.rate.size, "sizes": choice.sizes.size, "errors": choice.errors.size,
        "progress": NUM_PROGRESS, "counts": NUM_COUNTS,
    }  # fmt: skip
    control = np.array([choice.rtol, choice.atol, h])
    fields = {"coefficients": coefficients, "control": control, "angular": choice.angular}
    return ImplicitStepInLanes(attempt_in_lanes, step, ALPHA, sizes | own, fields, adaptive=True)


def _adaptive_steps(
    given: GeneralizedAlpha, problem: Problem, step: StepMemory, method: Record, sizes: Any
) -> Advance:
    from mbkit.integrators.compiled import advance_by
    from mbkit.kernels.time_loops.generalized_alpha_adaptive import NUM_SIZES, StepSize, advance

    rtol = 0.0 if given.rtol is None else given.rtol
    atol = rtol if given.atol is None else given.atol
    nv = problem.nv
    rate = problem.memory["rate"] = np.zeros(nv)
    remembered = problem.memory["step_size"] = np.zeros(NUM_SIZES)
    kept = np.zeros(sum(array.size for array in problem.state.values()))
    choice = StepSize(
        rtol, atol, angular_entries(problem), rate, remembered, errors=np.zeros(2 * nv), kept=kept,
        counts=problem.counts,
    )  # fmt: skip
    h, coefficients = float(problem.h), method["coefficients"]
    return advance_by(
        problem, advance, step, method, choice,
        in_lanes=lambda: _adaptive_in_lanes(h, step, coefficients, sizes, choice),
    )  # fmt: skip
