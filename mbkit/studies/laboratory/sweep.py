"""Sweeps: a mechanism or a study at each point of a grid, on one machine or many."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, UsageError, check_switch, several
from mbkit.executors import Executor
from mbkit.model import Mechanism
from mbkit.studies.laboratory.directory import StudyDirectory, digest
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.saving import kept
from mbkit.studies.laboratory.findings.table import Table
from mbkit.studies.laboratory.outputs import outputs_of
from mbkit.studies.laboratory.study_runs import (
    StudyRuns,
    code_of_study,
    loaded,
    runs_of,
    units_with,
    with_table,
)
from mbkit.studies.laboratory.tasks import checked_executor, run_tasks
from mbkit.studies.laboratory.varied_mechanism import row_of
from mbkit.studies.study import Study
from mbkit.studies.study_file import changed_study

__all__ = ["sweep"]

#: Points of a sweep, at most.
MOST_POINTS = 1_000_000

Point = dict[str, Any]


def sweep(
    what: Mechanism | Study | str | os.PathLike[str],
    t_span: tuple[float, float] | None = None,
    h: float | None = None,
    *,
    vary: Mapping[str, Any] | None = None,
    outputs: Any = None,
    directory: str | os.PathLike[str] | None = None,
    executor: str | Executor | None = None,
    time_limit: float | None = None,
    retry: bool = False,
    progress: bool = False,
    **options: Any,
) -> Findings:
    """Run a mechanism, or a study, at each point of a grid.

    Parameters
    ----------
    what : Mechanism, Study, or path of a study file
        The mechanism, study or file to run.
    t_span, h : as of `simulate`
        Of a mechanism; a study has its own.
    vary : mapping of str to sequence
        The values of varied numbers; all combinations are run, the last name first. Of a mechanism:
        names of ``system.parameters``, such as "bodies.rod.mass" or "bodies.rod.com[2]", and
        "q.JOINT", "v.JOINT" of the start. Of a study: whatever ``mbkit run --set`` takes, such as
        "h", "initial.q.JOINT" or "integrator.tableau"; that of its table ``sweep`` if left out, and
        so are outputs, executor and time_limit.
    outputs : mapping of str to callable, or sequence of str, optional
        ``output(run)`` returns a number of a `Result`. Or names: "end", the state at the end;
        "energy_drift"; "constraints", their largest residuals; "counts", of steps and evaluations;
        "warnings"; "wall_time"; "MODULE:FUNCTION"; and of the `outputs` of `simulate`, such as
        "main.effort", the columns "min.main.effort", "max.main.effort" and "end.main.effort". All
        that have names, and the outputs of the study, if left out.
    directory, executor, time_limit, progress
        As of `compare`.
    retry : bool, default False
        Whether points that failed before, in the directory, are run again.
    **options
        Of a mechanism: ``q`` and ``v`` of the start, as of `compare`, ``integrator`` and
        ``coordinates``, as objects.

    Returns
    -------
    Findings
        ``table`` has a row for each point, with its ``status``: "completed", or the reason.

    Raises
    ------
    UsageError
        If an argument is wrong, or the directory has another study.
    StudyFileError
        If the study has no such value.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("drop", gravity=(0, 0, -10.0))
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> found = mb.studies.sweep(
    ...     mech, (0.0, 1.0), 0.1, vary={"v.fall": [4.0, 5.0], "gravity[2]": [-10.0, -8.0]},
    ...     outputs={"height": lambda run: run.q[-1, 0]},
    ... )
    >>> found.table["height"].round(6).tolist()
    [-1.0, 0.0, 0.0, 1.0]
    """
    check_switch("retry", retry)
    given = {"vary": vary, "outputs": outputs, "executor": executor, "time_limit": time_limit}
    what = loaded(what)
    given = with_table(given, what, "sweep")
    where = checked_executor(given["executor"], given["time_limit"])
    asked = outputs_of(given["outputs"], what)
    points = _points(given["vary"])
    if isinstance(what, Mechanism):
        _check_numbers(points)
    runs = runs_of(what, t_span, h, points[0], points, options).recording(asked.recorded)
    setting = {**runs.setting, "outputs": asked.identity()}
    further = _words(runs.run, points, setting)
    keys = [digest(["sweep", setting, p, *more]) for p, more in zip(points, further, strict=True)]
    names = list(points[0])
    about: dict[str, Any] = {
        "kind": "sweep", "setting": setting, "factors": dict.fromkeys(names, ""), "cases": keys,
        "units": units_with(runs.system, points[0], asked), "mechanism": runs.system.name,
    }  # fmt: skip
    place = None if directory is None else StudyDirectory.of(directory, what)
    if place is not None:
        place.open(about)
        place.write("model.toml", runs.system.model_text)
        if retry:
            _forget_failures(place, keys)
    tasks = dict(zip(keys, points, strict=True))
    rows = run_tasks(
        functools.partial(row_of, runs.run, asked), tasks, place, lost=dict, progress=progress,
        executor=where, time_limit=given["time_limit"],
    )  # fmt: skip
    found = Findings("sweep", {"cases": Table(rows, about["units"], tuple(names))}, about)
    return found if directory is None else kept(found, directory)


def _forget_failures(place: StudyDirectory, keys: list[str]) -> None:
    for key in keys:
        row = place.known(key)
        if row is not None and row["status"] != "completed":
            place.case(key).unlink()


# ----------------------------------------------------------------------------------- points


def _points(vary: Any) -> list[Point]:
    """Return all combinations of values, each once."""
    if not (isinstance(vary, Mapping) and vary):
        raise UsageError(f"vary must be a dict with an entry at least, got {vary!r}.")
    values = {}
    for name, given in vary.items():
        if not isinstance(name, str):
            raise UsageError(f"vary: names are text, got {name!r}.")
        if not several(given):
            raise UsageError(f"vary: {name!r} must have a list of values, got {given!r}.")
        plain = [_plain(name, each) for each in given]
        if not plain:
            raise UsageError(f"vary: {name!r} has no values.")
        values[name] = list({json.dumps(each): each for each in plain}.values())
    count = math.prod(map(len, values.values()))
    if count > MOST_POINTS:
        raise UsageError(f"vary: these are {count} points; at most {MOST_POINTS} are one sweep.")
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def _plain(name: str, value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(name, each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"vary: values of {name!r} must be finite, got {value!r}.")
    if not isinstance(value, str | bool | int | float):
        raise UsageError(f"vary: values of {name!r} are numbers or words, got {value!r}.")
    return value


def _check_numbers(points: list[Point]) -> None:
    for name, value in (pair for point in points for pair in point.items()):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"vary: values of {name!r} must be numbers, got {value!r}.")


# ------------------------------------------------------------------------------------ identity


def _words(run: Any, points: list[Point], setting: Mapping[str, Any]) -> list[list[Any]]:
    """Return, for each point, the code and model that its words name, where it is no other's.

    A word, such as "integrator.type", names parts that the study itself has not.
    """
    known: dict[str, list[Any]] = {"{}": []}
    found = []
    for point in points if isinstance(run, StudyRuns) else ():
        words = {name: each for name, each in point.items() if isinstance(each, str)}
        key = json.dumps(words)
        if key not in known:
            known[key] = _named(run, words, setting)
        found.append(known[key])
    return found or [[] for _ in points]


def _named(run: StudyRuns, point: Point, setting: Mapping[str, Any]) -> list[Any]:
    try:
        study = changed_study(run.path, run.settings, point)
    except MbkitError:  # which is the row of the point
        return []
    named = {"model": digest(study.system.model_text), **code_of_study(study)}
    same = all(setting.get(name) == each for name, each in named.items())
    return [] if same else [named]
