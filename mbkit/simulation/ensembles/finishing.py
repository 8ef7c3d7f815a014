"""Energies, constraints and warnings of runs whose steps are taken, for many runs at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.errors import EnergyBalanceWarning
from mbkit.integrators.integrator import Rows
from mbkit.results.balance import PART, ROUNDED
from mbkit.simulation.ensembles.gathering import Gathered
from mbkit.simulation.ensembles.in_threads import Block, Plan
from mbkit.simulation.in_memory import balance_finding
from mbkit.simulation.monitors.large_steps import LargeSteps
from mbkit.simulation.monitors.limit_monitors import OfLimits
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.simulation.monitors.near_singularities import Lookout
from mbkit.simulation.monitors.open_loops import OpenLoops
from mbkit.simulation.monitors.searched_joints import SearchedJoints
from mbkit.simulation.monitors.singular_start import SingularStart, may_be_singular
from mbkit.simulation.outputs.by_name import evaluated
from mbkit.simulation.outputs.energies import energies
from mbkit.simulation.outputs.multipliers import (
    constraints_of,
    efforts_of,
    multipliers_and_residuals,
)
from mbkit.simulation.preparation import Prepared

__all__ = ["finish"]

#: Of what the energy balance may miss, from where on it is looked at closely.
CLOSE = 0.5

#: Rows, of several runs, whose energies are looked at together: some MB, which stay in the cache.
AT_ONCE = 20_000

#: The run of a number, with the state and the forces at its start.
RunOf = Callable[[int], Prepared]


def finish(block: Block, plan: Plan, gathered: Gathered, run_of: RunOf) -> None:
    """Fill in what follows from the states of the runs of a block, of some runs at once."""
    lengths = gathered.lengths[block.first : block.last]
    there = np.flatnonzero(lengths)  # those that were started
    for length in np.unique(lengths[there]):  # the rest is sound too: arrays are taken whole
        places = np.flatnonzero(lengths == length)
        for part in block.rows:
            part[places, length:] = part[places, :1]
    size = max(1, AT_ONCE // (plan.num_rows + plan.sampled.size))
    for first in range(0, there.size, size):
        _finish(block, there[first : first + size], plan, gathered, run_of)


def _finish(block: Block, there: Any, plan: Plan, gathered: Gathered, run_of: RunOf) -> None:
    numbers = block.first + there
    rows = Rows(*(_chosen(part, there) for part in block.rows))
    samples = Rows(*(part[:, :0] for part in rows))
    if plan.sampled.size:
        samples = _samples(block, plan, there, gathered, run_of)
    energy, further = (_terms(each, numbers, gathered, run_of) for each in (rows, samples))
    names = ("kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy")
    for name, each in zip(names, energy, strict=True):
        gathered.rows[name][numbers] = each
    _put_constraints(rows, numbers, gathered, run_of)
    _put_outputs(rows, numbers, gathered, run_of)
    _look(rows, numbers, gathered, run_of)
    for k in np.flatnonzero(_may_miss(energy, further)):
        own = energy[:, k, : gathered.lengths[numbers[k]]], further[:, k]
        _note_balance(int(numbers[k]), rows.t[k], own, plan, gathered, run_of)


def _chosen(part: Any, there: Any) -> Any:
    """Return some entries of an array, which follow each other but after Ctrl-C: then no copy."""
    first, last = int(there[0]), int(there[-1]) + 1
    return part[first:last] if last - first == there.size else part[there]


def _terms(rows: Rows, numbers: Any, gathered: Gathered, run_of: RunOf) -> Any:
    """Return the terms of the energy balance (4, runs, rows): energies, and what forces took."""
    of_states = _energies(rows, numbers, gathered, run_of) if rows.t.size else (rows.t, rows.t)
    return np.stack([*of_states, rows.work[..., 0], rows.work[..., 1]])


def _energies(rows: Any, numbers: Any, gathered: Gathered, run_of: RunOf) -> tuple[Any, Any]:
    """Return kinetic and potential energy of all rows (runs, rows), and note what fails."""
    shape = rows.t.shape
    if not gathered.members.parameters:
        flat = Rows(*(part.reshape(rows.t.size, *part.shape[2:]) for part in rows))
        kinetic, potential, error = energies(gathered.members.system, flat)
        if isinstance(error, KeyboardInterrupt):
            gathered.interrupted = True
        if error is None or isinstance(error, KeyboardInterrupt):
            return kinetic.reshape(shape), potential.reshape(shape)
    found = np.empty((2, *shape))
    for k, number in enumerate(numbers.tolist()):
        own = Rows(*(part[k] for part in rows))
        found[0, k], found[1, k], error = energies(run_of(number).system, own)
        _note(number, error, gathered)
    return found[0], found[1]


def _note(number: int, error: BaseException | None, gathered: Gathered) -> None:
    """Note what went wrong with a run, unless something did before."""
    if error is None or number in gathered.errors:
        return
    gathered.fail(number, error)
    gathered.completed[number] = False


def _put_constraints(rows: Rows, numbers: Any, gathered: Gathered, run_of: RunOf) -> None:
    """Put multipliers and residuals of the constraints in their places."""
    if gathered.members.system.num_velocity_constraints == 0:
        gathered.rows["residuals"][numbers] = 0.0
        return
    if not gathered.members.parameters and _put_at_once(rows, numbers, gathered, run_of):
        return
    for k, number in enumerate(numbers.tolist()):
        own = slice(0, int(gathered.lengths[number]))
        find = constraints_of(run_of(number))
        assert find is not None
        multipliers, residuals, error = find(Rows(*(part[k, own] for part in rows)))
        gathered.rows["multipliers"][number, own] = multipliers
        gathered.rows["residuals"][number, own] = residuals
        _note(number, error, gathered)


def _put_at_once(rows: Rows, numbers: Any, gathered: Gathered, run_of: RunOf) -> bool:
    """Put those of runs of one system in their places together; False where something fails."""
    lengths = gathered.lengths[numbers].tolist()
    of_runs = [Rows(*(part[k, :count] for part in rows)) for k, count in enumerate(lengths)]
    runs = numbers.tolist()
    tau = [efforts_of(run_of(number), own) for number, own in zip(runs, of_runs, strict=True)]
    flat = Rows(*(np.concatenate(parts) for parts in zip(*of_runs, strict=True)))
    *found, error = multipliers_and_residuals(run_of(runs[0]), flat, np.concatenate(tau))
    if isinstance(error, KeyboardInterrupt):
        gathered.interrupted = True
    if error is not None:
        return False
    ends = np.cumsum(lengths)[:-1]
    for name, values in zip(("multipliers", "residuals"), found, strict=True):
        for number, own in zip(runs, np.split(values, ends), strict=True):
            gathered.rows[name][number, : len(own)] = own
    return True


def _put_outputs(rows: Rows, numbers: Any, gathered: Gathered, run_of: RunOf) -> None:
    """Put the outputs of the runs in their places."""
    for k, number in enumerate(numbers.tolist() if gathered.outputs else ()):
        own = slice(0, int(gathered.lengths[number]))
        gathered.put_outputs(number, *evaluated(run_of(number), Rows(*(x[k, own] for x in rows))))


def _look(rows: Rows, numbers: Any, gathered: Gathered, run_of: RunOf) -> None:
    """Look for singular joints, large steps, limits and loops, where there are such."""
    run = run_of(int(numbers[0]))
    method, h = run.integrator, run.problem.h
    alike = method.local_steps and not method.adaptive
    limits = OfLimits.of(run.system, run.course.events)
    may_be_large = alike and LargeSteps(run.system, h).watches
    constrained = run.system.num_velocity_constraints > 0
    if not (Lookout(run.system).watches or limits.watch or may_be_large or constrained):
        return
    singular = _may_be_singular(rows, numbers, gathered, run_of) if constrained else None
    for k, number in enumerate(numbers.tolist()):
        own = Rows(*(part[k, : int(gathered.lengths[number])] for part in rows))
        run = run_of(number)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            Lookout(run.system).look(own.t, own.q)
            if alike:
                LargeSteps(run.system, h).look(own.t, own.v)
            limits = OfLimits.of(run.system, run.course.events)
            limits.efforts.hear(run.problem.t0, run.workspace.tau)
            monitors = (*limits, *_of_loops(run, singular is not None and bool(singular[k])))
            for monitor in monitors:
                monitor.look(own, own.t[-1], own.q[-1])
                monitor.tell()
        if found := tuple(each.finding for each in monitors if each.finding):
            gathered.warnings[number] = (*gathered.warnings.get(number, ()), *found)
        gathered.told += [(number, each.message) for each in told]


def _may_be_singular(rows: Rows, numbers: Any, gathered: Gathered, run_of: RunOf) -> Any:
    """Return of which runs (k,) the start may be singular: not looked at where systems differ."""
    if gathered.members.parameters:
        return np.ones(numbers.size, dtype=bool)
    runs = [run_of(number) for number in numbers.tolist()]
    q = np.array([run.start[0] for run in runs if run.start is not None])
    t = np.full(numbers.size, runs[0].problem.t0)
    last = np.arange(numbers.size), gathered.lengths[numbers] - 1
    return may_be_singular(runs[0].system, (t, q), (rows.t[last], rows.q[last]))


def _of_loops(run: Prepared, may_be_singular: bool) -> tuple[Monitor, ...]:
    """Return what looks at the loops of a run, from its start on."""
    if not run.system.num_velocity_constraints or run.start is None:
        return ()
    loops, searched = OpenLoops.of(run.system, run.integrator), SearchedJoints.of(run.system)
    monitors: tuple[Monitor, ...] = tuple(each for each in (loops, searched) if each)
    if may_be_singular:
        monitors += (SingularStart.at(run.system, run.problem.t0, run.start[0]),)
    return monitors


def _samples(block: Block, plan: Plan, there: Any, gathered: Gathered, run_of: RunOf) -> Rows:
    """Return the states (runs, samples, ...) that are looked at besides, without multipliers."""
    q, v, work = (_chosen(part, there) for part in block.samples)
    numbers = block.first + there
    problem = run_of(int(numbers[0])).problem
    times = problem.t0 + plan.sampled * problem.h
    t = np.broadcast_to(times, (there.size, times.size)).copy()
    for k in np.flatnonzero(gathered.steps[numbers] < plan.steps):  # of views or copies
        late = plan.sampled > gathered.steps[numbers[k]]
        for part in (q, v, work):
            part[k, late] = part[k, 0]
    return Rows(t, q, v, work, work[..., :0])


def _may_miss(energy: Any, further: Any) -> Any:
    """Return which runs (runs,) have an energy balance that a close look may find fault with.

    As `EnergyWatch`, at once for all of them, and with more suspicion.
    """
    every = np.concatenate([further, energy], axis=2)  # the first of them is the initial state
    with np.errstate(over="ignore", invalid="ignore"):
        changes = every - every[:, :, :1]
        gap = np.abs(changes[0] + changes[1] + changes[2] - changes[3]).max(axis=1)
        moved = np.maximum(every[0].max(axis=1), np.abs(changes[1:]).max(axis=(0, 2)))
        allowed = np.maximum(PART * moved, ROUNDED * np.abs(every[1]).max(axis=1))
        return ~(gap <= CLOSE * allowed)


def _note_balance(
    number: int, t: Any, own: tuple[Any, Any], plan: Plan, gathered: Gathered, run_of: RunOf
) -> None:
    """Look at the energy balance of a run, of its rows and of the samples."""
    run, (energy, further) = run_of(number), own
    seen = plan.sampled[: further.shape[1]] <= gathered.steps[number]
    times = run.problem.t0 + plan.sampled[: further.shape[1]] * run.problem.h
    samples = np.concatenate([times[None], further])[:, seen]
    text = balance_finding(run, (t[: energy.shape[1]], *energy), samples, run.options)
    if not text:
        return
    gathered.warnings[number] = (*gathered.warnings.get(number, ()), text)
    gathered.told.append((number, EnergyBalanceWarning(text)))
