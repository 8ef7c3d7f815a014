"""The function that runs a simulation."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.events import Event
from mbkit.forces import Force
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.integrators.integrator import Rows
from mbkit.results import EventLog, Result
from mbkit.results.balance import EnergyWatch, in_order
from mbkit.simulation.energies import energies
from mbkit.simulation.long_runs.long_run import begin
from mbkit.simulation.momenta import check_run, with_velocities
from mbkit.simulation.monitors.findings import UNKNOWN, balance_is_known, least_energy, tell
from mbkit.simulation.multipliers import constraints_of
from mbkit.simulation.origin import Origin
from mbkit.simulation.preparation import (
    GeneralizedForces,
    Prepared,
    checked_parts,
    prepare,
    versions,
)
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.stabilisation import PROJECTION, Stabilisation
from mbkit.simulation.start import SAVED, check_kept_whole, checked_notes, empty_rows
from mbkit.simulation.stepping.chunks import run_chunks
from mbkit.simulation.stepping.course import event_columns
from mbkit.simulation.stepping.endings import INTERRUPTED, TERMINAL
from mbkit.simulation.stepping.failed_step import explain
from mbkit.solvers import ConstraintSolver
from mbkit.systems import MomentumForm, System

__all__ = ["simulate"]


def simulate(
    system: System | MomentumForm,
    t_span: tuple[float, float],
    h: float,
    *,
    integrator: Integrator | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: GeneralizedForces | None = None,
    forces: Iterable[Force] = (),
    events: Iterable[Event] = (),
    save_every: int = 1,
    save_at: ArrayLike | None = None,
    stabilisation: Stabilisation = PROJECTION,
    constraint_solver: ConstraintSolver | None = None,
    output: str | os.PathLike[str] | None = None,
    save: Sequence[str] = SAVED,
    dtype: str = "float64",
    progress: bool = True,
    notes: Mapping[str, Any] | None = None,
) -> Result:
    """Integrate the equations of motion of a system, in steps of one size or by a tolerance.

    Parameters
    ----------
    system : System or MomentumForm
        What moves; with a `MomentumForm` in momenta.
    t_span : tuple of two floats
        Start and end. [s]
    h : float
        Step; the span must be a whole number of steps. [s]
    integrator : Integrator, optional
        `RungeKuttaMuntheKaas` of order 4 if left out.
    q : array_like, shape (nq,), optional
        Configuration at the start; the reference configuration if left out.
    v : array_like, shape (nv,), optional
        Velocity at the start; zero if left out.
    tau : array_like, shape (nv,), or callable, optional
        Generalized forces, constant or as ``tau(t, q, v)``; zero if left out. They are added to the
        forces of the system. [N m], [N]
    forces : iterable of Force, optional
        Further forces, for this run; see `System.with_forces`.
    events : iterable of Event, optional
        What is looked for on the way, and what it does; the result's ``events`` say what happened.
    save_every : int
        Steps between saved states; the first and the last state are always saved.
    save_at : array_like, shape (k,), optional
        Times of the saved states, increasing, in any distance; instead of `save_every`. The state
        at a time between two steps is that of a step of the integrator to it: as exact as those at
        their ends, for the price of one step. [s]
    stabilisation : Projection, Baumgarte or None
        How the loops of a closed mechanism are kept closed: by `Projection` after each step if left
        out. With None they drift open. To be left out for an integrator that keeps them closed
        itself.
    constraint_solver : ConstraintSolver, optional
        How the multipliers of constraints are found; that of the system if left out. The result's
        ``options["constraint_solver"]`` say which it was.
    output : str or path, optional
        A new directory, to which the run is written while it goes, for `resume` to continue it
        whatever happens; see docs/long-runs.md. Memory then stays flat: the arrays of the result
        stay in the file ``result.nc`` of the directory, and are read where they are looked at.
    save : sequence of str
        What is written to `output`: any of "q", "v", "energies" and "constraints", the multipliers
        and residuals of constraints; all of them if left out. What is not is not a number in the
        result.
    dtype : {"float64", "float32"}
        Of positions and velocities written to `output`; it is computed in float64 all the same.
    progress : bool
        Whether to show progress on the standard error stream, from two seconds on.
    notes : mapping, optional
        What the result shall say of itself, in ``options["notes"]``: texts, numbers, lists and
        mappings of them.

    Returns
    -------
    Result
        States, energies, and all that is needed to know where they came from. After Ctrl-C it holds
        what was computed, and ``completed`` is false.

    Raises
    ------
    UsageError
        If the span, the step or `save_every` is impossible, or `output` is used already.
    ResultFileError
        If `output` cannot be written to, or its disk has no room, before the run or during it; the
        message says what was kept.
    EventError
        If events follow each other without end.
    ConstraintError
        If the initial state leaves loops open, or they cannot be closed after a step.
    ConvergenceError
        If an implicit integrator could not solve the equations of a step.
    NotFiniteError
        If a value became infinite or not a number. The message has time, step and joint; the
        exception's ``result`` holds what was computed. So does any exception that a joint or a
        force raises.

    Warns
    -----
    EnergyBalanceWarning
        After the run, if its balance of energies misses more than a hundredth of the largest energy
        that moved; see docs/integrators.md. It stands in the result's ``warnings``.
    JumpWarning
        Once, if a prescribed motion jumps, or is faster than the steps follow; likewise.
    LockedMechanismWarning
        If the constraints leave no motion at the start; it names the loops that hold the mechanism,
        and stands in the result's ``warnings``.
    RedundantConstraintsWarning
        Once a system, if some of its constraints depend on others; see `System.diagnose`.
    LargeStepWarning
        Once, if a body in absolute coordinates turns by more than half of the range of its local
        coordinates in a step.
    SingularityWarning
        Once a joint, if it comes near a singular configuration; see docs/joints.md.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    >>> ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> run = mb.simulate(mech.assemble(), t_span=(0.0, 1.0), h=0.1)
    >>> round(float(run.q[-1, 0]), 9)
    -4.905
    """
    integrator = RungeKuttaMuntheKaas() if integrator is None else integrator
    in_momenta = isinstance(system, MomentumForm)
    if isinstance(system, MomentumForm):
        check_run(system, integrator, output)
        system = system.system
    integrator = checked_parts(system, integrator)
    run = prepare(
        system, integrator, t_span, h, q=q, v=v, tau=tau, forces=forces, events=events,
        save_every=save_every, save_at=save_at, stabilisation=stabilisation,
        constraint_solver=constraint_solver, in_momenta=in_momenta,
    )  # fmt: skip
    if in_momenta:
        run.options["form"] = "momentum"
    if notes is not None:
        run.options["notes"] = checked_notes(notes)
    if output is not None:
        return begin(run, output, save=save, dtype=dtype, progress=progress)
    check_kept_whole(save, dtype)
    return _in_memory(run, progress=progress)


def _in_memory(run: Prepared, *, progress: bool) -> Result:
    """Take all steps; return the result, or raise what has stopped them, with it."""
    problem, course = run.problem, run.course
    m = problem.multipliers.size
    rows = empty_rows(course.num_rows(run.steps), problem.nq, problem.nv, m)
    written = len(course.start_times)
    rows.t[:written], rows.work[:written] = course.start_times, 0.0
    rows.q[:written], rows.v[:written] = problem.q, problem.v
    rows.multipliers[:written] = np.nan
    began = time.perf_counter()
    with ProgressDisplay(*run.options["t_span"], enabled=progress) as display:
        taken, written, state = run_chunks(problem, course, run.steps, rows, written, display)
    wall_time = time.perf_counter() - began
    error: BaseException | None = None
    if state == INTERRUPTED:
        error = KeyboardInterrupt()
    elif state not in (0, TERMINAL):
        error = explain(run, state, taken)
    t = problem.t0 + taken * problem.h
    is_cut = state not in (0, TERMINAL) and (written == 0 or rows.t[written - 1] < t)
    if is_cut or (state != TERMINAL and course.saves_end(taken)):
        rows.t[written], rows.q[written], rows.v[written] = t, problem.q, problem.v
        rows.work[written], rows.multipliers[written] = problem.work, problem.multipliers
        written += 1
    options = {**run.options, "steps_taken": taken, "wall_time": wall_time}
    options["counts"] = problem.counted()
    result, error = _result(run, Rows(*(part[:written] for part in rows)), error, options)
    tell(result, error, run.course.findings)
    if error is None or isinstance(error, KeyboardInterrupt):
        return result
    error.result = result  # type: ignore[attr-defined]
    error.add_note("What was computed until then is in this exception's attribute 'result'.")
    raise error


def _result(
    run: Prepared, rows: Rows, error: BaseException | None, options: dict[str, Any]
) -> tuple[Result, BaseException | None]:
    """Return the result, and the first thing that went wrong: energies may fail as well."""
    system, course = run.system, run.course
    rows = with_velocities(run.momenta, rows)
    t, q, v, work, _ = rows
    dissipated, supplied = work.T.copy()
    kinetic, potential, failed = energies(system, rows)
    error = failed if error is None else error
    find = constraints_of(run)
    closed = {}
    if find is not None:
        closed["multipliers"], closed["residuals"], failed = find(rows)
        error = failed if error is None else error
    found = _found(run, (t, kinetic, potential, dissipated, supplied), options)
    for array in (t, q, v, kinetic, potential, dissipated, supplied, *closed.values()):
        array.setflags(write=False)  # or the result would copy them
    if error is None and course.ended is not None:
        message = course.how_ended
    elif error is None:
        message = f"Completed: {options['steps_taken']} steps."
    elif isinstance(error, KeyboardInterrupt):
        message = f"Interrupted by the user after t = {t[-1]:.9g} s."
    else:
        message = f"{type(error).__name__}: {error}"
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
        constraint_names=system.constraint_names, origin=Origin.of(run), **closed,
    )  # fmt: skip
    return result, error


def _found(run: Prepared, energies_of_rows: tuple[Any, ...], options: dict[str, Any]) -> list[str]:
    """Return what may be wrong with the numbers."""
    found = list(run.course.findings)
    if not balance_is_known(run):
        return [*found, UNKNOWN]
    last = options["steps_taken"]
    samples = run.course.samples
    further = np.zeros((5, 0)) if samples is None else samples.energies(run.system, 0, last)
    assert run.start is not None
    rows = in_order(energies_of_rows, further)
    watch = EnergyWatch()
    watch.look(*rows)
    if watch.exceeds:  # forces are asked once more for that alone
        watch = EnergyWatch(least_energy(run.system, run.problem.t0, run.start[0]))
        watch.look(*rows)
    text = watch.finding(options)
    return [*found, text] if text else found
