"""Preferences where targets leave a choice: descent among configurations that reach them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError
from mbkit.kinematics.bounded_step import bounded_step
from mbkit.kinematics.descent import REACHED, Descent, descend
from mbkit.kinematics.freedom import Freedom, step_entries
from mbkit.kinematics.targets import Targets
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array

if TYPE_CHECKING:
    from mbkit.systems import System

#: Least and largest step along the gradient, as a factor of it.
_SHORTEST, _LONGEST = 1e-6, 10.0


#: The gradient (nv,) of the number that is preferred small, at a configuration.
Gradient = Callable[[FloatArray], FloatArray]


def checked_preference(
    system: System, preferred: ArrayLike | Callable[[FloatArray], ArrayLike]
) -> Gradient:
    """Return a preference, given as a configuration or as a gradient, as a gradient.

    That of a configuration (nq,) is the step from it. A gradient (nv,) of q is checked at each
    call.
    """
    if isinstance(preferred, type):
        raise UsageError(
            f"inverse_kinematics: preferred must be a configuration (nq,) or a function of q that "
            f"returns a gradient (nv,), got {preferred!r}."
        )
    if not callable(preferred):
        posture = system.checked("q", preferred, finite=True)
        steps = step_entries(system)
        # of nonholonomic joints, which are locked: 0
        return lambda q: np.where(steps < 0, 0.0, system.difference(posture, q)[steps])
    given = preferred

    def gradient(q: FloatArray) -> FloatArray:
        value = frozen_array(given(q.copy()))
        what = "inverse_kinematics: what the preferred gradient returned"
        check_array(value, (system.nv,), what, error=NotFiniteError)
        return value

    return gradient


def follow(
    targets: Targets,
    freedom: Freedom,
    state: Descent,
    gradient: Gradient,
    tolerances: tuple[float, float],
    max_iterations: int,
) -> tuple[Descent, float]:
    """Return the configuration that reaches the targets and is preferred there.

    With the part of the gradient between the limits and in the null space of the targets'
    Jacobian. The start `state` reaches the targets, and its steps count. Tolerances are those of
    the targets, and of that part of the gradient.

    Notes
    -----
    Projected gradient steps in the null space, of the length of J. Barzilai and J. M. Borwein,
    "Two-point step size gradient methods", IMA J. Numer. Anal. 8, 1988; after each the targets are
    reached again. A step is halved until the slope of the preference has not grown to the other
    side. Only gradients are needed.
    """
    g = gradient(state.q)[freedom.velocities]
    fall = _fall(freedom, state, g)
    length = 1.0
    while np.linalg.norm(fall) > tolerances[1] and state.iterations < max_iterations:
        x = _tangent(freedom, state, g, length)
        there = freedom.moved(state.q, x)
        left = max_iterations - state.iterations
        found = None if there is None else descend(targets, freedom, there, tolerances[0], left)
        state.iterations += 1 if found is None else max(1, found.iterations)
        g_there = None
        if found is not None and found.end == REACHED:
            g_there = gradient(found.q)[freedom.velocities]
        if found is None or g_there is None or float(g_there @ x) > 0.9 * abs(float(g @ x)):
            length *= 0.5
            if length < _SHORTEST:
                break
            continue
        found.iterations = state.iterations
        fall_there = _fall(freedom, found, g_there)
        change = fall - fall_there
        length = float(x @ x) / max(float(x @ change), 1e-300)
        length = min(max(length, _SHORTEST), _LONGEST)
        state, g, fall = found, g_there, fall_there
    return state, float(np.linalg.norm(fall))


def _tangent(freedom: Freedom, state: Descent, g: FloatArray, length: float) -> Any:
    """Return the step of a length along -g in the null space and between the limits."""
    lower, upper = freedom.room(state.q)
    across = np.vstack([state.J, state.across])
    return bounded_step(np.eye(len(g)), length * g, lower, upper, across=across)


def _fall(freedom: Freedom, state: Descent, g: FloatArray) -> FloatArray:
    """Return -g as far as null space and limits let it act, by a step too short to meet others."""
    scale = 1e-6 / max(1.0, float(np.linalg.norm(g)))
    return np.asarray(_tangent(freedom, state, g, scale) / scale)
