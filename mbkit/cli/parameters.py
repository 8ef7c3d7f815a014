"""``--set NAME=VALUE``: other numbers of a model on the command line."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mbkit.errors import MbkitError, UsageError, suggestion

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["changed_system", "own_changes", "parameters_option", "read_changes"]

parameters_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another number of the model: a parameter such as bodies.rod.mass, gravity[2], or one of "
    "the table [parameters] of the file. May be repeated.",
)


def read_changes(given: Sequence[str]) -> dict[str, Any]:
    """Return values by name of ``NAME=VALUE``; UsageError if they are no numbers."""
    from mbkit.studies.changes import parsed_change

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
    from mbkit.io.model_file import parameters_of

    own = parameters_of(model) if changes and model.suffix.lower() == ".toml" else ()
    return {name: value for name, value in changes.items() if name in own}


def changed_system(
    system: System, model: pathlib.Path, changes: Mapping[str, Any], own: Mapping[str, Any]
) -> System:
    """Return a system with other numbers, those of its model file apart; UsageError by name."""
    from mbkit.io.model_file import parameters_of
    from mbkit.studies.changes import entry_of, with_entries

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
