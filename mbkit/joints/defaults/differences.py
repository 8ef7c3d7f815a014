"""Derivatives by differences; motion subspace and bias where tracing is not possible."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.joints.defaults.poses import inverse_of, pose_of
from mbkit.lie.arrays import vee
from mbkit.spatial.arrays import FloatArray

__all__ = [
    "PoseDifferences",
    "central_differences",
    "derivative",
    "derivative_by",
    "disagreement",
    "extrapolated",
    "wrong_motion",
]

#: First steps that are tried, until the error is below `_ENOUGH`; halved three times each.
_STEPS = (5e-2, 1e-2, 2e-3, 4e-4, 4e-5, 4e-6)
#: Steps in no simple ratio to the periods of functions, whose differences may all be zero there.
_UNEVEN = tuple(h * 0.9387114 for h in _STEPS)
_LEVELS = 4
_LEVELS_OF_A_SIDE = 6
_ENOUGH = 1e-12

#: How far motion subspace and bias may be from differences, of the larger of both.
_NEAR = 1e-4


def central_differences(order: int, step: float) -> tuple[FloatArray, FloatArray]:
    """Return the steps (order,) of central differences of an even order, and their weights.

    Source: Fornberg, Generation of finite difference formulas, 1988.

    Examples
    --------
    >>> central_differences(2, 0.5)
    (array([-0.5,  0.5]), array([-1.,  1.]))
    """
    n = order // 2
    multiples = [k for k in range(-n, n + 1) if k]
    weights = [
        (-1.0) ** (k + 1) * math.factorial(n) ** 2
        / (k * math.factorial(n - k) * math.factorial(n + k))
        for k in multiples
    ]  # fmt: skip
    return step * np.array(multiples), np.array(weights) / step


def derivative(function: Callable[[float], Any], side: int = 0) -> Any:
    """Return the derivative at 0 of a function from a number to an array.

    Central differences, extrapolated three times: the error is of order h^8. The first step is the
    one whose last two extrapolations agree best. The side is 1 or -1 for the derivative from there
    alone, by differences of order h^6.

    Examples
    --------
    >>> rate = derivative(lambda e: np.array([np.sin(e), np.exp(2.0 * e)]))
    >>> bool(abs(rate - [1, 2]).max() < 1e-12)
    True
    """
    best: tuple[float, Any] | None = None
    for h in _STEPS:
        rate, error = derivative_by(function, side, h)
        if best is None or error < best[0]:
            best = error, rate
        if error < _ENOUGH:
            break
    assert best is not None
    return best[1]


def derivative_by(function: Callable[[float], Any], side: int, h: float) -> tuple[Any, float]:
    """Return the derivative at 0 by differences whose first step is h, and its error."""
    if side:
        start = np.asarray(function(0.0))
        steps = [side * h / 2**k for k in range(_LEVELS_OF_A_SIDE)]
        table = [(np.asarray(function(e)) - start) / e for e in steps]
    else:
        steps = [h / 2**k for k in range(_LEVELS)]
        table = [(np.asarray(function(e)) - np.asarray(function(-e))) / (2 * e) for e in steps]
    rate, moved = extrapolated(np.array(table), 2.0 if side else 4.0)
    return rate, float(moved.max(initial=0.0))


def disagreement(
    found: FloatArray,
    function: Callable[[int, float], Callable[[float], Any]],
    near: float,
    size: float,
    order: int = 1,
) -> FloatArray | None:
    """Return the derivative by differences if it shows that `found` is wrong, else None.

    A derivative is right if differences of one step size, central or of one side, agree with it,
    within the part `near` of the larger of both: functions have kinks, and steps can be too long or
    too short. Where differences do not agree with each other either, or there are none, the result
    is None. ``function(side, h)`` is the function of a number whose derivative at 0 is sought, for
    differences of that side with the first step h; `order` is 2 where it is itself made of
    differences with the same step. The numbers whose rounding differences divide by the step are of
    size `size`.
    """
    best: tuple[float, Any] | None = None
    for h in _UNEVEN:
        for side in (0, 1, -1):
            try:
                with np.errstate(all="ignore"):
                    rate, error = derivative_by(function(side, h), side, h)
            except Exception:  # noqa: S112 - there need be nothing on that side
                continue
            if np.shape(rate) != np.shape(found) or not np.isfinite(rate).all():
                continue
            finest = h / 2 ** ((_LEVELS_OF_A_SIDE if side else _LEVELS) - 1)
            rounding = 64.0 * float(np.finfo(float).eps) * size / finest**order
            error += rounding
            largest = max(float(np.abs(found).max()), float(np.abs(rate).max()))
            if float(np.abs(rate - found).max()) <= near * largest + rounding:
                return None
            if best is None or error < best[0]:
                best = error, rate
    if best is None or float(np.abs(best[1] - found).max()) <= 100.0 * best[0]:
        return None
    return np.asarray(best[1])


def extrapolated(table: Any, base: float) -> tuple[Any, Any]:
    """Return Richardson's extrapolation of differences, and by how much each entry moved last.

    The first axis of the table is that of the steps, each half of the one before. The error is a
    series in powers of h where the base is 2, and of h^2 where it is 4.
    """
    last = table
    for order in range(1, len(table)):
        factor = base**order
        last, table = table, (factor * table[1:] - table[:-1]) / (factor - 1.0)
    return table[0], np.abs(table[0] - last[-1])


class PoseDifferences:
    """Derivatives of the pose of a joint, by differences of eighth order, or one-sided."""

    def __init__(self, joint: Callable[[], Any], side: int = 0) -> None:
        self._reference = joint
        self._side = side

    def motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return T(q) (4, 4), S(q) (6, nv) and S-dot v (6,)."""
        joint = self._reference()
        T = pose_of(joint, q)

        def twist(there: FloatArray, step: FloatArray) -> FloatArray:
            pose = pose_of(joint, there)
            back = inverse_of(joint, pose) if np.isfinite(pose).all() else np.full((4, 4), np.nan)
            w = np.asarray(joint.rates(there, step))
            rate = derivative(lambda e: pose_of(joint, joint.retract(there, e * w)), self._side)
            return vee(back @ rate)

        units = np.eye(joint.num_velocities)
        S = np.array([twist(q, unit) for unit in units]).reshape(-1, 6).T
        bias, size = np.zeros(6), float(np.linalg.norm(v))
        if size:
            step = v / size
            w = np.asarray(joint.rates(q, step))
            rate = derivative(lambda t: twist(joint.retract(q, t * w), step))
            bias = size * size * rate
        return T, S, bias

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return the xdot with J xdot = b, as `PoseDerivatives.dexp_inv`."""
        joint = self._reference()
        q0 = np.asarray(joint.neutral(), dtype=np.float64)
        q = np.asarray(joint.retract(q0, x), dtype=np.float64)
        if joint.ndx != joint.num_velocities:

            def moved(unit: FloatArray) -> Any:
                return derivative(lambda e: joint.retract(q0, x + e * unit))

            columns = [moved(unit) for unit in np.eye(len(w))]
            return solved(np.array(columns).T, derivative(lambda e: joint.retract(q, e * w)))
        T, S, _ = self.motion(q, np.zeros(len(w)))
        back = inverse_of(joint, T)

        def along(unit: FloatArray) -> Any:
            return derivative(lambda e: pose_of(joint, joint.retract(q0, x + e * unit)))

        rates = [along(unit) for unit in np.eye(len(w))]
        return solved(np.array([vee(back @ rate) for rate in rates]).T, S @ w)


def solved(J: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the xdot with J xdot = twist; not a number where there is none."""
    if not (np.isfinite(J).all() and np.isfinite(twist).all()):
        return np.full(J.shape[1], np.nan)
    return np.asarray(np.linalg.lstsq(J, twist, rcond=None)[0])


