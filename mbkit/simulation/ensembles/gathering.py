"""The arrays of an ensemble, filled run by run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import FailedRunsWarning
from mbkit.memory import check_memory
from mbkit.results import Ensemble, Result
from mbkit.results.ensemble import Origins
from mbkit.simulation.ensembles.members import Members
from mbkit.simulation.in_memory import IN_RESULT
from mbkit.simulation.outputs.by_name import other_shape
from mbkit.simulation.preparation import versions
from mbkit.systems import System

__all__ = ["Gathered"]

_ENERGIES = ("kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy")

_NOT_STARTED = "Not started: interrupted by the user."


class Ended(NamedTuple):
    """How a run has ended that a compiled loop has taken: its steps and rows, the time reached."""

    steps: int
    rows: int
    t: float
    wall_time: float  # of all steps [s]
    counts: Mapping[str, int]  # what they have cost
    completed: bool
    error: BaseException | None = None


class Gathered:
    """Memory for all runs of an ensemble, of so many instants each; by the number of the run."""

    def __init__(
        self, members: Members, instants: int, outputs: Mapping[str, tuple[int, ...]]
    ) -> None:
        system, n = members.system, members.count
        widths = {
            "t": (), "q": (system.nq,), "v": (system.nv,), **dict.fromkeys(_ENERGIES, ()),
            "multipliers": (system.num_velocity_constraints,), "residuals": (3,),
        }  # fmt: skip
        width = sum(int(np.prod(each)) for each in (*widths.values(), *outputs.values()))
        check_memory(
            float(n) * instants * width,
            f"An ensemble of {n} runs with {instants} saved states, {width} numbers each,",
            "use a larger save_every, or fewer runs at once",
        )
        self.members = members
        # (count, instants, ...) by the names of a `Result`
        self.rows = {name: np.empty((n, instants, *each)) for name, each in widths.items()}
        self.outputs = {
            name: np.full((n, instants, *each), np.nan) for name, each in outputs.items()
        }
        self.lengths = np.zeros(n, dtype=np.int64)  # instants; none where it was not started
        self.steps = np.zeros(n, dtype=np.int64)
        self.times = np.zeros(n)  # of all steps [s]
        self.counts: dict[str, Any] = {}
        self.completed = np.zeros(n, dtype=bool)
        self.errors: dict[int, BaseException] = {}  # what has ended runs
        self.messages: dict[int, str] = {}
        self.warnings: dict[int, tuple[str, ...]] = {}
        self.events: dict[int, Any] = {}
        self.interrupted = False
        self.told: list[tuple[int, Any]] = []  # warnings

    def put(self, number: int, result: Result) -> None:
        """Keep the result of one run."""
        count = result.t.size
        for name, rows in self.rows.items():
            rows[number, :count] = getattr(result, name)
        self.lengths[number] = count
        self.steps[number] = result.options["steps_taken"]
        self.times[number] = result.options["wall_time"]
        self.count(number, result.options["counts"])
        self.completed[number] = result.completed
        self.put_outputs(number, result.outputs, None)
        self.messages.setdefault(number, result.message)
        if result.warnings:
            self.warnings[number] = result.warnings
        if len(result.events):
            self.events[number] = result.events

    def end(self, number: int, ended: Ended) -> None:
        """Keep how a run has ended whose rows are there; without an error, by Ctrl-C or its end."""
        if ended.error is not None:
            self.fail(number, ended.error)
        elif ended.completed:
            self.messages[number] = f"Completed: {ended.steps} steps."
        else:
            self.messages[number] = f"Interrupted by the user after t = {ended.t:.9g} s."
        self.count(number, ended.counts)
        self.steps[number], self.times[number] = ended.steps, ended.wall_time
        self.completed[number] = ended.completed
        self.lengths[number] = ended.rows  # last: what has rows is whole

    def put_outputs(
        self, number: int, found: Mapping[str, Any], error: BaseException | None
    ) -> None:
        """Keep the outputs of one run, and note what has stopped them."""
        for name, values in found.items():
            own = self.outputs[name][number]
            if values.shape[1:] == own.shape[1:]:
                own[: len(values)] = values
            elif error is None:
                error = other_shape(name, values.shape[1:], own.shape[1:])
        if isinstance(error, KeyboardInterrupt):
            self.interrupted = True
            self.messages[number] = "Interrupted by the user, before its outputs were found."
            self.completed[number] = False
        elif error is not None and number not in self.errors:
            self.fail(number, error)
            self.completed[number] = False

    def count(self, number: int, counted: Mapping[str, int]) -> None:
        """Keep what the steps of one run have cost."""
        for name, count in counted.items():
            if name not in self.counts:
                none = np.zeros(self.members.count, dtype=np.int64)
                self.counts.setdefault(name, none)  # several threads may
            self.counts[name][number] = count

    def fail(self, number: int, error: BaseException) -> None:
        """Note what has ended a run."""
        self.errors[number] = error
        text = f"{type(error).__name__}: {error}"
        notes = [note for note in getattr(error, "__notes__", ()) if note != IN_RESULT]
        self.messages[number] = " ".join([_sentence(text), *notes]) if notes else text

    def ensemble(self, options: dict[str, Any], origins: Origins) -> Ensemble:
        """Return the ensemble."""
        members, most = self.members, max(1, int(self.lengths.max()))
        axes, system = members.axes, members.system
        short = np.flatnonzero(self.lengths < most)

        def shaped(array: Any) -> Any:
            for number in short:
                array[number, self.lengths[number] : most] = np.nan
            array = array[:, :most] if most < array.shape[1] else array
            return array.reshape(axes + array.shape[1:])

        messages = [self.messages.get(k, _NOT_STARTED) for k in range(members.count)]
        failed = np.zeros(members.count, dtype=bool)
        failed[list(self.errors)] = True
        parameters = {
            name: np.array(values).reshape(axes + values.shape[1:])
            for name, values in members.parameters.items()
        }
        return Ensemble(
            **{name: shaped(array) for name, array in self.rows.items()},
            outputs={name: shaped(array) for name, array in self.outputs.items()},
            lengths=self.lengths.reshape(axes), steps_taken=self.steps.reshape(axes),
            wall_times=self.times.reshape(axes), completed=self.completed.reshape(axes),
            failed=failed.reshape(axes), messages=np.array(messages, dtype=object).reshape(axes),
            counts={name: each.reshape(axes) for name, each in self.counts.items()},
            parameters=parameters, options=options, versions=versions(), labels=_labels(system),
            warnings=dict(sorted(self.warnings.items())), events=self.events, origins=origins,
        )  # fmt: skip

    def tell(self, ensemble: Ensemble) -> None:
        """Warn of runs that failed, and once of each kind of thing that was told of runs.

        See `Ensemble.failures` and `Ensemble.warnings`.
        """
        texts: list[tuple[str, type[Warning]]] = []
        if self.errors:
            number, count = min(self.errors), self.members.count
            text = (
                f"{len(self.errors)} of {count} runs failed, the first of them sample "
                f"{self.members.place(number)}: {_sentence(self.messages[number])} The reasons of "
                f"all are in runs.failures."
            )
            texts.append((text, FailedRunsWarning))
        kinds: dict[type[Warning], list[tuple[int, Any]]] = {}
        for number, warning in sorted(self.told, key=lambda each: each[0]):
            kinds.setdefault(type(warning), []).append((number, warning))
        for kind, found in kinds.items():
            number, first = found[0]
            several = len({each for each, _ in found})
            runs = f"In {several} runs of {self.members.count}, the first of them sample "
            text = f"{runs if several > 1 else 'Sample '}{self.members.place(number)}: {first}"
            texts.append((text, kind))
        for text, kind in texts:
            try:
                warnings.warn(text, kind, stacklevel=4)
            except Warning as warning:
                warning.result = ensemble  # type: ignore[attr-defined]
                raise


def _sentence(text: str) -> str:
    """Return text, which may be of any exception, with a mark at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _labels(system: System) -> dict[str, tuple[str, ...]]:
    fields = (
        "body_names", "joint_names", "position_names", "velocity_names", "position_units",
        "constraint_names",
    )  # fmt: skip
    return {field: tuple(getattr(system, field)) for field in fields}
