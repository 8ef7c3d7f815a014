"""Descent to the least error of targets on the configuration group, between joint limits."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.kinematics.bounded_step import bounded_step, held
from mbkit.kinematics.freedom import Freedom
from mbkit.kinematics.targets import Targets
from mbkit.spatial.arrays import FloatArray

__all__ = ["REACHED", "SADDLE", "SPENT", "STATIONARY", "Descent", "descend"]

#: How a descent ends: all targets reached; no small motion brings them nearer; none does to first
#: order, and none was found that does; iterations spent.
REACHED = "reached"
STATIONARY = "stationary"
SADDLE = "saddle"
SPENT = "spent"

#: Stationary where the cosine between the error and what any motion changes of it is below this.
_COSINE = 1e-9
#: Successive steps that each take less than this part of the squared error are slow: what J leaves
#: out of the curvature matters there, and Newton's method takes over.
_SLOW = 0.05
_SLOW_STEPS = 4
#: Damping at which steps have become too short to change anything.
_STUCK = 1e12
#: Part of the largest curvature that a negative one must have to count.
_CURVATURE = 1e-6
#: Step for the differences of the gradient: error and rounding are both about 1e-10.
_DIFFERENCE = 1e-5
#: Lengths of the steps that leave a saddle, the best of which is taken. [rad], [m]
_KICKS = (0.5, 0.2, 0.05, 0.01, 1e-3)


@final
@attrs.define(eq=False)
class Descent:
    """Where a descent stands.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        Configuration.
    e, J : ndarray, shape (m,), (m, free)
        Weighted errors and their derivative by the free velocities.
    end : str
        How it ended, one of the words of this module.
    iterations : int
        Steps tried.
    damping : float
        What is added to the curvature, as a part of the squared error.
    """

    q: FloatArray
    e: FloatArray
    J: FloatArray
    end: str = SPENT
    iterations: int = 0
    damping: float = 1.0

    @property
    def cost(self) -> float:
        """Half of the squared error."""
        return 0.5 * float(self.e @ self.e)

    @property
    def gradient(self) -> FloatArray:
        """Derivative of the cost by the free velocities."""
        return np.asarray(self.J.T @ self.e)


def descend(
    targets: Targets,
    freedom: Freedom,
    q: FloatArray,
    tolerance: float,
    max_iterations: int,
    *,
    patient: bool = True,
) -> Descent:
    """Return the end of a descent to the least squared error of targets from q, within the limits.

    `tolerance` is what each target's angular and linear error may be. [rad], [m] At most
    `max_iterations` steps are tried. A patient descent goes on where steps are slow, to the
    stationary point; another ends there as `SPENT`.

    Notes
    -----
    Levenberg-Marquardt with bounds. The damping follows the squared error, as T. Sugihara,
    "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans.
    Robotics 27, 2011, has it, times a factor that follows the agreement with the model. Where steps
    become slow, the errors do not vanish and the curvature that J leaves out matters: Newton's
    method with differences of the gradient takes over, with the moduli of the eigenvalues. At a
    stationary point the curvature says whether it is a minimum; from a saddle the way goes on along
    its falling direction.
    """
    state = Descent(q, *_linearised(targets, freedom, q))
    slow, stuck = 0, False
    while True:
        if targets.reached(state.e, tolerance):
            state.end = REACHED
            return state
        lower, upper = freedom.room(state.q)
        if stuck or _is_stationary(state, lower, upper):
            state.end = _leave_saddle(targets, freedom, state)
            if state.end != SPENT or state.iterations >= max_iterations:
                return state
            slow, stuck = 0, False
            continue
        if state.iterations >= max_iterations or (slow >= _SLOW_STEPS and not patient):
            return state
        before = state.cost
        H = (
            state.J.T @ state.J
            if slow < _SLOW_STEPS or not patient
            else _convex(curvature(targets, freedom, state))
        )
        moved = _step(targets, freedom, state, H, lower, upper)
        slow = slow + 1 if state.cost > (1.0 - _SLOW) * before else 0
        stuck = not moved and state.damping > _STUCK  # stationary to rounding


def curvature(targets: Targets, freedom: Freedom, state: Descent) -> FloatArray:
    """Return the second derivative of the cost by the free velocities, from differences."""
    n = len(freedom.velocities)
    H = np.empty((n, n))
    for k in range(n):
        step = np.zeros(n)
        step[k] = _DIFFERENCE
        e, J = _linearised(targets, freedom, freedom.moved(state.q, step))
        H[k] = J.T @ e
        e, J = _linearised(targets, freedom, freedom.moved(state.q, -step))
        H[k] -= J.T @ e
    H /= 2.0 * _DIFFERENCE
    return 0.5 * (H + H.T)


def _linearised(targets: Targets, freedom: Freedom, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    e, J = targets.linearised(q)
    return e, J[:, freedom.velocities]


def _step(
    targets: Targets, freedom: Freedom, state: Descent, H: FloatArray, lower: Any, upper: Any
) -> bool:
    """Try one step; return whether it was taken."""
    state.iterations += 1
    g = state.gradient
    shift = state.damping * 2.0 * state.cost + 1e-14 * np.abs(H).max()
    x = bounded_step(H + shift * np.eye(len(g)), g, lower, upper)
    q = freedom.moved(state.q, x)
    e = targets.weighted(q)
    gained = state.cost - 0.5 * float(e @ e)
    expected = -float(g @ x + 0.5 * x @ H @ x)
    if not gained > 1e-4 * expected or expected <= 0.0:
        state.damping *= 4.0
        return False
    ratio = gained / expected
    state.damping *= max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3)
    state.damping = max(state.damping, 1e-12)
    state.q = q
    state.e, state.J = _linearised(targets, freedom, q)
    return True


def _is_stationary(state: Descent, lower: FloatArray, upper: FloatArray) -> bool:
    """Whether no small motion between the bounds changes the error to first order."""
    g = free_gradient(state.gradient, lower, upper)
    size = np.linalg.norm(state.e) * np.linalg.norm(state.J)
    return bool(np.linalg.norm(g) <= _COSINE * size)


def free_gradient(g: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a gradient without what bounds hold against it."""
    return np.where(held(g, lower, upper), 0.0, g)


