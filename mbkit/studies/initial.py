"""Positions and velocities at the start, by the names of joints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbkit.errors import UsageError, suggestion

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["entries_of", "fill"]


def fill(
    vector: npt.NDArray[np.float64],
    names: Sequence[str],
    joints: Mapping[str, slice],
    name: str,
    value: Any,
) -> None:
    """Write the value of a joint, or of one of its entries, into a vector, in place.

    Entries are called ``joint``, or ``joint[k]`` where a joint has several; `joints` has those of a
    whole joint. UsageError if there is no such name, or the value does not fit.
    """
    numbers = value if isinstance(value, list | tuple) else [value]
    for number in numbers:
        if type(number) not in (int, float) or not _is_finite(number):
            raise UsageError(f"must be a finite number, or an array of them, got {value!r}.")
    entries = entries_of(name, names, joints)
    count = entries.stop - entries.start
    if count == 0:
        raise UsageError(f"joint '{name}' takes no numbers; leave it out.")
    if len(numbers) != count:
        raise UsageError(f"'{name}' takes {count} number{'s' * (count > 1)}; got {len(numbers)}.")
    vector[entries] = numbers


def _is_finite(number: float) -> bool:
    """Return whether a number is one of double precision; integers may be larger."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def entries_of(name: str, names: Sequence[str], joints: Mapping[str, slice]) -> slice:
    """Return where the numbers of a joint, or of one of its entries, are; or raise UsageError."""
    if name in joints:
        return joints[name]
    if name in names:
        position = names.index(name)
        return slice(position, position + 1)
    joint, bracket, _ = name.partition("[")
    if not bracket:
        raise UsageError(f"there is no joint '{name}'; {suggestion(name, joints)}")
    if joint not in joints:
        raise UsageError(f"there is no entry '{name}'; {suggestion(name, names)}")
    own = names[joints[joint]]
    known = f"joint '{joint}' has none" if not own else f"joint '{joint}' has {', '.join(own)}"
    remedy = f"; '{joint}' alone stands for all of them" if len(own) > 1 else ""
    raise UsageError(f"there is no entry '{name}'; {known}{remedy}.")
