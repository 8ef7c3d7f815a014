"""Tasks of a study: what is missing is done, and kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbkit.studies.laboratory.directory import StudyDirectory

__all__ = ["run_tasks"]

Row = dict[str, Any]


def run_tasks(
    tasks: Mapping[str, tuple[Callable[[Any], Row], Any]],
    place: StudyDirectory | None,
    *,
    progress: bool,
) -> list[Row]:
    """Return the rows of tasks, in order; what the directory has is not done again.

    Parameters
    ----------
    tasks : mapping of str to (callable, object)
        By key: a function, which returns a row and raises nothing, and its argument.
    place : StudyDirectory or None
        Where each row is kept as soon as it is there.
    progress : bool
        Whether to show progress on the standard error stream.
    """
    found = {} if place is None else {key: row for key in tasks if (row := place.known(key))}
    missing = [key for key in tasks if key not in found]
    for key in _shown(missing) if progress and missing else missing:
        function, argument = tasks[key]
        found[key] = function(argument)
        if place is not None:
            place.put(key, found[key])
    return [found[key] for key in tasks]


def _shown(keys: list[str]) -> Iterable[str]:
    from rich.console import Console
    from rich.progress import track

    return track(keys, "Cases", console=Console(stderr=True), transient=True)
