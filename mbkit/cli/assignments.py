"""``NAME=VALUE`` on the command line: positions and velocities of joints, numbers of a model."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mbkit.errors import MbkitError, NameUnknownError, UsageError, suggestion
from mbkit.io.toml.loading import parameters_of
from mbkit.studies.changes import entry_of, parsed_change, with_entries
from mbkit.systems.calls.by_name import fill

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mbkit.systems import System

parameters_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another number of the model: a parameter such as bodies.rod.mass, gravity[2], or one of "
    "the table [parameters] of the file. May be repeated.",
)


def assign(
    system: System, vector: npt.NDArray[np.float64], kind: str, assignments: Sequence[str]
) -> None:
    """Write values given as text into a vector of positions, "q", or velocities, "v", in place.

    They are ``entry=number``, or ``joint=number,number,...`` for all entries of a joint; entries
    are called ``joint``, or ``joint[k]`` where a joint has several. UsageError, with the name of
    the option, if there is no such name, no such number, or another count of numbers than of
    entries.
    """
    option = f"--{kind}"
    for text in assignments:
        name, values = _parts(text, option)
        numbers = [_number(value, f"{option} {text}") for value in values.split(",")]
        try:
            fill(system, vector, kind, name, numbers)
        except (UsageError, NameUnknownError) as error:
            raise UsageError(f"{option} {text}: {error}") from error


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


def read_changes(given: Sequence[str]) -> dict[str, Any]:
    """Return values by name of ``NAME=VALUE``; UsageError if they are no numbers."""
    found: dict[str, Any] = {}
    for text in given:
        name, value = parsed_change(text, "--set", "bodies.rod.mass=2")
        if name in found:
            raise UsageError(f"--set {text}: {name} is given twice; leave one out.")
        if not _are_numbers(value):
            raise UsageError(f"--set {text}: must be a number, or numbers with commas between.")
        found[name] = value
    return found


def own_changes(model: pathlib.Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that are of the table [parameters] of a model file."""
    own = parameters_of(model) if changes and model.suffix.lower() == ".toml" else ()
    return {name: value for name, value in changes.items() if name in own}


def changed_system(
    system: System, model: pathlib.Path, changes: Mapping[str, Any], own: Mapping[str, Any]
) -> System:
    """Return a system with other numbers, those of its model file apart; UsageError by name."""
    rest = {name: value for name, value in changes.items() if name not in own}
    known = system.parameters
    for name in rest:
        if entry_of(name)[0] not in known:
            every = (*parameters_of(model), *known)
            raise UsageError(
                f"--set {name}: there is no such parameter of the model; "
                f"{suggestion(name, every)} `mbkit info MODEL` lists them."
            )
    if not rest:
        return system
    try:
        return system.with_parameters(with_entries(known, rest))
    except MbkitError as error:
        raise UsageError(f"--set {error}") from error


def _are_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_are_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)
