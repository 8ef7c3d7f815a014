"""The runs of an ensemble: all of them checked, then taken by threads or one after the other."""

from __future__ import annotations

import warnings
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError, several
from mbkit.results import Ensemble
from mbkit.simulation.ensembles.adaptive_in_lanes import AdaptiveGroup
from mbkit.simulation.ensembles.finishing import finish
from mbkit.simulation.ensembles.gathering import Gathered
from mbkit.simulation.ensembles.in_lanes import Group, lanes_of
from mbkit.simulation.ensembles.in_threads import (
    Block,
    Plan,
    Worker,
    block_size,
    runs_alone,
    take_runs,
)
from mbkit.simulation.ensembles.members import Members, of_sample
from mbkit.simulation.in_memory import run_in_memory
from mbkit.simulation.outputs import Output, check_at_start
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
        return system.model_text, Origin(given)


class Starts:
    """The states at which the steps of runs begin, and those that were given for them."""

    def __init__(self, count: int) -> None:
        self._states: list[Any] = [None] * count
        self._alike: tuple[Any, Any] | None = None

    def put(self, number: int, run: Prepared) -> None:
        """Keep the start of a run that was prepared."""
        self._states[number] = run.start, run.problem.q.copy(), run.problem.v.copy()

    def like(self, first: Prepared, members: Members) -> bool:
        """Return whether all starts are sound if the first is; they are looked at together.

        Where nothing but the state of a tree differs. Of others, and where one is refused, each is
        to be prepared.
        """
        system = members.system
        if (
            not members.are_alike
            or not first.integrator.takes_forces_of_velocity or not runs_alone(first)
        ):  # fmt: skip
            return False
        assert first.start is not None
        q, v = (
            members.vectors.get(name, np.broadcast_to(own, (members.count, own.size)))
            for name, own in zip(("q", "v"), first.start, strict=True)
        )
        tau = members.vectors.get("tau", np.zeros(1))
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(tau).all()):
            return False
        try:
            system.energies(q, v)
        except Exception:
            return False  # said where it is prepared
        for number in range(members.count if members.parameters else 0):
            try:
                members.system_of(number)
            except Exception as error:
                raise of_sample(error, members.place(number)) from error.__cause__
        self._alike = q, v
        return True

    def given(self, number: int) -> tuple[Any, Any]:
        """Return the state that was given for a run, or taken for it."""
        if self._alike is not None:
            return self.states(number)
        start: tuple[Any, Any] = self._states[number][0]
        return start

    def states(self, number: int) -> tuple[Any, Any]:
        """Return q and v before the first step."""
        if self._alike is not None:
            return self._alike[0][number], self._alike[1][number]
        return self._states[number][1], self._states[number][2]

    def rows(self, first: int, last: int) -> tuple[Any, Any]:
        """Return q and v of some runs before the first step, one a row."""
        if self._alike is not None:
            return self._alike[0][first:last], self._alike[1][first:last]
        q, v = zip(*(self.states(number) for number in range(first, last)), strict=True)
        return np.array(q), np.array(v)


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
    starts = Starts(members.count)

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
    if not starts.like(first, members):
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
    lanes = lanes_of(first, members)

    def begun(number: int, worker: Worker | None) -> Worker:
        if worker is None or (members.parameters and not members.are_alike):
            worker = Worker(common.prepared(number, alone=True), plan, gathered)
        elif members.parameters:
            worker.exchange(members.system_of(number))
        q, v = starts.states(number)
        worker.begin(starts.given(number), q, v, None if tau is None else tau[number])
        return worker

    def group() -> Group | AdaptiveGroup:
        def begins(first: int, last: int) -> tuple[Any, Any, Any]:
            return *starts.rows(first, last), None if tau is None else tau[first:last]

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
        if result is not None:
            gathered.put(number, result)
            if number not in gathered.errors and not result.completed:
                return
        display.update(number + 1.0)
