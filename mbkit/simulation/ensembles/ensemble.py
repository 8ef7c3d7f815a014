"""The runs of an ensemble: all of them checked, then taken by threads or one after the other."""

from __future__ import annotations

import warnings
from typing import Any

import attrs

from mbkit.errors import EnergyBalanceWarning, UsageError, several
from mbkit.results import Ensemble
from mbkit.simulation.ensembles.adaptive_in_lanes import AdaptiveGroup
from mbkit.simulation.ensembles.finishing import finish
from mbkit.simulation.ensembles.gathering import Gathered
from mbkit.simulation.ensembles.in_lanes import Group, Start, lanes_of
from mbkit.simulation.ensembles.in_threads import (
    Block,
    Plan,
    Worker,
    block_size,
    runs_alone,
    take_runs,
)
from mbkit.simulation.ensembles.members import Members, of_sample
from mbkit.simulation.ensembles.starts import Starts
from mbkit.simulation.in_memory import run_in_memory
from mbkit.simulation.monitors.findings import UNKNOWN
from mbkit.simulation.outputs.by_name import Output, check_at_start
from mbkit.simulation.preparation import Prepared, prepare
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.run_origin import Origin
from mbkit.simulation.start import check_kept_whole, number_of_steps

__all__ = ["check_in_memory", "fixed", "run_ensemble"]


@attrs.frozen(eq=False)
class Common:
    """What all runs of an ensemble share."""

    members: Members  # what each is given
    arguments: dict[str, Any]  # of `prepare`, but for system, q, v and tau
    outputs: tuple[Output, ...]  # what each records besides

    def prepared(self, number: int, *, alone: bool = False) -> Prepared:
        """Return one run before its first step; `alone`: one that saves all steps."""
        system, arguments = self.members.system_of(number), self.arguments
        if alone:
            arguments = {**arguments, "save_every": 1, "save_at": None}
        run = prepare(system, **arguments, **self.members.given(number))
        return attrs.evolve(run, outputs=self.outputs)

    def origin(self, number: int) -> tuple[str, Any]:
        """Return the text of the model of a run, and where it came from."""
        system = self.members.system_of(number)
        given = {**self.arguments, **self.members.given(number), "system": system}
        for name in ("forces", "constraint_solver"):
            del given[name]
        return system.model_text, Origin(given, (given["q"], given["v"]))


def check_in_memory(output: Any, save: Any, dtype: Any) -> None:
    """Raise UsageError where an ensemble is asked for what a directory of one run has."""
    if output is not None:
        raise UsageError(
            f"output={output!r} is a directory for one run, and this is an ensemble; leave it out, "
            f"or simulate each run by itself."
        )
    check_kept_whole(save, dtype)


def fixed(common: dict[str, Any], integrator: Any, t_span: Any, h: Any) -> dict[str, Any]:
    """Return arguments of `prepare` that can be given to it again and again."""
    t_span, h, _ = number_of_steps(t_span, h)
    events = common["events"]
    events = tuple(events) if several(events) else events
    return {
        **common, "events": events, "integrator": integrator, "t_span": t_span, "h": h,
        "forces": (), "constraint_solver": None,
    }  # fmt: skip


def run_ensemble(
    members: Members,
    arguments: dict[str, Any],
    notes: dict[str, Any],
    outputs: tuple[Output, ...],
    *,
    progress: bool,
) -> Ensemble:
    """Take all runs, by the arguments of `prepare` besides system, q, v and tau.

    `notes` are what options say besides. What a run is given and is refused is raised before the
    first step of any.
    """
    common = Common(members, arguments, outputs)
    first, told, starts = _checked(common)
    gathered = Gathered(members, first.course.num_rows(first.steps), check_at_start(first))
    gathered.told += told
    with ProgressDisplay(0, members.count, enabled=progress, counted="runs") as display:
        if runs_alone(first):
            _in_threads(common, first, starts, gathered, display)
        else:
            _one_by_one(common, gathered, display)
    members.forget()
    ensemble = gathered.ensemble({**first.options, **notes}, common.origin)
    gathered.tell(ensemble)
    return ensemble


