"""Sweeps: a mechanism or a study at each point of a grid, on one machine or many."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import MbkitError, UsageError, check_kind, check_switch, several
from mbkit.executors import Executor
from mbkit.model import Mechanism
from mbkit.results import Result
from mbkit.simulation.simulate import simulate
from mbkit.studies.laboratory.compare import kept
from mbkit.studies.laboratory.directory import StudyDirectory, code_of, digest
from mbkit.studies.laboratory.findings import Findings
from mbkit.studies.laboratory.outputs import outputs_of, unit_of_varied, units_of
from mbkit.studies.laboratory.table import Table
from mbkit.studies.laboratory.tasks import checked_executor, run_tasks
from mbkit.studies.laboratory.varied import row_of, varied_of
from mbkit.studies.study import Study, parted
from mbkit.studies.study_file import changed_study, load_study
from mbkit.systems import System

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
        What is run.
    t_span, h : as of `simulate`
        Of a mechanism; a study has its own.
    vary : mapping of str to sequence
        The values of what varies; all combinations are run, the last name first. Of a mechanism:
        names of ``system.parameters``, such as "bodies.rod.mass" or "bodies.rod.com[2]", and
        "q.JOINT", "v.JOINT" of the start. Of a study: whatever ``mbkit run --set`` takes, such as
        "h", "initial.q.JOINT" or "integrator.tableau"; that of its table ``sweep`` if left out, and
        so are outputs, executor and time_limit.
    outputs : mapping of str to callable, or sequence of str, optional
        ``output(run)`` returns a number of a `Result`. Or names: "end", the state at the end;
        "energy_drift"; "constraints", their largest residuals; "counts", what the steps have cost;
        "warnings"; "wall_time"; and "MODULE:FUNCTION". All that have names, if left out.
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
        If an argument is not what it should be, or the directory has another study.
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
    if not isinstance(what, Mechanism):
        what = _loaded(what)
        given = _with_table(given, what)
    where = checked_executor(given["executor"], given["time_limit"])
    asked = outputs_of(given["outputs"])
    points = _points(given["vary"])
    names = list(points[0])
    if isinstance(what, Mechanism):
        run, setting, system = _of_mechanism(what, t_span, h, given["vary"], options)
    else:
        if t_span is not None or h is not None or options:
            named = [*options, *(("t_span",) if t_span is not None else ("h",))]
            raise UsageError(f"{named[0]}: a study has its own; vary it, or change the study.")
        run, setting, system = _of_study(what, points)
    setting["outputs"] = asked.identity()
    further = _words(run, points, setting)
    keys = [digest(["sweep", setting, p, *more]) for p, more in zip(points, further, strict=True)]
    about: dict[str, Any] = {
        "kind": "sweep", "setting": setting, "factors": dict.fromkeys(names, ""), "cases": keys,
        "units": {
            **{name: unit_of_varied(system, name) for name in names}, "status": "",
            **units_of(system),
        },
        "mechanism": system.name,
    }  # fmt: skip
    place = None if directory is None else StudyDirectory(directory)
    if place is not None:
        place.open(about)
        place.write("model.toml", system.model_text)
        if retry:
            _forget_failures(place, keys)
    tasks = dict(zip(keys, points, strict=True))
    rows = run_tasks(
        functools.partial(row_of, run, asked), tasks, place, lost=dict, progress=progress,
        executor=where, time_limit=given["time_limit"],
    )  # fmt: skip
    found = Findings("sweep", {"cases": Table(rows, about["units"], tuple(names))}, about)
    return found if directory is None else kept(found, directory)


def _loaded(given: Any) -> Study:
    check_kind("what", given, (Study, str, os.PathLike), "a Mechanism, a Study or its file")
    return given if isinstance(given, Study) else load_study(given)


def _with_table(given: dict[str, Any], study: Study) -> dict[str, Any]:
    """Return arguments, and those that are left out as the table ``sweep`` of a study has them."""
    table, where = parted(study.swept)
    own = {name: each for name, each in given.items() if each is not None}
    return dict.fromkeys(given) | table | where | own


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


# --------------------------------------------------------------------------------- what runs


def _of_mechanism(
    mechanism: Mechanism, t_span: Any, h: Any, vary: Mapping[str, Any], options: dict[str, Any]
) -> tuple[Any, dict[str, Any], System]:
    """Return what runs a point, what identifies the sweep, and the system as it is given."""
    varied = varied_of(mechanism, t_span, h, vary, {}, options, values=_numbers)
    return varied.run, varied.setting, varied.system


def _numbers(name: str, given: Any) -> Any:
    for value in given:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise UsageError(f"vary: values of {name!r} must be numbers, got {value!r}.")
    return given


def _of_study(study: Study, points: list[Point]) -> tuple[Any, dict[str, Any], System]:
    """Return the same of a study; StudyFileError where it takes none of some far points.

    Then there is no such name. A value that it does not take fails alone.
    """
    run = _StudyRuns(study.path, json.loads(json.dumps(dict(study.settings))))
    first, last = points[0], points[-1]
    refused = []
    for point in (first, *({**first, name: last[name]} for name in last), last):
        try:
            changed_study(run.path, run.settings, point)
        except MbkitError as error:
            refused.append(error)
        else:
            break
    else:
        raise refused[0]
    setting = {
        "settings": run.settings, "model": digest(study.system.model_text), **_code(study)
    }  # fmt: skip
    return run, setting, study.system


def _code(study: Study) -> dict[str, Any]:
    return code_of(study.system, integrator=study.integrator, events=study.events)


def _words(run: Any, points: list[Point], setting: Mapping[str, Any]) -> list[list[Any]]:
    """Return, for each point, the code and model that its words name, where it is no other's.

    A word, such as "integrator.type", names parts that the study itself has not.
    """
    known: dict[str, list[Any]] = {"{}": []}
    found = []
    for point in points if isinstance(run, _StudyRuns) else ():
        words = {name: each for name, each in point.items() if isinstance(each, str)}
        key = json.dumps(words)
        if key not in known:
            known[key] = _named(run, words, setting)
        found.append(known[key])
    return found or [[] for _ in points]


def _named(run: _StudyRuns, point: Point, setting: Mapping[str, Any]) -> list[Any]:
    try:
        study = changed_study(run.path, run.settings, point)
    except MbkitError:  # which is the row of the point
        return []
    named = {"model": digest(study.system.model_text), **_code(study)}
    same = all(setting.get(name) == each for name, each in named.items())
    return [] if same else [named]


@attrs.frozen
class _StudyRuns:
    """Runs of a study: its tables are sent to workers, and changed there as --set does."""

    path: pathlib.Path
    settings: dict[str, Any]

    def __call__(self, point: Mapping[str, Any]) -> Result:
        study = changed_study(self.path, self.settings, point)
        return simulate(
            study.system, study.t_span, study.h, integrator=study.integrator, q=study.q, v=study.v,
            events=study.events, save_every=study.save_every, save_at=study.save_at, progress=False,
        )  # fmt: skip
