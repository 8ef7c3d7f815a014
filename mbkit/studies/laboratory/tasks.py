"""Tasks of a study: missing ones are done, each stored as soon as it is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from mbkit.errors import UsageError, check_kind, suggestion
from mbkit.executors import Executor, SerialExecutor
from mbkit.executors.executor import check_workers
from mbkit.simulation.progress import ProgressDisplay
from mbkit.studies.laboratory.directory import StudyDirectory

__all__ = ["checked_executor", "executor_of", "run_tasks"]

Row = dict[str, Any]


def executor_of(given: Any, **options: Any) -> Executor:
    """Return an executor of a name and its options, or the one that was given.

    Parameters
    ----------
    given : str, Executor or None
        A name is looked up among those of mbkit and of plugins; None is "serial".
    **options
        Fields of its class, those that are None apart.

    Raises
    ------
    UsageError
        If there is none of the name, or it has not these options.
    """
    from mbkit.plugins import registry

    options = {name: value for name, value in options.items() if value is not None}
    check_workers(None, None, options.get("workers"))
    left_out = given is None
    given = "serial" if given is None else given
    if not isinstance(given, str):
        check_kind("executor", given, Executor, "a name, or an mbkit.studies.Executor")
        if options:
            raise UsageError(f"{', '.join(options)}: give it to {type(given).__name__} itself.")
        own: Executor = given
        return own
    kind = registry().find("executor", given)
    if kind is None:
        known = registry().known("executor")
        raise UsageError(f"There is no executor {given!r}; {suggestion(given, known)}")
    fields = [field.name for field in getattr(kind, "__attrs_attrs__", ())]
    if unknown := next((name for name in options if name not in fields), None):
        other = "dask" if unknown == "scheduler" else "processes"
        remedy = f'give executor="{other}" with it' if left_out else "leave it out"
        raise UsageError(f"Executor {given!r} takes no {unknown}; {remedy}.")
    made: Executor = kind(**options)
    return made


def checked_executor(given: Any, time_limit: Any) -> Executor:
    """Return an executor by name or object; UsageError if it cannot keep the limit of a task."""
    found = executor_of(given)
    if time_limit is None:
        return found
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float):
        raise UsageError(f"time_limit must be a number of seconds, got {time_limit!r}.")
    if not 0.0 < time_limit < math.inf:
        raise UsageError(f"time_limit must be positive and finite, got {time_limit!r} s.")
    if not found.ends_tasks:
        raise UsageError(
            f"time_limit: {type(found).__name__} cannot end a task; take executor='processes' "
            "or 'dask'."
        )
    return found


def run_tasks(
    function: Callable[[Any], Row],
    tasks: Mapping[str, Any],
    place: StudyDirectory | None,
    *,
    lost: Callable[[Any], Row],
    progress: bool,
    executor: Executor | None = None,
    time_limit: float | None = None,
) -> list[Row]:
    """Return the rows of tasks, in order; those in the directory are not done again.

    Parameters
    ----------
    function : callable
        ``function(task)`` returns a row, and raises nothing.
    tasks : mapping of str to object
        The tasks, by key.
    place : StudyDirectory or None
        Where each row is kept as soon as it is there, by the worker that made it.
    lost : callable
        ``lost(task)`` returns the row of a task that returned none, without its status: the reason.
    progress : bool
        Whether to show progress on the standard error stream.
    executor : Executor, optional
        Where tasks run; here, one after the other, if left out.
    time_limit : float, optional
        Of one task, by an executor that can end it. [s]
    """
    executor = executor or SerialExecutor()
    if place is not None:
        place = StudyDirectory(place.path.absolute())
    found = {} if place is None else {key: row for key in tasks if (row := place.known(key))}
    missing = [key for key in tasks if key not in found]
    if not missing:
        return [found[key] for key in tasks]
    work = _Work(function, place)
    every = [(key, tasks[key]) for key in missing]
    with ProgressDisplay(
        0.0, len(every), enabled=progress, counted="cases", title="study"
    ) as display:
        for count, outcome in enumerate(executor.run(work, every, time_limit=time_limit), 1):
            key, task = every[outcome.index]
            row = outcome.value if place is None else place.known(key)
            if row is None:
                row = {**lost(task), "status": f"Lost: {outcome.reason or 'it left nothing'}."}
                if place is not None:
                    place.put(key, row)
            found[key] = row
            display.update(float(count))
    return [found[key] for key in tasks]


@attrs.frozen
class _Work:
    """The work of a worker: a task whose row is not there yet; the worker saves the row itself."""

    function: Callable[[Any], Row]
    place: StudyDirectory | None

    def __call__(self, task: tuple[str, Any]) -> Any:
        """Return the row, or the path of the file that it is kept in."""
        key, given = task
        if self.place is None:
            return self.function(given)
        if self.place.known(key) is None:
            self.place.put(key, self.function(given))
        return str(self.place.case(key))
