"""Descent to the least error of targets on the configuration group.

Between joint limits, and on the configurations in which loops are closed.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.kinematics.bounded_step import along, bounded_step, held, null_space
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

#: Stationary where the cosine between the error and its change by any motion is below this.
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
    across : ndarray, shape (rows, free)
        The matrix that steps with closed loops take to zero; no rows for trees.
    end : str
        How it ended, one of the words of this module.
    iterations : int
        Steps tried.
    damping : float
        The number added to the curvature, as a part of the squared error.
    """

    q: FloatArray
    e: FloatArray
    J: FloatArray
    across: FloatArray
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

    @property
    def motions(self) -> FloatArray:
        """Orthonormal basis (free, k) of the steps that keep the loops closed."""
        return null_space(self.across)

    @property
    def reduced_jacobian(self) -> FloatArray:
        """Derivative of the errors along these, (m, k)."""
        return self.J @ self.motions if len(self.across) else self.J


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

    Loops are closed at q, and stay so. `tolerance` is the bound of each target's angular and linear
    error. [rad], [m] At most `max_iterations` steps are tried. A patient descent goes on where
    steps are slow, to the stationary point; another ends there as `SPENT`.

    Notes
    -----
    Levenberg-Marquardt with bounds. The damping follows the squared error, as T. Sugihara,
    "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans.
    Robotics 27, 2011, has it, times a factor that follows the agreement with the model. Where steps
    become slow, the errors do not vanish and the curvature that J leaves out matters: Newton's
    method with differences of the gradient takes over, with the moduli of the eigenvalues. With
    loops, steps are along the motions that keep them closed to first order, after each the loops
    are closed again, and the curvature is that of Lagrange's function (Nocedal and Wright 2006,
    chapters 12 and 18). At a
    stationary point the curvature shows whether it is a minimum; from a saddle the search goes on
    along its falling direction.
    """
    state = Descent(q, *linearised(targets, freedom, q))
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
            else _convex(curvature(targets, freedom, state), state)
        )
        moved = _step(targets, freedom, state, H, lower, upper)
        slow = slow + 1 if state.cost > (1.0 - _SLOW) * before else 0
        stuck = not moved and state.damping > _STUCK  # stationary to rounding


def curvature(targets: Targets, freedom: Freedom, state: Descent) -> FloatArray:
    """Return the second derivative of the cost by the free velocities, from differences.

    With loops it is that of the cost with the multipliers of their constraints.
    """
    n = len(freedom.velocities)
    H = np.empty((n, n))
    multipliers: FloatArray = np.zeros(0)
    if len(state.across):
        multipliers = np.asarray(
            np.linalg.lstsq(state.across.T, -state.gradient, rcond=1e-9)[0], dtype=np.float64
        )

    def slope(step: FloatArray) -> FloatArray:
        e, J, across = linearised(targets, freedom, freedom.stepped(state.q, step))
        return np.asarray(J.T @ e + across.T @ multipliers)

    for k in range(n):
        step = np.zeros(n)
        step[k] = _DIFFERENCE
        H[k] = slope(step) - slope(-step)
    H /= 2.0 * _DIFFERENCE
    return 0.5 * (H + H.T)


def linearised(
    targets: Targets, freedom: Freedom, q: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weighted errors, and derivatives of these and of the loops by free velocities."""
    e, J = targets.linearised(q)
    return e, J[:, freedom.velocities], freedom.across(q)


def _step(
    targets: Targets, freedom: Freedom, state: Descent, H: FloatArray, lower: Any, upper: Any
) -> bool:
    """Try one step; return whether it was taken."""
    state.iterations += 1
    g = state.gradient
    shift = state.damping * 2.0 * state.cost + 1e-14 * np.abs(H).max()
    across = state.across if len(state.across) else None
    x = bounded_step(H + shift * np.eye(len(g)), g, lower, upper, across)
    q = freedom.moved(state.q, x)
    gained = -np.inf
    if q is not None:
        e = targets.weighted(q)
        gained = state.cost - 0.5 * float(e @ e)
    expected = -float(g @ x + 0.5 * x @ H @ x)
    if q is None or not gained > 1e-4 * expected or expected <= 0.0:
        state.damping *= 4.0
        return False
    ratio = gained / expected
    state.damping *= max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3)
    state.damping = max(state.damping, 1e-12)
    state.q = q
    state.e, state.J, state.across = linearised(targets, freedom, q)
    return True


def _is_stationary(state: Descent, lower: FloatArray, upper: FloatArray) -> bool:
    """Whether no small motion between the bounds changes the error to first order."""
    left = along(state.gradient, state.across, lower, upper)
    g = free_gradient(left, lower, upper)
    size = np.linalg.norm(state.e) * np.linalg.norm(state.J)
    return bool(np.linalg.norm(g) <= _COSINE * size)


def free_gradient(g: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a gradient without the entries that bounds stop."""
    return np.where(held(g, lower, upper), 0.0, g)


def _convex(H: FloatArray, state: Descent) -> FloatArray:
    """Return the matrix with the moduli of the eigenvalues of H along the motions there are."""
    Z = state.motions
    sizes, vectors = np.linalg.eigh(Z.T @ H @ Z)
    largest = np.abs(sizes).max(initial=0.0)
    floor = 1e-9 * largest
    vectors = Z @ vectors
    convex = (vectors * np.maximum(np.abs(sizes), floor)) @ vectors.T
    return np.asarray(convex + largest * (np.eye(len(Z)) - Z @ Z.T))


def _leave_saddle(targets: Targets, freedom: Freedom, state: Descent) -> str:
    """Look at the curvature of a stationary point; move on if it falls in some direction.

    Returns how the descent ends here, or SPENT where it goes on.
    """
    lower, upper = freedom.room(state.q)
    inner = np.flatnonzero((lower < 0.0) & (upper > 0.0))
    if not len(inner):
        return STATIONARY
    Z = null_space(state.across[:, inner])
    if not Z.shape[1]:
        return STATIONARY
    H = curvature(targets, freedom, state)[np.ix_(inner, inner)]
    sizes, vectors = np.linalg.eigh(Z.T @ H @ Z)
    if sizes[0] >= -_CURVATURE * max(np.abs(sizes).max(), state.cost):
        return STATIONARY
    best, best_q = state.cost, None
    for size in _KICKS:
        for sign in (1.0, -1.0):
            x = np.zeros(len(lower))
            x[inner] = sign * size * (Z @ vectors[:, 0])
            q = freedom.moved(state.q, np.clip(x, lower, upper))
            if q is None:
                continue
            e = targets.weighted(q)
            if 0.5 * float(e @ e) < best * (1.0 - 1e-9):
                best, best_q = 0.5 * float(e @ e), q
    state.iterations += 1
    if best_q is None:
        return SADDLE
    state.q = best_q
    state.e, state.J, state.across = linearised(targets, freedom, best_q)
    state.damping = 1.0
    return SPENT
