"""``NAME=VALUE`` on the command line: positions and velocities of joints by their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mbkit.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mbkit.systems import System


def assign(
    system: System, vector: npt.NDArray[np.float64], kind: str, assignments: Sequence[str]
) -> None:
    """Write values given as text into a vector of positions, "q", or velocities, "v", in place.

    They are ``entry=number``, or ``joint=number,number,...`` for all entries of a joint; entries
    are called ``joint``, or ``joint[k]`` where a joint has several. UsageError, with the name of
    the option, if there is no such name, no such number, or another count of numbers than of
    entries.
    """
    from mbkit.systems.calls.by_name import entries_of

    option = f"--{kind}"
    for text in assignments:
        name, values = _parts(text, option)
        numbers = [_number(value, f"{option} {text}") for value in values.split(",")]
        try:
            entries = entries_of(system, kind, name)
        except UsageError as error:
            raise UsageError(f"{option} {text}: {error}") from error
        count = entries.stop - entries.start
        if count == 0:
            raise UsageError(f"{option} {text}: joint '{name}' takes no numbers; leave it out.")
        if len(numbers) != count:
            raise UsageError(
                f"{option} {text}: '{name}' takes {count} number{'s' * (count > 1)}, "
                f"separated by commas; got {len(numbers)}."
            )
        vector[entries] = numbers


def numbers_of(assignments: Sequence[str], option: str) -> dict[str, list[float]]:
    """Return the numbers of each ``NAME=VALUE``, by name, which is looked up later."""
    found = {}
    for text in assignments:
        name, values = _parts(text, option)
        found[name] = [_number(value, f"{option} {text}") for value in values.split(",")]
    return found


def _parts(text: str, option: str) -> tuple[str, str]:
    """Return the name and the values of ``NAME=VALUE``."""
    name, equals, values = text.rpartition("=")
    if not equals:
        raise UsageError(f"{option} {text}: write it as NAME=VALUE, such as elbow=0.5.")
    if "=" in name and "," in name:
        first, _, second = text.partition(",")
        raise UsageError(
            f"{option} {text}: give each joint an option of its own, such as {option} {first} "
            f"{option} {second}."
        )
    return name, values


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{place}: '{text}' is not a number.") from None
    if not math.isfinite(value):
        raise UsageError(f"{place}: '{text}' is not finite.")
    return value