def _checked(common: Common) -> tuple[Prepared, list[tuple[int, Any]], Starts]:
    """Return the first run, what was warned of, and all starts: what all are given is looked at.

    An error names the sample that is refused, unless the last one is refused for the same.
    """
    members = common.members
    told: list[tuple[int, Any]] = []
    starts = Starts(members)

    def look(number: int) -> Prepared:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            run = common.prepared(number)
        told.extend((number, each.message) for each in found)
        starts.put(number, run)
        return run

    try:
        first = look(0)
    except Exception as error:
        try:
            look(members.count - 1)
        except Exception as other:
            if members.count > 1 and str(other) == str(error):
                raise error from None
        raise of_sample(error, members.place(0)) from error.__cause__
    if not starts.like(first, members, told):
        for number in range(1, members.count):
            try:
                look(number)
            except Exception as error:
                raise of_sample(error, members.place(number)) from error.__cause__
    return first, told, starts


def _in_threads(
    common: Common, first: Prepared, starts: Starts, gathered: Gathered, display: ProgressDisplay
) -> None:
    """Take the runs by compiled loops, block by block; Ctrl-C leaves out what follows."""
    members, plan = common.members, Plan.of(first)
    tau = members.vectors.get("tau")
    lanes = lanes_of(first, members, models_fit=starts.models_fit)

    def begun(number: int, worker: Worker | None) -> Worker:
        if worker is None or (members.parameters and not members.are_alike):
            worker = Worker(common.prepared(number, alone=True), plan, gathered)
        elif members.parameters:
            worker.exchange(members.system_of(number))
        (q,), (v,) = starts.rows(number, number + 1)
        worker.begin(starts.given(number), q, v, None if tau is None else tau[number])
        return worker

    def group() -> Group | AdaptiveGroup:
        def begins(first: int, last: int) -> Start:
            own = range(first, last) if members.parameters else ()
            models = [members.system_of(number).arrays for number in own]
            return Start(
                *starts.rows(first, last), None if tau is None else tau[first:last], models
            )

        assert lanes is not None
        made = AdaptiveGroup if lanes.adaptive else Group
        return made(lanes, first, gathered, begins)

    def run_of(number: int) -> Prepared:
        run = attrs.evolve(first, start=starts.given(number), system=members.system_of(number))
        if tau is not None:
            run.workspace.tau[:] = tau[number]
        return run

    size, m = block_size(first, plan), first.problem.multipliers.size
    for begin in range(0, members.count, size):
        block = Block(begin, min(begin + size, members.count), gathered, plan, m)
        # What a preparation warns of was told by the first one. Filters are those of the process:
        # threads that set and restore them by turns may leave them set.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if lanes is None:
                    take_runs(block, begun, display)
                else:
                    take_runs(block, begun, display, group, lanes.drawn)
            except KeyboardInterrupt:
                gathered.interrupted = True
        finish(block, plan, gathered, run_of)
        if gathered.interrupted:
            return


def _one_by_one(common: Common, gathered: Gathered, display: ProgressDisplay) -> None:
    """Take the runs one after the other; Ctrl-C ends one, and leaves out those that follow."""
    for number in range(common.members.count):
        result: Any = None
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("ignore")  # told of before
            try:
                run = common.prepared(number)
                warnings.simplefilter("always")
                result = run_in_memory(run, progress=False)
            except KeyboardInterrupt:
                return
            except Exception as error:
                gathered.fail(number, error)
                result = getattr(error, "result", None)
        gathered.told += [(number, each.message) for each in told]
        if number in gathered.errors and result is not None:  # whose error was raised before them
            said = (UNKNOWN, *(str(each.message) for each in told))
            gathered.told += [
                (number, EnergyBalanceWarning(each)) for each in result.warnings if each not in said
            ]
        if result is not None:
            gathered.put(number, result)
            if number not in gathered.errors and not result.completed:
                return
        display.update(number + 1.0)
