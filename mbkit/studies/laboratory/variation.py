"""Many runs of one mechanism: ensembles, and how much each parameter matters."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.errors import MbkitError, UsageError, check_choice
from mbkit.executors import Executor
from mbkit.given_values import whole_number
from mbkit.model import Mechanism
from mbkit.studies.laboratory.directory import StudyDirectory, digest
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.saving import kept
from mbkit.studies.laboratory.findings.table import Table
from mbkit.studies.laboratory.outputs import Outputs, outputs_of
from mbkit.studies.laboratory.study_runs import Runs, loaded, runs_of, units_with, with_table
from mbkit.studies.laboratory.tasks import checked_executor, run_tasks
from mbkit.studies.laboratory.varied_mechanism import distribution, row_of
from mbkit.studies.study import Study

__all__ = ["ensemble", "sensitivity"]

_Options = dict[str, Any]


def ensemble(
    what: Mechanism | Study | str | os.PathLike[str],
    t_span: tuple[float, float] | None = None,
    h: float | None = None,
    *,
    vary: Mapping[str, Any] | None = None,
    outputs: Any = None,
    samples: int | None = None,
    seed: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    executor: str | Executor | None = None,
    time_limit: float | None = None,
    progress: bool = False,
    **options: Any,
) -> Findings:
    """Run a mechanism, or a study, with random initial states and parameters.

    Parameters
    ----------
    what : Mechanism, Study, or path of a study file
        The mechanism, study or file. Arguments that are left out are those of the study's table
        ``ensemble``.
    t_span, h : as of `simulate`
        Of a mechanism; a study has its own.
    vary : mapping of str to (low, high) or distribution
        Random quantities. Of a mechanism: names of ``system.parameters``, "bodies.rod.mass" or
        "bodies.rod.com[2]", and "q.JOINT", "v.JOINT" of the start; of a study, whatever ``mbkit run
        --set`` takes, such as "initial.q.JOINT". A pair is uniform; others are distributions of
        `scipy.stats`, or mappings such as ``{"distribution": "norm", "loc": 1.0, "scale": 0.1}``.
    outputs : mapping of str to callable, or sequence of str, optional
        ``output(run)`` returns a number of a `Result`; or names, as of `sweep`.
    samples : int, default 100
        How many runs there are.
    seed : int, default 0
        Of the random numbers.
    directory, executor, time_limit, progress
        As of `compare`.
    **options
        Of a mechanism: ``q`` and ``v`` of the start, as of `compare`, ``integrator`` and
        ``coordinates``, as objects.

    Returns
    -------
    Findings
        ``table`` has mean, standard deviation and quantiles of each output, over the runs that came
        to their end; ``tables["cases"]`` all runs with their numbers.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("drop", gravity=(0, 0, -10.0))
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> found = mb.studies.ensemble(
    ...     mech, (0.0, 1.0), 0.1, vary={"v.fall": (4.0, 6.0)}, samples=200,
    ...     outputs={"height": lambda run: run.q[-1, 0]},
    ... )
    >>> row = found.table.rows[0]  # the mean of v - 5 is zero, its deviation 1 / sqrt(3)
    >>> abs(row["mean"]) < 0.1, round(row["deviation"], 1)
    (True, 0.6)
    """
    what = loaded(what)
    given = with_table(
        {"vary": vary, "outputs": outputs, "samples": samples, "seed": seed, "executor": executor,
         "time_limit": time_limit}, what, "ensemble",
    )  # fmt: skip
    count = whole_number("samples", 100 if given["samples"] is None else given["samples"], 2)
    asked = _Asked.of(
        "ensemble", what, (t_span, h), given, options, directory=directory, progress=progress
    )
    draws = np.random.default_rng(asked.seed).random((count, len(asked.vary)))
    cases, about = asked.cases([asked.at(row) for row in draws])
    rows = []
    for name in asked.numbers(cases):
        values = cases[name][cases["status"] == "completed"] if name in cases.columns else []
        low, median, high = np.quantile(values, [0.05, 0.5, 0.95]) if len(values) else [np.nan] * 3
        rows.append({
            "output": name, "runs": len(values),
            "mean": float(np.mean(values)) if len(values) else np.nan,
            "deviation": float(np.std(values, ddof=1)) if len(values) > 1 else np.nan,
            "quantile_05": low, "median": median,
            "quantile_95": high,
        })  # fmt: skip
    return asked.found({"statistics": Table(rows, {}, ("output",))}, cases, about)


def sensitivity(
    what: Mechanism | Study | str | os.PathLike[str],
    t_span: tuple[float, float] | None = None,
    h: float | None = None,
    *,
    vary: Mapping[str, Any] | None = None,
    outputs: Any = None,
    method: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    executor: str | Executor | None = None,
    time_limit: float | None = None,
    progress: bool = False,
    **options: Any,
) -> Findings:
    """Return the influence of each number of a mechanism or its start on outputs of a run.

    Parameters
    ----------
    what, t_span, h, vary, outputs, directory, executor, time_limit, progress, **options
        As of `ensemble`; the table of a study is ``sensitivity``.
    method : {"one_at_a_time", "sobol"}, optional
        Each number at its quantiles of 5 % and 95 %, the others at their medians; or Sobol's
        indices of variance, by `scipy.stats.sobol_indices`, which see interactions too.
    samples : int, default 64
        Of Sobol's method, a power of two: it takes ``samples (len(vary) + 2)`` runs.
    seed : int, default 0
        Of Sobol's method.

    Returns
    -------
    Findings
        ``table`` has a row for each number and output. One at a time: the output at ``low``,
        ``middle`` and ``high``, and ``slope``, the change by that of the number. Sobol: ``first``,
        the share of the variance that is the number's alone, and ``total``, that in which it takes
        part, with intervals of 95 % by bootstrap.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("drop", gravity=(0, 0, -10.0))
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> found = mb.studies.sensitivity(
    ...     mech, (0.0, 2.0), 0.1, vary={"v.fall": (4.0, 6.0), "q.fall": (0.0, 1.0)},
    ...     outputs={"height": lambda run: run.q[-1, 0]},
    ... )
    >>> [(row["number"], round(row["slope"], 6)) for row in found.table]
    [('v.fall', 2.0), ('q.fall', 1.0)]
    """
    what = loaded(what)
    given = with_table(
        {"vary": vary, "outputs": outputs, "method": method, "samples": samples, "seed": seed,
         "executor": executor, "time_limit": time_limit}, what, "sensitivity",
    )  # fmt: skip
    how = "one_at_a_time" if given["method"] is None else given["method"]
    check_choice("method", how, ("one_at_a_time", "sobol"))
    count = 64 if given["samples"] is None else given["samples"]
    count = whole_number("samples", count, 2 if how == "sobol" else 1)
    asked = _Asked.of(
        "sensitivity", what, (t_span, h), given, options, directory=directory, progress=progress
    )
    table, cases, about = _one_at_a_time(asked) if how == "one_at_a_time" else _sobol(asked, count)
    return asked.found({"effects": table}, cases, about)


@attrs.frozen(eq=False)
class _Asked:
    """The parameters that vary, the runs, and the outputs of each."""

    kind: str
    vary: Mapping[str, Any]
    outputs: Outputs
    runs: Runs
    seed: int
    directory: StudyDirectory | None
    how: _Options

    @classmethod
    def of(
        cls,
        kind: str,
        what: Mechanism | Study,
        times: tuple[Any, Any],
        given: _Options,
        options: _Options,
        *,
        directory: Any,
        progress: bool,
    ) -> _Asked:
        """Return the checked arguments."""
        if not (isinstance(given["vary"], Mapping) and given["vary"]):
            raise UsageError(f"vary must be a dict with an entry at least, got {given['vary']!r}.")
        if isinstance(given["outputs"], Mapping) and not given["outputs"]:
            raise UsageError("outputs must be a dict with an entry at least; or leave it out.")
        seed = whole_number("seed", 0 if given["seed"] is None else given["seed"])
        outputs = outputs_of(given["outputs"], what)
        vary = {str(name): distribution(str(name), each) for name, each in given["vary"].items()}
        executor = checked_executor(given["executor"], given["time_limit"])
        ends = [{name: float(each.ppf(u)) for name, each in vary.items()} for u in (0.05, 0.95)]
        runs = runs_of(what, *times, vary, ends, options).recording(outputs.recorded)
        how = {"progress": progress, "executor": executor, "time_limit": given["time_limit"]}
        place = None if directory is None else StudyDirectory.of(directory, what)
        return cls(kind, vary, outputs, runs, seed, place, how)

    def at(self, levels: Any) -> dict[str, float]:
        """Return the numbers at quantiles, one for each that varies."""
        named = zip(self.vary.items(), levels, strict=True)
        return {name: float(each.ppf(u)) for (name, each), u in named}

    def cases(self, points: Sequence[Mapping[str, float]]) -> tuple[Table, _Options]:
        """Return a row for each point; those that a directory has are not run again."""
        setting = {**self.runs.setting, "seed": self.seed, "outputs": self.outputs.identity()}
        keys = [digest([self.kind, setting, dict(point)]) for point in points]
        units = units_with(self.runs.system, self.vary, self.outputs)
        about = {
            "kind": self.kind, "setting": setting, "factors": dict.fromkeys(self.vary, ""),
            "cases": keys, "units": units, "mechanism": self.runs.system.name,
        }  # fmt: skip
        place = self.directory
        if place is not None:
            place.open(about)
            place.write("model.toml", self.runs.system.model_text)
        tasks = dict(zip(keys, points, strict=True))
        row = functools.partial(row_of, self.runs.run, self.outputs)
        done = dict(zip(tasks, run_tasks(row, tasks, place, lost=dict, **self.how), strict=True))
        return Table([done[key] for key in keys], units, tuple(self.vary)), about

    def numbers(self, cases: Table) -> list[str]:
        """Return the outputs that are numbers."""
        others = {*self.vary, "status"}
        found = [n for n in cases.columns if n not in others and cases[n].dtype.kind != "U"]
        return list(dict.fromkeys([*self.outputs.functions, *found]))

    def found(self, tables: Mapping[str, Table], cases: Table, about: _Options) -> Findings:
        """Return the findings, kept where they have a directory."""
        found = Findings(self.kind, {**tables, "cases": cases}, about)
        return found if self.directory is None else kept(found, self.directory)


def _one_at_a_time(asked: _Asked) -> tuple[Table, Table, _Options]:
    count = len(asked.vary)
    levels = np.full((1 + 2 * count, count), 0.5)
    for k in range(count):
        levels[1 + 2 * k, k], levels[2 + 2 * k, k] = 0.05, 0.95
    cases, about = asked.cases([asked.at(row) for row in levels])
    rows = []
    for k, name in enumerate(asked.vary):
        at, low, high = (cases.rows[i] for i in (0, 1 + 2 * k, 2 + 2 * k))
        for output in asked.numbers(cases):
            values = [row.get(output, np.nan) for row in (low, at, high)]
            rows.append({
                "number": name, "output": output, "low": values[0], "middle": values[1],
                "high": values[2], "slope": (values[2] - values[0]) / (high[name] - low[name]),
            })  # fmt: skip
    return Table(rows, {}, ("number", "output")), cases, about


def _sobol(asked: _Asked, count: int) -> tuple[Table, Table, _Options]:
    from scipy import stats

    all_rows: list[Mapping[str, Any]] = []
    last: list[tuple[Table, _Options]] = []
    names: list[str] = []

    def outputs(x: Any) -> Any:
        """Return the outputs (s, n) at the points (d, n)."""
        points = [dict(zip(asked.vary, map(float, column), strict=True)) for column in x.T]
        table, about = asked.cases(points)
        failed = [row for row in table if row["status"] != "completed"]
        if failed:
            raise UsageError(
                f"sensitivity: {len(failed)} runs failed, and Sobol's indices need all; the first: "
                f"{failed[0]['status']} Vary less, or take method='one_at_a_time'."
            )
        all_rows.extend(table.rows)
        last.append((table, about))
        names[:] = names or asked.numbers(table)
        return np.array([table[name] for name in names])

    rng = np.random.default_rng(asked.seed)
    try:
        # Outputs that do not vary have no shares: 0 / 0.
        with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
            warnings.simplefilter("ignore")
            found = stats.sobol_indices(
                func=outputs, n=count, dists=list(asked.vary.values()), rng=rng
            )  # fmt: skip
            sure = found.bootstrap()
    except MbkitError:
        raise
    except ValueError as error:
        raise UsageError(f"sensitivity: samples = {count}: {error}") from error
    rows = []
    shape = len(names), len(asked.vary)
    parts = {
        "first": found.first_order, "first_low": sure.first_order.confidence_interval.low,
        "first_high": sure.first_order.confidence_interval.high, "total": found.total_order,
        "total_low": sure.total_order.confidence_interval.low,
        "total_high": sure.total_order.confidence_interval.high,
    }  # fmt: skip
    arrays = {key: np.reshape(values, shape) for key, values in parts.items()}
    for k, name in enumerate(asked.vary):
        for s, output in enumerate(names):
            numbers = {key: float(values[s, k]) for key, values in arrays.items()}
            rows.append({"number": name, "output": output, **numbers})
    cases = Table(all_rows, last[0][0].units, last[0][0].factors)
    return Table(rows, {}, ("number", "output")), cases, last[-1][1]