def wrong_motion(joint: Any, q: FloatArray, w: FloatArray, S: FloatArray, bias: FloatArray) -> str:
    """Return in a clause the member that differences of the pose contradict, "" if none.

    S (6, nv) is judged at q, and the bias (6,) there for the velocity w.
    """

    def twist(there: FloatArray, step: FloatArray, side: int, h: float) -> FloatArray:
        pose = pose_of(joint, there)
        rates = np.asarray(joint.rates(there, step))
        rate, _ = derivative_by(lambda e: pose_of(joint, joint.retract(there, e * rates)), side, h)
        return vee(inverse_of(joint, pose) @ rate)

    def moved(step: FloatArray) -> Callable[[int, float], Callable[[float], Any]]:
        back = inverse_of(joint, pose_of(joint, q))
        rates = np.asarray(joint.rates(q, step))

        def pose(e: float) -> Any:
            return vee(back @ pose_of(joint, joint.retract(q, e * rates)))

        return lambda _side, _h: pose

    size = 1.0 + float(np.abs(pose_of(joint, q)).max())
    size += float(np.abs(q).max(initial=0.0)) * float(np.abs(S).max())
    for k, unit in enumerate(np.eye(len(w))):
        expected = disagreement(S[:, k], moved(unit), _NEAR, size)
        if expected is not None:
            return (
                f"column {k} of the motion subspace is {_text(S[:, k])} by tracing and "
                f"{_text(expected)} by differences"
            )

    def rate(side: int, h: float) -> Callable[[float], Any]:
        rates = np.asarray(joint.rates(q, w))
        return lambda s: twist(joint.retract(q, s * rates), w, side, h)

    expected = disagreement(bias, rate, _NEAR, size, 2)
    if expected is None:
        return ""
    return (
        f"the bias for v = {_text(w)} is {_text(bias)} by tracing and {_text(expected)} by "
        f"differences"
    )


def _text(numbers: FloatArray) -> str:
    return "(" + ", ".join(f"{number:.4g}" for number in numbers) + ")"
