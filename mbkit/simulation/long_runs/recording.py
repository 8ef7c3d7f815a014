"""The loop of a run that is written to its directory while it goes, part by part."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import attrs
import numpy as np

from mbkit.integrators.integrator import Problem, Rows
from mbkit.interrupts import Interrupts
from mbkit.io.results.run_directory import RunDirectory
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.stepping.chunks import INTERRUPTED, next_chunk
from mbkit.simulation.stepping.course import Course, event_columns

__all__ = ["Recorder", "new_buffer", "reserve_size"]

#: Bytes of rows in memory; a part is written when there are more.
PART_SIZE = 4 * 2**20

#: Seconds between parts, later a share of the time that a run has taken: the loss by a kill
#: is the larger of both, and a run of a week has thousands of parts, not 100 000.
SHORTEST = 2.0
LONGEST = 60.0
SHARE = 0.005

#: Energies of rows: kinetic, potential, and an error or None.
Energies = Callable[[Rows], tuple[Any, Any, BaseException | None]]


class _Reached(NamedTuple):
    """Replaced as a whole: Ctrl-C finds matching fields."""

    step: int
    rows: int  # in the buffer
    part: int  # number of the next one
    began: int  # step at which it begins
    state: dict[str, Any]
    second: dict[str, Any] | None  # state one step after `began`


def new_buffer(rows: int, nq: int, nv: int, m: int = 0, least: int = 16) -> Rows:
    """Return memory for the rows of one part: all, or PART_SIZE bytes, but at least so many."""
    count = (
        max(16, least, min(rows, PART_SIZE // (8 * (3 + nq + nv + m)))) + 1
    )  # one for the last state
    return Rows.empty(count, nq, nv, m)


def reserve_size(buffer: Rows) -> int:
    """Return how many bytes a full part and a manifest may have."""
    energies: int = 2 * buffer.t.nbytes
    rows: int = sum(each.nbytes for each in buffer)
    return rows + energies + 4 * 65536


@attrs.define(eq=False)
class Recorder:
    """Takes the steps of a problem, and writes parts."""

    directory: RunDirectory  # where to; locked
    problem: Problem  # the initial value problem; then the course of its steps
    course: Course
    steps: int  # how many there are in all
    save: tuple[str, ...]  # which of "q", "v", "energies" and "constraints" are written
    dtype: str  # of the rows of q and v
    energies: Energies  # returns the energies of rows, and an error or None
    # returns multipliers and residuals of rows, and an error or None; None for a tree
    constraints: Energies | None
    buffer: Rows  # where rows wait for their part
    run: int  # number of the run, which its parts have
    # returns outputs of rows by their names in parts, and an error or None
    outputs: Callable[[Rows], tuple[dict[str, Any], BaseException | None]]
    error: BaseException | None = None  # why the run ended, where it was no status of a kernel

    def begin(self) -> None:
        """Write part 0: the initial state, and the row of it."""
        state = self._state()
        if self.course.samples is not None:
            self.course.samples.note(0)
        times = self.course.start_times
        for row, t in enumerate(times):
            self._put(row, 0, state)
            self.buffer.t[row] = t
        self._write(_Reached(0, len(times), 0, 0, state, None))
        if self.error is not None:  # of the energies
            raise self.error

    def record(self, step: int, part: int, display: ProgressDisplay) -> tuple[int, int]:
        """Take the steps from `step` on; the next part gets the number `part`.

        Return the step that was reached and is confirmed but for an `OSError` in `error`, and the
        status: 0, that of the course, or INTERRUPTED.
        """
        reached = _Reached(step, 0, part, step, self._state(), None)
        began = written = time.monotonic()
        chunk, status = 1, 0
        interrupts = Interrupts()
        try:
            with interrupts:
                while reached.step < self.steps and status == 0 and self.error is None:
                    reached, status, chunk = self._step(reached, chunk)
                    status = status or (INTERRUPTED if interrupts.noted else 0)
                    now = time.monotonic()
                    pause = min(max(SHORTEST, SHARE * (now - began)), LONGEST)
                    free = len(self.buffer.t) - 1 - reached.rows
                    full = self.course.fitting(reached.step, free) == 0
                    if (full or now - written > pause) and reached.step < self.steps:
                        reached = self._flush(reached)
                        written = time.monotonic()
                    display.update(self.problem.t0 + reached.step * self.problem.h)
                reached = self._finish(reached)
        except KeyboardInterrupt:
            status = INTERRUPTED
            self.course.ended = None  # if so, it is found again
            for name, value in reached.state.items():
                self.problem.state[name][:] = value
            reached = self._finish(reached)
        return reached.step, status or (INTERRUPTED if interrupts.noted else 0)

    def _step(self, reached: _Reached, chunk: int) -> tuple[_Reached, int, int]:
        """Take one chunk of steps, as many as the buffer has room for."""
        free = len(self.buffer.t) - 1 - reached.rows
        first = reached.step == reached.began
        size = 1 if first else chunk
        size = min(size, self.steps - reached.step, self.course.fitting(reached.step, free))
        rows = Rows(*(field[reached.rows :] for field in self.buffer))
        began = time.perf_counter()
        status, done, saved = self.course(reached.step, size, rows)
        state = self._state()
        second = state if first and done == 1 else reached.second
        step, count = reached.step + done, reached.rows + saved
        spent = time.perf_counter() - began
        following = next_chunk(size, size, spent)
        return (
            _Reached(step, count, reached.part, reached.began, state, second),
            status,
            max(chunk, following) if first else following,
        )

    def _finish(self, reached: _Reached) -> _Reached:
        """Confirm the remaining rows.

        The last state is a row, also off the multiples of `save_every`, and in the part that states
        that all steps are taken.
        """
        if reached.step == self.steps and self.course.saves_end(self.steps):
            self._put(reached.rows, reached.step, reached.state)
            reached = reached._replace(rows=reached.rows + 1)
        ended = self.course.ended is not None
        return self._flush(reached) if ended or reached.step > reached.began else reached

    def _flush(self, reached: _Reached) -> _Reached:
        """Write a part, if need be into the room that was kept for it.

        Ctrl-C may come before its end: the same rows are then written again under the same number.
        """
        if isinstance(self.error, OSError):
            return reached
        try:
            self._write(reached)
        except OSError as error:
            self.error = error
            self.directory.release()
            try:
                self._write(reached)
            except OSError:
                return reached
        return _Reached(reached.step, 0, reached.part + 1, reached.step, reached.state, None)

    def _write(self, reached: _Reached) -> None:
        rows = Rows(*(field[: reached.rows] for field in self.buffer))
        arrays: dict[str, Any] = {"t": rows.t}
        for name in ("q", "v"):
            if name in self.save:
                arrays[name] = getattr(rows, name).astype(self.dtype, copy=False)
        if "energies" in self.save:
            kinetic, potential, error = self.energies(rows)
            arrays |= {"kinetic_energy": kinetic, "potential_energy": potential}
            arrays |= {"dissipated_energy": rows.work[:, 0], "supplied_energy": rows.work[:, 1]}
            self.error = self.error or error
        if self.constraints is not None and "constraints" in self.save:
            multipliers, residuals, error = self.constraints(rows)
            arrays |= {"multipliers": multipliers, "residuals": residuals}
            self.error = self.error or error
        outputs, error = self.outputs(rows)
        if isinstance(error, KeyboardInterrupt):  # the part is written with them, or not at all
            raise error
        arrays |= outputs
        self.error = self.error or error
        arrays |= {"run": np.int64(self.run), "number": np.int64(reached.part)}
        if self.course.samples is not None:
            first = reached.began + (reached.part > 0)
            arrays["samples"] = self.course.samples.energies(
                self.course.system, first, reached.step
            )
        if self.course.findings:
            arrays["warnings"] = np.array(self.course.findings)
        arrays |= {"step": np.int64(reached.step), "began": np.int64(reached.began)}
        arrays |= {f"state_{name}": value for name, value in reached.state.items()}
        if reached.second is not None:
            arrays |= {f"second_{name}": value for name, value in reached.second.items()}
        if self.course.events:
            happened = self.course.happened(reached.began, reached.step)
            columns = event_columns(happened, self.problem.nq, self.problem.nv)
            arrays |= {f"event_{name}": value for name, value in columns.items()}
        if self.course.ended is not None:
            names = [event.name for event in self.course.events]
            arrays["ended"] = np.float64(self.course.ended)
            arrays["ended_by"] = np.int64(names.index(self.course.ended_by))
        if reached.part == 0 and self.course.times is not None:
            arrays["save_at"] = self.course.times.times
        self.directory.write_part(reached.part, arrays)
        self.course.log = [each for each in self.course.log if each.step >= reached.step]
        self.course.passages.clear()  # for results in memory alone
        for remembered in (self.course.samples, self.course.held):
            if remembered is not None:
                remembered.forget(reached.step)

    def _put(self, row: int, step: int, state: dict[str, Any]) -> None:
        self.buffer.t[row] = self.problem.t0 + step * self.problem.h
        for name in ("q", "v", "work"):
            getattr(self.buffer, name)[row] = state[name]
        self.buffer.multipliers[row] = state.get("multipliers", np.nan)

    def _state(self) -> dict[str, Any]:
        return {name: value.copy() for name, value in self.problem.state.items()}
