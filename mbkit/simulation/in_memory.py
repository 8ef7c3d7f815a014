"""Runs whose result stays in memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mbkit.integrators.integrator import Rows
from mbkit.results import EventLog, Result
from mbkit.results.balance import EnergyWatch, in_order
from mbkit.simulation.momenta import with_velocities
from mbkit.simulation.monitors.findings import UNKNOWN, balance_is_known, least_energy, tell
from mbkit.simulation.monitors.singular_start import BEGINS, SingularPosture
from mbkit.simulation.outputs.by_name import check_at_start, evaluated
from mbkit.simulation.outputs.energies import energies
from mbkit.simulation.outputs.multipliers import constraints_of
from mbkit.simulation.preparation import Prepared, versions
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.run_origin import Origin
from mbkit.simulation.start import empty_rows
from mbkit.simulation.stepping.chunks import INTERRUPTED, TERMINAL, run_chunks
from mbkit.simulation.stepping.course import event_columns
from mbkit.simulation.stepping.failed_step import explain

#: A note of exceptions that have ended a run.
IN_RESULT = "What was computed until then is in this exception's attribute 'result'."


def run_in_memory(run: Prepared, *, progress: bool) -> Result:
    """Take all steps; return the result, or raise the error that stopped them, with it."""
    check_at_start(run)
    problem, course = run.problem, run.course
    m = problem.multipliers.size
    rows = empty_rows(course.num_rows(run.steps), problem.nq, problem.nv, m)
    written = len(course.start_times)
    rows.t[:written], rows.work[:written] = course.start_times, 0.0
    rows.q[:written], rows.v[:written] = problem.q, problem.v
    rows.multipliers[:written] = np.nan
    began = time.perf_counter()
    with ProgressDisplay(*run.options["t_span"], enabled=progress) as display:
        taken, written, status = run_chunks(problem, course, run.steps, rows, written, display)
    wall_time = time.perf_counter() - began
    error: BaseException | None = None
    if status == INTERRUPTED:
        error = KeyboardInterrupt()
    elif status not in (0, TERMINAL):
        error = explain(run, status, taken)
    t = problem.t0 + taken * problem.h
    is_cut = status not in (0, TERMINAL) and (written == 0 or rows.t[written - 1] < t)
    if is_cut or (status != TERMINAL and course.saves_end(taken)):
        rows.t[written], rows.q[written], rows.v[written] = t, problem.q, problem.v
        rows.work[written], rows.multipliers[written] = problem.work, problem.multipliers
        written += 1
    options = {**run.options, "steps_taken": taken, "wall_time": wall_time}
    options["counts"] = problem.counted()
    saved = Rows(*(part[:written] for part in rows))
    result, error = _result(run, saved, error, options)
    tell(result, error, run.course.findings)
    if error is None or isinstance(error, KeyboardInterrupt):
        return result
    error.result = result  # type: ignore[attr-defined]
    error.add_note(IN_RESULT)
    raise error


def _result(
    run: Prepared,
    rows: Rows,
    error: BaseException | None,
    options: dict[str, Any],
) -> tuple[Result, BaseException | None]:
    """Return the result, and the first thing that went wrong: energies may fail as well."""
    system, course = run.system, run.course
    rows = with_velocities(run.momenta, rows)
    t, q, v, work, _ = rows
    dissipated, supplied = work.T.copy()
    kinetic, potential, failed = energies(system, rows)
    error = failed if error is None else error
    find = constraints_of(run)
    of_constraints = {}
    if find is not None:
        of_constraints["multipliers"], of_constraints["residuals"], failed = find(rows)
        error = failed if error is None else error
    values, failed = evaluated(run, rows)
    error = failed if error is None else error
    found = _found(run, (t, kinetic, potential, dissipated, supplied), options)
    for array in (t, q, v, kinetic, potential, dissipated, supplied, *of_constraints.values()):
        array.setflags(write=False)  # or the result would copy them
    message = course.message(error, options["steps_taken"], t[-1])
    names = tuple(event.name for event in course.events)
    happened = course.happened(0, options["steps_taken"])
    log = EventLog.from_columns(event_columns(happened, system.nq, system.nv), names)
    result = Result(
        t=t, q=q, v=v, kinetic_energy=kinetic, potential_energy=potential,
        dissipated_energy=dissipated, supplied_energy=supplied,
        body_names=system.body_names, joint_names=system.joint_names,
        position_names=system.position_names, velocity_names=system.velocity_names,
        position_units=system.position_units, model=system.model_text, options=options,
        versions=versions(), completed=error is None, message=message, warnings=found, events=log,
        constraint_names=system.constraint_names, origin=Origin.of(run), outputs=values,
        **of_constraints,
    )  # fmt: skip
    return result, error


def _found(run: Prepared, energies_of_rows: tuple[Any, ...], options: dict[str, Any]) -> list[str]:
    """Return warnings about the accuracy of the run."""
    found = list(run.course.findings)
    if not balance_is_known(run):
        return [*found, UNKNOWN]
    last = options["steps_taken"]
    samples = run.course.samples
    further = np.zeros((5, 0)) if samples is None else samples.energies(run.system, 0, last)
    text = balance_finding(run, energies_of_rows, further, options)
    return [*found, text] if text else found


def balance_finding(
    run: Prepared, energies_of_rows: tuple[Any, ...], further: Any, options: dict[str, Any]
) -> str:
    """Return the warning about the energy balance, of rows and of states besides; or ""."""
    assert run.start is not None
    rows = in_order(energies_of_rows, further)
    watch = EnergyWatch()
    watch.look(*rows)
    if watch.exceeds:  # forces are evaluated once more for that alone
        watch = EnergyWatch(least_energy(run.system, run.problem.t0, run.start[0]))
        watch.look(*rows)
    reason = ""
    if watch.exceeds:
        posture = SingularPosture.of(run.system, run.problem.t0, run.start[0])
        reason = "" if posture is None else f"{BEGINS}: {posture}"
    return watch.finding(options, run.course.findings, reason)
