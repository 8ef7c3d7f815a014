"""Motions that a model file can hold: expressions of the time, and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mbkit.autodiff.tape import value_of
from mbkit.errors import JointError, ShapeError, several
from mbkit.expressions import CONSTANTS, NotUnderstoodError, function_of
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array

__all__ = ["is_written", "written_motion"]

_Function = Callable[[float], Any]

#: How far outside of its times a table is still asked, of their span: times are rounded.
_ROUNDED = 1e-9

#: Points that a spline whose third derivative is continuous near its ends needs.
_FEWEST = 4


def is_written(position: Any) -> bool:
    """Whether a motion is given as in a file: by one expression, several, or a table."""
    return isinstance(position, str | Mapping) or (
        several(position) and all(isinstance(each, str) for each in position)
    )


def written_motion(what: str, count: int, given: Any) -> tuple[_Function, Any]:
    """Return the function of the time that is written, and its entry in a file.

    JointError or ShapeError, which begins with `what`, if it gives no `count` positions.
    """
    if isinstance(given, Mapping):
        return _table(what, count, given)
    texts = [given] if isinstance(given, str) else list(given)
    if len(texts) != count:
        raise JointError(
            f"{what} has {count} positions, and {len(texts)} expressions of its motion; give "
            f"one for each."
        )
    parts = [_expression(what, text) for text in texts]
    if isinstance(given, str):
        return parts[0], given
    return lambda t: np.array([part(t) for part in parts]), texts


def _expression(what: str, text: str) -> _Function:
    try:
        evaluate = function_of(text, {"t", *CONSTANTS}, "in the expression of a motion")
    except (NotUnderstoodError, OverflowError) as error:
        raise JointError(
            f"{what}: its motion {text!r:.200} is no expression of the time t: {error}"
        ) from None

    def position(t: float) -> Any:
        try:
            return evaluate({"t": t, **CONSTANTS})
        except (ArithmeticError, ValueError) as error:
            raise JointError(
                f"{what}: its motion {text!r} has no value at t = {value_of(t):.9g}: {error}."
            ) from None

    return position


def _table(what: str, count: int, given: Mapping[str, Any]) -> tuple[_Function, Any]:
    """Return the cubic spline through a table, which is smooth up to its second derivative."""
    if set(given) != {"times", "positions"}:
        raise JointError(
            f"{what}: a motion by a table has times and positions, got "
            f"{', '.join(map(str, given))}."
        )
    times, positions = frozen_array(given["times"]), frozen_array(given["positions"])
    if times.ndim != 1 or times.size < _FEWEST or (np.diff(times) <= 0.0).any():
        raise ShapeError(
            f"{what}: times of its motion must be {_FEWEST} or more, increasing, got "
            f"{times.tolist()!r:.200}."
        )
    shape = (times.size,) if count == 1 else (times.size, count)
    check_array(times, times.shape, f"{what}: times of its motion")
    check_array(positions, shape, f"{what}: positions of its motion")
    first, last = float(times[0]), float(times[-1])
    curve, room = _spline(times, positions), _ROUNDED * (last - first)

    def position(t: float) -> Any:
        if not first - room <= t <= last + room:
            raise JointError(
                f"{what}: its motion has no value at t = {value_of(t):.9g}: its table is from "
                f"{first:.9g} s to {last:.9g} s."
            )
        return curve(t)

    return position, {"times": times.tolist(), "positions": positions.tolist()}


def _spline(times: FloatArray, positions: FloatArray) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(times, positions)
