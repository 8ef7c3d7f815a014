"""Vectors of positions and velocities by the names of joints, and of their entries."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import NameUnknownError, UsageError, check_kind, no_coordinates, suggestion
from mbkit.parts.angles import warn_of_degrees
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["fill", "fill_all", "slice_of_name", "vector"]


def vector(system: System, given: Any, kind: str, start: Floats, who: str) -> Floats:
    """Return a vector of positions, "q", or of velocities, "v", by names; the rest as at the start.

    NameUnknownError if there is no such name, UsageError if a value does not fit; both begin with
    `who`.
    """
    if not isinstance(given, Mapping):
        example = (*system.joint_names, "hinge")[0]
        raise UsageError(
            f"{who}: numbers must be given by the names of joints, {{'{example}': 0.5}}; got "
            f"{given!r}."
        )
    found = start.copy()
    fill_all(system, found, given, kind, who)
    return found


def argument_of(
    system: weakref.ref[System], kind: str, given: Mapping[str, Any], name: str
) -> Floats:
    """Return the argument `name` of a method by names: of positions, "q", or of velocities, "v"."""
    of = system()
    assert of is not None  # whose method is called
    start = of.reference_configuration() if kind == "q" else of.evaluator.zero
    return vector(of, given, kind, start, f"System '{of.name}': {name}")


def fill_all(system: System, vector: Floats, given: Mapping[str, Any], kind: str, who: str) -> None:
    """Write numbers by names into a vector, in place; errors begin with `who`."""
    for key, value in given.items():
        check_kind(f"{who}: the name of a joint or entry", key, str, "text")
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        try:
            fill(system, vector, kind, key, plain)
        except (UsageError, NameUnknownError) as error:
            samples = ""
            if isinstance(plain, list) and len(plain) > 1 and isinstance(error, UsageError):
                samples = (
                    f" Names give one vector; for several samples give an array of shape "
                    f"(samples, {len(vector)})."
                )
            raise type(error)(f"{who}: {error}{samples}") from error


def fill(system: System, vector: Floats, kind: str, name: str, value: Any) -> None:
    """Write the value of a joint, or of one of its entries, into a vector, in place.

    The vector is of positions, "q", or of velocities, "v". Entries are called ``joint``, or
    ``joint[k]`` where a joint has several. NameUnknownError if there is no such name, UsageError if
    the value does not fit.
    """
    numbers = value if isinstance(value, list | tuple) else [value]
    for number in numbers:
        if type(number) not in (int, float) or not _is_finite(number):
            raise UsageError(f"must be a finite number, or an array of them, got {value!r}.")
    entries = slice_of_name(system, kind, name)
    count = entries.stop - entries.start
    if count == 0:
        raise UsageError(f"joint '{name}' takes no numbers; leave it out.")
    if len(numbers) != count:
        takes = f"{count} numbers, separated by commas" if count > 1 else "1 number"
        raise UsageError(f"'{name}' takes {takes}; got {len(numbers)}.")
    vector[entries] = numbers
    if kind == "q":
        joint = system.arrays.tree_joints[name.partition("[")[0]]
        warn_of_degrees(joint, numbers, "Position")


def _is_finite(number: float) -> bool:
    """Return whether a number is one of double precision; integers may be larger."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def slice_of_name(system: System, kind: str, name: str) -> slice:
    """Return where the numbers of a joint, or of one of its entries, are; NameUnknownError."""
    names = system.position_names if kind == "q" else system.velocity_names
    place = system.position_slice if kind == "q" else system.velocity_slice
    joints = system.joint_names
    if name in joints:
        return place(name)
    if name in names:
        position = names.index(name)
        return slice(position, position + 1)
    joint, bracket, _ = name.partition("[")
    if joint in system.loop_joints:
        raise NameUnknownError(no_coordinates(joint, system.remedy))
    if not bracket:
        raise NameUnknownError(f"there is no joint '{name}'; {suggestion(name, joints)}")
    if joint not in joints:
        raise NameUnknownError(f"there is no entry '{name}'; {suggestion(name, names)}")
    own = names[place(joint)]
    known = f"joint '{joint}' has {', '.join(own) or 'none'}"
    if len(own) == 1:
        known = f"joint '{joint}' has one, which is called '{own[0]}'"
    remedy = f"; '{joint}' alone stands for all of them" if len(own) > 1 else ""
    raise NameUnknownError(f"there is no entry '{name}'; {known}{remedy}.")
