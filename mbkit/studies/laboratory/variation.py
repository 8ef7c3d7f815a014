"""Many runs of one mechanism: ensembles, and how much each parameter matters."""

from __future__ import annotations

import functools
import math
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.errors import MbkitError, UsageError, check_choice
from mbkit.executors import Executor
from mbkit.model import Mechanism
from mbkit.simulation.long_runs.identity import fingerprint
from mbkit.studies.laboratory.compare import kept
from mbkit.studies.laboratory.directory import StudyDirectory, digest
from mbkit.studies.laboratory.findings import Findings
from mbkit.studies.laboratory.table import Table
from mbkit.studies.laboratory.tasks import checked_executor, run_tasks
from mbkit.studies.laboratory.varied import (
    Output,
    Varied,
    check_entries,
    distribution,
    varied_of,
)

__all__ = ["ensemble", "sensitivity"]


def ensemble(
    mechanism: Mechanism,
    t_span: tuple[float, float],
    h: float,
    *,
    vary: Mapping[str, Any],
    outputs: Mapping[str, Output],
    samples: int = 100,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
    executor: str | Executor = "serial",
    time_limit: float | None = None,
    progress: bool = False,
    **options: Any,
) -> Findings:
    """Run a mechanism with random initial states and parameters.

    Parameters
    ----------
    mechanism : Mechanism
        What moves.
    t_span, h : as of `simulate`
    vary : mapping of str to (low, high) or distribution
        What is random: names of ``system.parameters``, such as "bodies.rod.mass" or
        "bodies.rod.com[2]", and "q.JOINT", "v.JOINT" of the start. A pair is uniform; others are
        distributions of `scipy.stats`.
    outputs : mapping of str to callable
        ``output(run)`` returns a number of a `Result`.
    samples : int, default 100
        How many runs there are.
    seed : int, default 0
        Of the random numbers.
    directory, executor, time_limit, progress
        As of `compare`.
    **options
        ``q`` and ``v`` of the start, as of `compare`, ``integrator`` and ``coordinates``, as
        objects.

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
    _check_count("samples", samples, 2)
    _check_count("seed", seed, 0)
    check_entries(vary=vary, outputs=outputs)
    varied = varied_of(mechanism, t_span, h, vary, outputs, options, values=distribution)
    rng = np.random.default_rng(seed)
    draws = rng.random((samples, len(varied.vary)))
    points = [
        {name: float(each.ppf(u)) for u, (name, each) in zip(row, varied.vary.items(), strict=True)}
        for row in draws
    ]
    where = checked_executor(executor, time_limit)
    how: dict[str, Any] = {"progress": progress, "executor": where, "time_limit": time_limit}
    cases, about = _cases("ensemble", varied, points, directory, seed=seed, **how)
    rows = []
    for name in varied.outputs:
        values = cases[name][cases["status"] == "completed"] if name in cases.columns else []
        low, median, high = (
            np.quantile(values, [0.05, 0.5, 0.95]) if len(values) else [math.nan] * 3
        )
        rows.append({
            "output": name, "runs": len(values),
            "mean": float(np.mean(values)) if len(values) else math.nan,
            "deviation": float(np.std(values, ddof=1)) if len(values) > 1 else math.nan,
            "quantile_05": low, "median": median,
            "quantile_95": high,
        })  # fmt: skip
    return _found("ensemble", {"statistics": Table(rows, {}, ("output",))}, cases, about, directory)


def sensitivity(
    mechanism: Mechanism,
    t_span: tuple[float, float],
    h: float,
    *,
    vary: Mapping[str, Any],
    outputs: Mapping[str, Output],
    method: str = "one_at_a_time",
    samples: int = 64,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
    executor: str | Executor = "serial",
    time_limit: float | None = None,
    progress: bool = False,
    **options: Any,
) -> Findings:
    """Return how much each number of a mechanism or its start matters for what comes out.

    Parameters
    ----------
    mechanism, t_span, h, vary, outputs, directory, executor, time_limit, progress, **options
        As of `ensemble`.
    method : {"one_at_a_time", "sobol"}
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
    check_choice("method", method, ("one_at_a_time", "sobol"))
    _check_count("seed", seed, 0)
    check_entries(vary=vary, outputs=outputs)
    varied = varied_of(mechanism, t_span, h, vary, outputs, options, values=distribution)
    where = checked_executor(executor, time_limit)
    how: dict[str, Any] = {"progress": progress, "executor": where, "time_limit": time_limit}
    run = functools.partial(_cases, "sensitivity", varied, directory=directory, seed=seed, **how)
    if method == "one_at_a_time":
        table, cases, about = _one_at_a_time(varied, run)
    else:
        _check_count("samples", samples, 2)
        table, cases, about = _sobol(varied, run, samples, seed)
    return _found("sensitivity", {"effects": table}, cases, about, directory)


