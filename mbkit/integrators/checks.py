"""Checks of the fields of integrators, and of arrays that compiled ones are given."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import IntegratorError, ShapeError, UsageError
from mbkit.errors import check_choice as _check_word
from mbkit.given_values import positive_number
from mbkit.lie.arrays import array_described

if TYPE_CHECKING:
    from mbkit.integrators.integrator import Problem, Rows

__all__ = [
    "as_array",
    "check_above_rounding",
    "check_array",
    "check_choice",
    "check_fit",
    "check_memory",
    "check_multipliers",
    "check_name_and_order",
    "check_order",
    "check_rows",
    "check_state",
    "check_tolerance",
    "has_tolerance",
    "refused",
    "whole",
]


#: Rounding of double precision, relative.
ROUNDING = float(np.finfo(float).eps)


def as_array(value: Any) -> Any:
    """Return numbers as a read-only array; other values return unchanged, to be checked."""
    try:
        array = np.array(value, dtype=np.float64)
    except Exception:  # no numbers, or too large ones; whatever its own __array__ raises
        return value
    array.flags.writeable = False
    return array


def check_array(what: str, field: str, value: Any) -> None:
    """Raise UsageError unless `as_array` has made an array."""
    if not isinstance(value, np.ndarray):
        raise UsageError(
            f"{what}: {field} must be an array of numbers, all its rows of one length, got "
            f"{value!r}."
        )


def check_name_and_order(coefficients: Any) -> None:
    """Raise UsageError unless coefficients have a name and the order that they claim is one."""
    kind, name = type(coefficients).__name__, coefficients.name
    if not (isinstance(name, str) and name):
        raise UsageError(f"{kind}: name must be text that is not empty, got {name!r}.")
    check_order(f"{kind} '{name}'", "order", coefficients.order, least=1)


def check_order(what: str, field: str, value: Any, *, least: int) -> None:
    """Raise UsageError unless an order is a whole number from `least` on."""
    if not (type(value) is int and value >= least):
        raise UsageError(f"{what}: {field} must be a whole number from {least} on, got {value!r}.")


def check_choice(integrator: Any, field: str, choices: tuple[str, ...]) -> None:
    """Raise UsageError unless a field has one of the values there are."""
    _check_word(f"{type(integrator).__name__}: {field}", getattr(integrator, field), choices)


def check_tolerance(integrator: Any, field: str = "tolerance") -> None:
    """Raise UsageError unless a field is a positive number."""
    value, what = getattr(integrator, field), f"{type(integrator).__name__}: {field}"
    positive_number(what, value)
    if field == "rtol":
        check_above_rounding(what, value)


def check_above_rounding(what: str, rtol: float) -> None:
    """Raise UsageError for a relative tolerance that no step of double precision keeps."""
    if rtol < ROUNDING:
        raise UsageError(
            f"{what} must not be below rounding, {ROUNDING:.2g}, which no steps are more exact "
            f"than; got {rtol!r}. Give for example 1e-12."
        )


def has_tolerance(integrator: Any) -> bool:
    """Return whether an integrator has `rtol` or `atol`, by which it chooses its steps."""
    return not (integrator.rtol is None and integrator.atol is None)


# Compiled steps do not check arrays that they read and write: they are checked before.

#: The numbers of arrays; to compare with it takes half as long as with np.float64.
FLOATS = np.dtype(np.float64)


def fits(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether compiled code can write numbers of this shape to an array."""
    return (
        type(array) is np.ndarray
        and array.dtype == np.float64
        and array.shape == shape
        and array.flags.c_contiguous
        and array.flags.writeable
    )


def refused(
    door: str, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, Any]
) -> ShapeError:
    """Return the exception for arguments that a method `door` of `Problem` cannot take.

    `shapes` has the shapes that arrays must have, by name.
    """
    for name, shape in shapes.items():
        if not fits(given[name], shape):
            return ShapeError(
                f"Problem.{door}: argument '{name}' must be a contiguous, writeable float64 array "
                f"of shape {shape}; got {array_described(given[name])}."
            )
    return ShapeError(f"Problem.{door}: t must be a number and stage a whole one, got {given!r}.")