def _convex(H: FloatArray) -> FloatArray:
    """Return the matrix with the moduli of the eigenvalues of H."""
    sizes, vectors = np.linalg.eigh(H)
    floor = 1e-9 * np.abs(sizes).max(initial=0.0)
    return np.asarray((vectors * np.maximum(np.abs(sizes), floor)) @ vectors.T)


def _leave_saddle(targets: Targets, freedom: Freedom, state: Descent) -> str:
    """Look at the curvature of a stationary point; move on if it falls in some direction.

    Returns how the descent ends here, or SPENT where it goes on.
    """
    lower, upper = freedom.room(state.q)
    inner = np.flatnonzero((lower < 0.0) & (upper > 0.0))
    if not len(inner):
        return STATIONARY
    sizes, vectors = np.linalg.eigh(curvature(targets, freedom, state)[np.ix_(inner, inner)])
    if sizes[0] >= -_CURVATURE * max(np.abs(sizes).max(), state.cost):
        return STATIONARY
    best, best_q = state.cost, None
    for size in _KICKS:
        for sign in (1.0, -1.0):
            x = np.zeros(len(lower))
            x[inner] = sign * size * vectors[:, 0]
            q = freedom.moved(state.q, np.clip(x, lower, upper))
            e = targets.weighted(q)
            if 0.5 * float(e @ e) < best * (1.0 - 1e-9):
                best, best_q = 0.5 * float(e @ e), q
    state.iterations += 1
    if best_q is None:
        return SADDLE
    state.q = best_q
    state.e, state.J = _linearised(targets, freedom, best_q)
    state.damping = 1.0
    return SPENT
