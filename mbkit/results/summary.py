"""Summaries of runs: texts by label."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import listed
from mbkit.results.facts import Facts

if TYPE_CHECKING:
    from mbkit.results.ensemble import Ensemble
    from mbkit.results.result import Result

__all__ = ["balance", "balance_text", "ensemble_facts", "result_facts"]

#: Instants, of all runs, up to which energies are looked at: those of long runs are in files.
MOST = 5_000_000

_EPSILON = 2.3e-16  # rounding of a number, in parts of it

_SHOWN = 5  # runs of an ensemble that are listed


def balance(run: Result | Ensemble) -> tuple[float, float]:
    """Return the largest error of the energy balance [J], and as a part of the peak kinetic.

    Not numbers where energies were not saved; the part is infinite where nothing moves: where the
    peak kinetic energy is below the rounding of the sum of energies.

    Examples
    --------
    >>> import mbkit as mb
    >>> empty = {"body_names": ("world",), "joint_names": (), "position_names": (),
    ...          "velocity_names": (), "q": np.zeros((2, 0)), "v": np.zeros((2, 0))}
    >>> balance(mb.Result(t=[0, 1], kinetic_energy=[2, 1], potential_energy=[0, 0.5], **empty))
    (0.5, 0.25)
    """
    kinetic = run.kinetic_energy
    peak = np.where(np.isnan(kinetic), -math.inf, kinetic).max(initial=-math.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        energy = kinetic + run.potential_energy + run.dissipated_energy - run.supplied_energy
        missing = np.abs(energy - energy[..., :1])
    if np.isnan(missing).all():
        return math.nan, math.nan
    worst = float(np.nanmax(missing))
    terms = (kinetic, run.potential_energy, run.dissipated_energy, run.supplied_energy)
    rounding = _EPSILON * max(float(np.nan_to_num(np.abs(each)).max()) for each in terms)
    return worst, worst / float(peak) if peak > rounding else math.inf


def balance_text(run: Result | Ensemble) -> str:
    """Return the error of the energy balance in words; "" without energies, or with too many."""
    if run.t.size > MOST:
        return ""
    worst, part = balance(run)
    if math.isnan(worst):
        return ""
    is_forced = bool(
        np.nan_to_num(run.dissipated_energy).any() | np.nan_to_num(run.supplied_energy).any()
    )
    what = "balance off by" if is_forced else "change by"
    share = f", {part:.1e} of the peak kinetic energy" if math.isfinite(part) else ""
    return f"{what} at most {worst:.3g} J{share}"


def result_facts(run: Result) -> tuple[str, Facts]:
    """Return the head, and texts on a run by label."""
    end = "completed" if run.completed else "not completed"
    nq, nv = len(run.position_names), len(run.velocity_names)
    span = f"{run.t.size} instants from {run.t[0]:g} s to {run.t[-1]:g} s"
    head = f"Result: {span}, nq = {nq}, nv = {nv}, {end}"
    facts = [("from", _origin(run.options.get("notes")))]
    facts += [*_method(run.options), ("work", _work(run.options, run.options.get("counts")))]
    facts.append(("energies", balance_text(run)))
    happened = collections.Counter(run.events.names)
    facts.append(("events", ", ".join(f"{name} {count}" for name, count in happened.items())))
    facts.append(("outputs", listed(run.outputs, str)))
    if not run.completed or happened:
        facts.append(("ended", run.message))
    return head, [*facts, *(("warning", text) for text in run.warnings)]


def _origin(notes: Any) -> str:
    """Return the study of a run and its commit, where the notes have them."""
    if not isinstance(notes, Mapping) or "study" not in notes:
        return ""
    commit = f", commit {str(notes['commit'])[:10]}" if "commit" in notes else ""
    changed = " with uncommitted changes" if notes.get("uncommitted_changes") else ""
    return f"study {notes['study']}{commit}{changed}"


def ensemble_facts(runs: Ensemble) -> tuple[str, Facts]:
    """Return the head, and texts on all runs by label."""
    size = len(runs)
    axes = " x ".join(map(str, runs.shape)) if len(runs.shape) > 1 else size
    found = runs.warnings
    counts = {
        "completed": int(runs.completed.sum()), "failed": int(runs.failed.sum()),
        "interrupted": size - int((runs.completed | runs.failed).sum()),
        "with warnings": len(found),
    }  # fmt: skip
    ends = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    nq, nv = runs.q.shape[-1], runs.v.shape[-1]
    first, last = (f(runs.t) if runs.lengths.any() else math.nan for f in (np.nanmin, np.nanmax))
    head = (
        f"Ensemble: {axes} runs, {runs.t.shape[-1]} instants from {first:g} s to {last:g} s, "
        f"nq = {nq}, nv = {nv}, {ends}"
    )
    totals = {"steps_taken": runs.steps_taken.sum(), "wall_time": runs.wall_times.sum()}
    counted = {name: each.sum() for name, each in runs.counts.items()}
    facts = [*_method(runs.options), ("work", _work(totals, counted))]
    facts.append(("energies", balance_text(runs)))
    facts.append(("parameters", listed(runs.parameters, str)))
    facts.append(("outputs", listed(runs.outputs, str)))
    facts += _first("failed", {k: [text] for k, text in runs.failures.items()})
    return head, [*facts, *_first("warning", found)]


def _method(options: Mapping[str, Any]) -> Facts:
    h = options.get("h")
    steps = "adaptive steps of at most" if options.get("adaptive") else "h ="
    step = f", {steps} {h:g} s" if isinstance(h, float) else ""
    integrator = options.get("integrator", "")
    return [("integrator", f"{integrator}{step}" if integrator else "")]


def _work(options: Mapping[str, Any], counts: Any) -> str:
    """Return the numbers of steps and evaluations, as far as it is known."""
    said = [f"{options['steps_taken']} steps"] if "steps_taken" in options else []
    if isinstance(counts, Mapping):
        said += [f"{count} {str(name).replace('_', ' ')}" for name, count in counts.items()]
    wall_time = options.get("wall_time")
    return ", ".join(said) + (f", in {wall_time:.3g} s" if isinstance(wall_time, float) else "")


def _first(label: str, texts: Mapping[tuple[int, ...], Iterable[str]]) -> Facts:
    """Return the texts on the first samples."""
    facts = [(label, f"sample {place}: {' '.join(each)}") for place, each in texts.items()]
    more = [(label, f"and {len(facts) - _SHOWN} more")] if len(facts) > _SHOWN else []
    return [*facts[:_SHOWN], *more]
