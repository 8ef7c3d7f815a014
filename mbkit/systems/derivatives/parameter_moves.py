"""Moves of parameters along their entries, and systems in which they have moved."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mbkit.errors import UsageError
from mbkit.lie import SE3

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "changed_by",
    "is_pose",
    "keep_changed",
    "moves_of",
    "once_a_parameter",
    "shape_of_parameter",
]

_Found = TypeVar("_Found")


#: Systems with other numbers, of those systems of which they are kept.
_KEPT: weakref.WeakKeyDictionary[System, dict[tuple[str, int, float], System]] = (
    weakref.WeakKeyDictionary()
)

#: How many of them are kept for each.
_MOST_SYSTEMS = 1024


def keep_changed(system: System, owner: object) -> None:
    """Let `changed_by` keep the systems that it makes of a system while the owner lives."""
    _KEPT[system] = {}
    weakref.finalize(owner, _KEPT.pop, system, None).atexit = False


def changed_by(system: System, name: str, entry: int, e: float) -> System:
    """Return the system with an entry of a parameter moved: see `moves_of`."""
    kept, key = _KEPT.get(system), (name, entry, e)
    if kept is not None and key in kept:
        return kept[key]
    values = {name: moves_of(system, name)[1][entry](e)}
    found = system._blueprint.continued().changed(values, system)
    if kept is not None:
        if len(kept) >= _MOST_SYSTEMS:
            kept.clear()
        kept[key] = found
    return found


def shape_of_parameter(system: System, name: str) -> tuple[int, ...]:
    """Return the axes of a derivative by a parameter: (6,) of a pose, else those of its numbers."""
    value = np.asarray(system.parameters[name])
    if value.dtype.kind != "f" or not value.size:
        raise UsageError(
            f"There are no derivatives by parameter '{name}', which is {value}: give the name of a "
            f"real number, or of an array of them."
        )
    return (6,) if is_pose(value) else value.shape


def moves_of(system: System, name: str) -> tuple[float, list[Any]]:
    """Return how a parameter is moved along each entry, by a number, and a large number for it."""
    value, start = np.asarray(system.parameters[name]), 1.0
    if is_pose(value):
        return start, [lambda e, x=x: value @ SE3.exp(e * x) for x in np.eye(6)]
    start = max(start, float(np.abs(value).max(initial=0.0)))
    units = np.eye(value.size).reshape((-1, *value.shape))
    if name.startswith("bodies.") and name.endswith(".moment_about_com"):  # half from either side
        units = 0.5 * (units + np.swapaxes(units, 1, 2))
    return start, [lambda e, x=x: value + e * x for x in units]


def is_pose(value: Any) -> bool:
    """Whether an array is that of a pose."""
    return value.shape == (4, 4) and bool((value[3] == [0.0, 0.0, 0.0, 1.0]).all())


def once_a_parameter(function: Callable[[System, str], _Found]) -> Callable[[System, str], _Found]:
    """Let each system keep the results of a function of it and of a parameter's name."""

    @functools.wraps(function)
    def kept(system: System, name: str) -> _Found:
        found: dict[str, _Found] = system._found_of_parameters.setdefault(function, {})
        if name not in found:
            found[name] = function(system, name)
        return found[name]

    return kept
