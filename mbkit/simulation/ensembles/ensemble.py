"""The runs of an ensemble, one after the other."""

from __future__ import annotations

import warnings
from typing import Any

import attrs

from mbkit.errors import UsageError, several
from mbkit.results import Ensemble
from mbkit.simulation.ensembles.gathering import Gathered
from mbkit.simulation.ensembles.members import Members, of_sample
from mbkit.simulation.in_memory import run_in_memory
from mbkit.simulation.origin import Origin
from mbkit.simulation.preparation import Prepared, prepare
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.start import check_kept_whole, number_of_steps

__all__ = ["check_in_memory", "fixed", "run_ensemble"]


@attrs.frozen(eq=False)
class Common:
    """What all runs of an ensemble share."""

    members: Members  # what each is given
    arguments: dict[str, Any]  # of `prepare`, but for system, q, v and tau

    def prepared(self, number: int) -> Prepared:
        """Return one run before its first step."""
        system = self.members.system_of(number)
        return prepare(system, **self.arguments, **self.members.given(number))

    def origin(self, number: int) -> tuple[str, Any]:
        """Return the text of the model of a run, and where it came from."""
        system = self.members.system_of(number)
        given = {**self.arguments, **self.members.given(number), "system": system}
        for name in ("forces", "constraint_solver"):
            del given[name]
        return system.model_text, Origin(given)


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
    members: Members, arguments: dict[str, Any], notes: dict[str, Any], *, progress: bool
) -> Ensemble:
    """Take all runs, by the arguments of `prepare` besides system, q, v and tau.

    `notes` are what options say besides. What a run is given and is refused is raised before the
    first step of any.
    """
    common = Common(members, arguments)
    first, told = _checked(common)
    gathered = Gathered(members, first.course.num_rows(first.steps))
    gathered.told += told
    with ProgressDisplay(0, members.count, enabled=progress, counted="runs") as display:
        _one_by_one(common, gathered, display)
    ensemble = gathered.ensemble({**first.options, **notes}, common.origin)
    gathered.tell(ensemble)
    return ensemble


def _checked(common: Common) -> tuple[Prepared, list[tuple[int, Any]]]:
    """Return the first run and what was warned of, after a look at what all are given.

    An error names the sample that is refused.
    """
    first, told = None, []
    for number in range(common.members.count):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                run = common.prepared(number)
            except Exception as error:
                raise of_sample(error, common.members.place(number)) from error.__cause__
        told += [(number, each.message) for each in found]
        first = run if first is None else first
    assert first is not None
    return first, told


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
