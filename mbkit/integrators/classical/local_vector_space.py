"""Scipy's methods on coordinates of the group that are taken anew at each step."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.integrators.charts import angular_entries
from mbkit.integrators.classical.one_step_integrator import OneStepIntegrator
from mbkit.integrators.classical.python_steps import StepFailed, in_python, settled
from mbkit.integrators.classical.scipy_methods import LEAST_RTOL, AdaptiveSteps
from mbkit.integrators.integrator import Advance, Problem

__all__ = ["LocalVectorSpace"]

#: Why methods with several steps are refused.
DEAD = (
    "which have no place here: coordinates are taken anew at each step, and those of the step "
    "before are about a configuration that has been left"
)

#: By how much a joint on a group may turn before its coordinates are taken anew; they end at 2 pi.
MOST_TURN = 0.9 * np.pi


@final
@attrs.frozen(repr=False)
class LocalVectorSpace(OneStepIntegrator):
    """A one-step method of scipy on the local model, restarted each step.

    From t_k to t_k + h the motion is q = retract(q_k, X), where X begins at zero and lies in a
    vector space, with

        ``Xdot = dpsi_-X^-1 w``,  ``vdot = vdot(t, retract(q_k, X), v)``,

    w = rates(q, v), and vdot with the multipliers that constraints need (index 1). That is an
    initial value problem for every solver of such; here it is one of scipy's. At the end of
    the step the configuration is left as q_(k + 1), closed mechanisms are closed again, and X
    begins anew. Nothing of a step is remembered but q and v, so that X never comes near to where
    its coordinates end, and methods that go on from several states, as those of backward
    differences do, are not taken.

    Without `rtol` and `atol` the method takes exactly one step of size h: with an explicit
    one it is the Runge-Kutta-Munthe-Kaas method of the same coefficients. With them scipy takes as
    many steps within h as it needs.

    Attributes
    ----------
    method : {"RK45", "DOP853", "RK23", "Radau"}
        One of scipy's solvers. They go on with the result of order 8, 5, 3 and 5; Radau is
        implicit, for stiff forces.
    rtol, atol : float, optional
        Tolerances of scipy; steps have one size if both are left out. With `rtol` alone `atol` is
        the same number; with `atol` alone `rtol` is the least that scipy takes. The size of X
        is 1 rad and 1 m. [rad, m, rad/s, m/s]

    References
    ----------
    .. [1] A. Mueller, "Screw and Lie group theory in multibody kinematics", Multibody Syst. Dyn. 43
       (2018) 37-70.
    .. [2] H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Appl. Numer. Math. 29
       (1999) 115-127.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.LocalVectorSpace("DOP853").order
    8
    >>> mb.LocalVectorSpace(rtol=1e-8)
    LocalVectorSpace(method='RK45', rtol=1e-08)
    """

    takes_momenta = True
    why_one_step = DEAD

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        model = _LocalModel(problem)
        own = model.adaptive(self) if self.adaptive else None
        return in_python(problem, self.step_of(problem, model, model.rates, own))


class _LocalModel:
    """The equations of motion in y = (X, v, work), about a configuration."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._t = problem.t0
        self._stage = 0
        self._centre = problem.q.copy()
        self._w = np.zeros(problem.ndx)
        self._turning: list[Any] = []

    def begin(self, t: float) -> None:
        """Take coordinates about the state that the problem has at t."""
        self._t = t
        self._stage = 0
        self._centre[:] = self._problem.q

    @property
    def start(self) -> Any:
        """The state about which coordinates are taken: X = 0, and no work done yet."""
        work = np.zeros(self._problem.work.size)
        return np.concatenate([np.zeros(self._problem.ndx), self._problem.v, work])

    def rates(self, s: float, y: Any) -> Any:
        """Return the rates of X, v and work at t + s."""
        problem = self._problem
        d, nv = problem.ndx, problem.nv
        q, v, w, out = problem.q_stage, problem.v_stage, self._w, np.empty(y.size)
        x = y[:d]
        v[:] = y[d : d + nv]
        status = problem.retract(self._centre, x, q)
        # which writes q and v of prescribed joints
        status = status or problem.accelerate(
            self._t + s, q, v, out[d : d + nv], out[d + nv :], stage=self._stage
        )
        self._stage += 1
        status = status or problem.rates(q, v, w) or problem.dexp_inv(x, w, out[:d])
        if status != 0:
            raise StepFailed(status)
        return out

    def take_over(self, end: float, y: Any) -> None:
        """Make the end of a step the state of the problem."""
        problem = self._problem
        q, v, work = self._parts(y)
        settled(problem, end, q, v)
        problem.q[:], problem.v[:] = q, v
        problem.work[:] += work

    def _parts(self, y: Any) -> tuple[Any, Any, Any]:
        """Return q, v and work of a state."""
        problem = self._problem
        d, nv = problem.ndx, problem.nv
        q = np.empty(problem.nq)
        status = problem.retract(self._centre, y[:d].copy(), q)
        if status != 0:
            raise StepFailed(status)
        return q, y[d : d + nv].copy(), y[d + nv :]

    # -------------------------------------------------------------------- adaptive step size

    def adaptive(self, method: LocalVectorSpace) -> AdaptiveSteps:
        """Return the stepper with adaptive step size; X has the size 1."""
        from mbkit.kernels.calls.integration_steps import rows_of_steps

        problem = self._problem
        rows = np.zeros(problem.ndx, dtype=np.int64)
        rows_of_steps(problem.space, rows)
        angular = np.flatnonzero(angular_entries(problem))
        self._turning = [angular[rows[angular] == row] for row in np.unique(rows[angular])]
        rtol = 0.0 if method.rtol is None else method.rtol
        atol = rtol if method.atol is None else method.atol
        parts = (problem.ndx, atol + rtol), (problem.nv, atol), (problem.work.size, np.inf)
        scale = np.concatenate([np.full(count, value) for count, value in parts])
        return AdaptiveSteps(method.method, method.rtol or LEAST_RTOL, scale, self)

    def is_left(self, y: Any) -> bool:
        """Return whether a joint on a group has turned further than its coordinates bear."""
        return any(float(np.linalg.norm(y[each])) > MOST_TURN for each in self._turning)

    def is_centre(self, y: Any) -> bool:
        """Return whether X is zero."""
        return not y[: self._problem.ndx].any()

    def moved(self, y: Any) -> Any:
        """Return a state with coordinates taken anew about it."""
        q, _, _ = self._parts(y)
        self._centre[:] = q
        y = y.copy()
        y[: self._problem.ndx] = 0.0
        return y