def check_fit(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise ShapeError unless an array of a problem is one that steps can write to."""
    if not fits(array, shape):
        raise ShapeError(
            f"Problem: '{name}' must be a contiguous, writeable float64 array of shape {shape}; "
            f"got {array_described(array)}. Write to it in place, as in problem.{name}[:] = x."
        )


def check_memory(problem: Problem) -> None:
    """Raise ShapeError unless the arrays of a problem have its sizes."""
    for name in ("q", "q_stage"):
        check_fit(name, getattr(problem, name), (problem.nq,))
    for name in ("v", "v_stage"):
        check_fit(name, getattr(problem, name), (problem.nv,))
    check_fit("work", problem.work, (2,))


def check_state(problem: Problem, q: Any, v: Any, work: Any) -> None:
    """Raise ShapeError unless a state of a problem can be written to arrays."""
    shapes = {"q": (problem.nq,), "v": (problem.nv,), "work": (2,)}
    given = {"q": q, "v": v, "work": work}
    if not all(fits(given[name], shape) for name, shape in shapes.items()):
        raise refused("interpolate", shapes, given)


def check_multipliers(integrator: Any, problem: Problem) -> None:
    """Raise IntegratorError unless there is room for multipliers that a method writes."""
    count = problem.equations.num_velocity_constraints
    if not fits(problem.multipliers, (count,)):
        raise IntegratorError(
            f"{type(integrator).__name__} writes {count} multipliers, and the problem has room for "
            f"{np.size(problem.multipliers)}; an integrator that prepares it must say "
            f"gives_multipliers = True."
        )


def check_rows(problem: Problem, first: int, steps: int, rows: Rows) -> None:
    """Raise IntegratorError unless the rows that some steps write have room.

    It takes 0.9 us, of a call for one step that takes 5 us.
    """
    every = problem.save_every
    try:
        due = (operator.index(first) + operator.index(steps)) // every - first // every
        t, q, v, work, multipliers = rows
        shapes = t.shape, q.shape, v.shape, work.shape, multipliers.shape
    except (TypeError, ValueError, AttributeError):
        raise IntegratorError(
            f"advance(first, steps, rows) takes two whole numbers and Rows of arrays, got "
            f"{first!r}, {steps!r}, {rows!r}."
        ) from None
    if due > 0 and not _have_room(problem, due, shapes, rows):
        raise IntegratorError(
            f"advance writes {due} rows in the {steps} steps from step {first} on: t, q, v, work "
            f"and multipliers of 1, {problem.nq}, {problem.nv}, 2 and {problem.multipliers.size} "
            f"numbers each, float64, contiguous and writeable; the arrays that it was given have "
            f"the shapes {', '.join(map(str, shapes))}. Make them with "
            f"Rows.empty(count, nq, nv, m)."
        )


def _have_room(problem: Problem, due: int, shapes: Any, rows: Rows) -> bool:
    """Return whether arrays have so many rows of a problem's sizes, and can be written to."""
    try:
        (a,), (b, nq), (c, nv), (d, two), (e, m) = shapes
    except ValueError:  # matrices where vectors belong, or vectors where matrices do
        return False
    if min(a, b, c, d, e) < due or (nq, nv, two) != (problem.nq, problem.nv, 2):
        return False
    for each in rows:
        if each.dtype != FLOATS or not each.flags.carray:
            return False
    return bool(m == 0 or m == problem.multipliers.size)


def whole(value: Any) -> Any:
    """Return an integer of any kind as an int, and everything else as it is, for a validator.

    Examples
    --------
    >>> import numpy as np
    >>> whole(np.int64(3)), whole(2.5), whole(True)
    (3, 2.5, True)
    """
    if isinstance(value, bool):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value
