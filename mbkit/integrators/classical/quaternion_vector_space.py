"""Scipy's methods on q itself, with quaternions as four numbers: the classical way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import ConfigurationError, ConvergenceError, JointError, UsageError
from mbkit.integrators.checks import check_choice
from mbkit.integrators.classical.norm_constraint import NormConstraint
from mbkit.integrators.classical.one_step_integrator import OneStepIntegrator
from mbkit.integrators.classical.python_steps import StepFailed, in_python, settled
from mbkit.integrators.classical.quaternions import Quaternions
from mbkit.integrators.classical.scipy_methods import LEAST_RTOL, AdaptiveSteps
from mbkit.integrators.integrator import Advance, Problem

__all__ = ["QuaternionVectorSpace", "check_lock", "named_lock"]

#: Steps before gimbal lock from which on it is why a step fails: Newton's method of Radau does from
#: two or three on, at distances at which other methods do not err much.
_NEAR = 4.0


def check_lock(problem: Problem, q: Any, v: Any, within: float) -> None:
    """Raise ConfigurationError where rates of positions are infinite, or may be so soon.

    Rates of angles at a distance s from gimbal lock, of a body that turns with w across it, are a
    function of t w / s. The error of a step h past it is h w times a function of k = h w / s alone,
    measured with h w of 0.1 and 0.01: for RK45 0.5 at k = 2, 7e-3 at 1 and 3e-5 at 0.5; 0.2, 3e-2
    and 8e-3 for RK23, 2e-3, 1e-5 and 6e-8 for DOP853. From k = 1 on a step is refused. `within` is
    the size of steps [s], zero where errors are controlled.
    """
    time, joint = problem.equations.time_to_lock(q, v)
    if not time <= within:
        return
    where = "are at" if time == 0.0 else f"may come within {time:.3g} s to"
    control = "" if time == 0.0 else " Or give an rtol, or a smaller h."
    raise ConfigurationError(
        f"QuaternionVectorSpace takes the angles of joint {joint!r} as numbers, and they {where} "
        f"gimbal lock, where their rates are infinite. Write the orientation otherwise, by "
        f"mbkit.UnitQuaternion(), mbkit.RotationVector() or angles of another sequence; or take an "
        f"integrator on the group, which goes through, as mbkit.LocalVectorSpace or "
        f"mbkit.RungeKuttaMuntheKaas.{control}"
    )


@contextlib.contextmanager
def named_lock(problem: Problem) -> Iterator[None]:
    """Say that a step failed at gimbal lock, where it did."""
    try:
        yield
    except (StepFailed, ConvergenceError):
        check_lock(problem, problem.q, problem.v, _NEAR * problem.h)
        raise


#: Why methods with several steps are refused.
BROKEN = (
    "which have no place here: at the end of each step quaternions are brought back to length one, "
    "or loops closed, and the states before do not lie on the way to that"
)


@final
@attrs.frozen(repr=False)
class QuaternionVectorSpace(OneStepIntegrator):
    """A one-step method of scipy on (q, v) as numbers, quaternions as four of them.

    This is the classical way, to compare the others with: q is a vector, with the rate
    ``system.position_rates(q, v)``, for a unit quaternion

        ``Qdot = Q (0, w) / 2``.

    It is for joints whose coordinates add, or that have `Joint.position_rates`: spherical, free and
    planar joints in group coordinates, and those made of them. Where Q is needed as an
    orientation, also within a step, it is divided by its length. How it keeps its length is a
    choice:

    ``"renormalised"``
        After each step Q is divided by its length.
    ``"constrained"``
        The length is a constraint, with a multiplier, at the level of accelerations (index 1). The
        state has Qdot in the place of the angular velocity, with

            ``Qddot = Q (0, wdot) / 2 - (|Qdot|^2 / |Q|^2) Q``.

        Nothing is projected, so that the length drifts, by the order of the method; where it is off
        by more than 1e-6, the run ends.

    Loops are constraints in index 1, closed again at the end of each step. Rotation vectors are
    then brought back to half a turn at most, and Euler angles to their ranges. Where a step of one
    size could lead to gimbal lock, the run ends with a `ConfigurationError`: rates of angles are
    infinite there.

    Attributes
    ----------
    method : {"RK45", "DOP853", "RK23", "Radau"}
        One of scipy's solvers. They go on with the result of order 8, 5, 3 and 5.
    rtol, atol : float, optional
        Tolerances of scipy, on (q, v) as numbers; one step of size h is taken if both are left out.
        With `rtol` alone `atol` is the same number; with `atol` alone `rtol` is the least that
        scipy takes.
    norm : {"renormalised", "constrained"}
        How quaternions keep their length.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.QuaternionVectorSpace("RK45", norm="constrained")
    QuaternionVectorSpace(method='RK45', norm='constrained')
    """

    local_steps = False
    why_one_step = BROKEN

    norm: str = attrs.field(default="renormalised", kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        check_choice(self, "norm", ("renormalised", "constrained"))

    @property
    def stays_on_group(self) -> bool:  # type: ignore[override]
        """Whether quaternions keep length one, to rounding."""
        return self.norm == "renormalised"

    @property
    def takes_nonholonomic_joints(self) -> bool:  # type: ignore[override]
        """Only where quaternions are renormalised: Qdot stands for as many velocities else."""
        return self.norm == "renormalised"

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        _check_joints(problem)
        model = NormConstraint(problem) if self.norm == "constrained" else Renormalised(problem)
        own = _adaptive_steps(self, model.start) if self.adaptive else None
        within = problem.h if own is None else 0.0

        def rates(s: float, y: Any) -> Any:
            found = model.rates(s, y)
            if own is None and not np.isfinite(found).all():
                check_lock(problem, problem.q_stage, problem.v_stage, within)
            return found

        step = self.step_of(problem, model, rates, own)

        def step_past_lock(t: float, end: float) -> None:
            check_lock(problem, problem.q, problem.v, within)
            with named_lock(problem):
                step(t, end)

        return in_python(problem, step_past_lock)


def _check_joints(problem: Problem) -> None:
    try:
        problem.equations.position_rates(problem.q, problem.v)
    except JointError as error:
        raise UsageError(
            f"QuaternionVectorSpace takes positions as a vector. {error} Or use "
            f"mbkit.LocalVectorSpace, which takes all joints."
        ) from error


def _adaptive_steps(method: QuaternionVectorSpace, start: Any) -> AdaptiveSteps:
    """Return the stepper with adaptive step size; work has none, and is last."""
    atol = method.atol if method.atol is not None else method.rtol
    scale = np.full(start.size, atol)
    scale[-2:] = np.inf
    return AdaptiveSteps(method.method, method.rtol or LEAST_RTOL, scale)


class Renormalised:
    """The equations of motion in y = (q, v, work), where quaternions are renormalised."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._quaternions = Quaternions(problem.equations.quaternions)
        self._t = problem.t0
        self._stage = 0

    def begin(self, t: float) -> None:
        """Let the next rates be those of a step from t on."""
        self._t = t
        self._stage = 0

    @property
    def start(self) -> Any:
        """The state at the beginning of a step, with no work done yet."""
        problem = self._problem
        return np.concatenate([problem.q, problem.v, np.zeros(problem.work.size)])

    def rates(self, s: float, y: Any) -> Any:
        """Return the rates of q, v and work at t + s."""
        problem = self._problem
        nq, nv = problem.nq, problem.nv
        q, v, out = problem.q_stage, problem.v_stage, np.empty(y.size)
        lengths = self._quaternions.normalised(y[:nq], q)
        v[:] = y[nq : nq + nv]
        # which writes q and v of prescribed joints
        status = problem.accelerate(
            self._t + s, q, v, out[nq : nq + nv], out[nq + nv :], stage=self._stage
        )
        self._stage += 1
        if status != 0:
            raise StepFailed(status)
        out[:nq] = problem.equations.position_rates(q, v)
        self._quaternions.scale(out[:nq], lengths)
        return out

    def take_over(self, end: float, y: Any) -> None:
        """Make the end of a step the state of the problem."""
        problem = self._problem
        nq, nv = problem.nq, problem.nv
        q, v = np.empty(nq), y[nq : nq + nv].copy()
        self._quaternions.normalised(y[:nq], q)
        self._quaternions.principal(problem, q)
        settled(problem, end, q, v)
        problem.q[:], problem.v[:] = q, v
        problem.work[:] += y[nq + nv :]
