"""``NAME=VALUE`` on the command line: positions and velocities of joints by their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mbkit.errors import UsageError, suggestion

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def assign(
    vector: npt.NDArray[np.float64],
    names: Sequence[str],
    joints: Mapping[str, slice],
    assignments: Sequence[str],
    option: str,
) -> None:
    """Write values given as text into a vector of positions or velocities.

    Parameters
    ----------
    vector : ndarray
        Changed in place.
    names : sequence of str
        Names of its entries: ``joint``, or ``joint[k]`` where a joint has several.
    joints : mapping of str to slice
        The entries of a whole joint by its name.
    assignments : sequence of str
        ``entry=number``, or ``joint=number,number,...`` for all entries of a joint.
    option : str
        The option's name, for messages.

    Raises
    ------
    UsageError
        If there is no such name, no such number, or another count of numbers than of entries.
    """
    for text in assignments:
        name, equals, values = text.rpartition("=")
        if not equals:
            raise UsageError(f"{option} {text}: write it as NAME=VALUE, such as elbow=0.5.")
        numbers = [_number(value, f"{option} {text}") for value in values.split(",")]
        entries = _entries(name, names, joints, f"{option} {text}")
        count = entries.stop - entries.start
        if count == 0:
            raise UsageError(f"{option} {text}: joint '{name}' takes no numbers; leave it out.")
        if len(numbers) != count:
            raise UsageError(
                f"{option} {text}: '{name}' takes {count} number{'s' * (count > 1)}, "
                f"separated by commas; got {len(numbers)}."
            )
        vector[entries] = numbers


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{place}: '{text}' is not a number.") from None
    if not math.isfinite(value):
        raise UsageError(f"{place}: '{text}' is not finite.")
    return value


def _entries(name: str, names: Sequence[str], joints: Mapping[str, slice], place: str) -> slice:
    if name in joints:
        return joints[name]
    if name in names:
        position = names.index(name)
        return slice(position, position + 1)
    joint, bracket, _ = name.partition("[")
    if not bracket:
        raise UsageError(f"{place}: there is no joint '{name}'; {suggestion(name, joints)}")
    if joint not in joints:
        raise UsageError(f"{place}: there is no entry '{name}'; {suggestion(name, names)}")
    own = names[joints[joint]]
    known = f"joint '{joint}' has none" if not own else f"joint '{joint}' has {', '.join(own)}"
    remedy = f"; '{joint}' alone stands for all of them" if len(own) > 1 else ""
    raise UsageError(f"{place}: there is no entry '{name}'; {known}{remedy}.")