def _one_at_a_time(varied: Varied, run: Any) -> tuple[Table, Table, dict[str, Any]]:
    middle = varied.middle()
    ends = [
        {**middle, name: float(each.ppf(level))}
        for name, each in varied.vary.items()
        for level in (0.05, 0.95)
    ]
    cases, about = run([middle, *ends])
    rows = []
    for k, name in enumerate(varied.vary):
        at, low, high = (cases.rows[i] for i in (0, 1 + 2 * k, 2 + 2 * k))
        for output in varied.outputs:
            values = [row.get(output, math.nan) for row in (low, at, high)]
            rows.append({
                "number": name, "output": output, "low": values[0], "middle": values[1],
                "high": values[2], "slope": (values[2] - values[0]) / (high[name] - low[name]),
            })  # fmt: skip
    return Table(rows, {}, ("number", "output")), cases, about


def _sobol(varied: Varied, run: Any, count: int, seed: int) -> tuple[Table, Table, dict[str, Any]]:
    from scipy import stats

    all_rows: list[Mapping[str, Any]] = []
    last: list[tuple[Table, dict[str, Any]]] = []

    def outputs(x: Any) -> Any:
        """Return the outputs (s, n) at the points (d, n)."""
        points = [dict(zip(varied.vary, map(float, column), strict=True)) for column in x.T]
        table, about = run(points)
        failed = [row for row in table if row["status"] != "completed"]
        if failed:
            raise UsageError(
                f"sensitivity: {len(failed)} runs failed, and Sobol's indices need all; the first: "
                f"{failed[0]['status']} Vary less, or take method='one_at_a_time'."
            )
        all_rows.extend(table.rows)
        last.append((table, about))
        return np.array([table[name] for name in varied.outputs])

    rng = np.random.default_rng(seed)
    try:
        found = stats.sobol_indices(
            func=outputs, n=count, dists=list(varied.vary.values()), rng=rng
        )  # fmt: skip
    except MbkitError:
        raise
    except ValueError as error:
        raise UsageError(f"sensitivity: samples = {count}: {error}") from error
    sure = found.bootstrap()
    rows = []
    shape = len(varied.outputs), len(varied.vary)
    parts = {
        "first": found.first_order, "first_low": sure.first_order.confidence_interval.low,
        "first_high": sure.first_order.confidence_interval.high, "total": found.total_order,
        "total_low": sure.total_order.confidence_interval.low,
        "total_high": sure.total_order.confidence_interval.high,
    }  # fmt: skip
    arrays = {key: np.reshape(values, shape) for key, values in parts.items()}
    for k, name in enumerate(varied.vary):
        for s, output in enumerate(varied.outputs):
            numbers = {key: float(values[s, k]) for key, values in arrays.items()}
            rows.append({"number": name, "output": output, **numbers})
    cases = Table(all_rows, last[0][0].units, last[0][0].factors)
    return Table(rows, {}, ("number", "output")), cases, last[-1][1]


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be an integer from {least} on, got {value!r}.")


def _cases(
    kind: str,
    varied: Varied,
    points: Sequence[Mapping[str, float]],
    directory: Any,
    *,
    seed: int,
    **how: Any,
) -> tuple[Table, dict[str, Any]]:
    """Return a row for each point; those that a directory has are not run again."""
    setting = {
        **varied.setting,
        "seed": seed,
        "functions": {name: fingerprint(each) for name, each in varied.outputs.items()},
    }
    keys = [digest([kind, setting, dict(point)]) for point in points]
    units = {**dict.fromkeys(varied.vary, ""), "status": "", **dict.fromkeys(varied.outputs, "")}
    about = {
        "kind": kind, "setting": setting, "factors": dict.fromkeys(varied.vary, ""),
        "cases": keys, "units": units, "mechanism": varied.system.name,
    }  # fmt: skip
    place = None if directory is None else StudyDirectory(directory)
    if place is not None:
        place.open(about)
        place.write("model.toml", varied.system.model_text)
    tasks = dict(zip(keys, points, strict=True))
    done = dict(zip(tasks, run_tasks(varied.row, tasks, place, lost=dict, **how), strict=True))
    return Table([done[key] for key in keys], units, tuple(varied.vary)), about


def _found(
    kind: str, tables: Mapping[str, Table], cases: Table, about: dict[str, Any], directory: Any
) -> Findings:
    found = Findings(kind, {**tables, "cases": cases}, about)
    if directory is None:
        return found
    found = attrs.evolve(found, directory=pathlib.Path(directory))
    return kept(found, directory)
