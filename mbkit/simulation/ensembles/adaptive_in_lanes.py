"""Runs of an ensemble that choose their steps, side by side in the lanes of vector registers.

Each has a lane until it is through, and the next one follows in it at once. Where one of them
fails, all that are on their way are taken one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbkit.kernels.layout import NUM_POWERS
from mbkit.simulation.ensembles.gathering import Ended, Gathered
from mbkit.simulation.ensembles.in_lanes import Lanes, Registers, Start
from mbkit.simulation.ensembles.in_threads import Block, Plan
from mbkit.simulation.preparation import Prepared
from mbkit.simulation.stepping.chunks import next_chunk

__all__ = ["AdaptiveGroup"]

#: How often all runs try a step in the first call.
ATTEMPTS = 64


class AdaptiveGroup:
    """The lanes of one thread, in which runs follow each other.

    Arguments are those of `Group` of `mbkit.simulation.ensembles.in_lanes`.
    """

    def __init__(
        self,
        lanes: Lanes,
        first: Prepared,
        gathered: Gathered,
        starts: Callable[[int, int], Start],
    ) -> None:
        from mbkit.kernels.time_loops.adaptive_in_lanes import NOBODY, Occupied

        self.lanes, self.gathered, self.starts = lanes, gathered, starts
        self.plan, self.problem = Plan.of(first), first.problem
        self.registers = Registers(lanes, first)
        nq, nv, width = self.problem.nq, self.problem.nv, lanes.width
        progress, self.counts = self.registers.own.progress_in(self.registers.numbers)
        run, taken, attempts, rows, samples = (np.full(width, NOBODY) for _ in range(5))
        m = len(self.registers.multipliers)
        reached = np.zeros((nq + nv + NUM_POWERS + m, width))
        self.occupied: Any = Occupied(run, taken, attempts, rows, samples, progress, reached)
        self.wall_times = np.zeros(width)
        self.chunk = ATTEMPTS

    def take(
        self, drawn: range, draw: Callable[[], range], block: Block, stopped: Callable[[], bool]
    ) -> Sequence[int]:
        """Take runs of a block, the one that was drawn and others until none is left.

        Returns those that were on their way when one failed, or too few from the start.
        """
        runs = [*drawn]
        while len(runs) < self.lanes.width and (more := draw()):
            runs += more
        if len(runs) < self.lanes.least:
            return runs
        rows, samples = self._kept(block)
        self._clear(runs[0])
        for lane, number in enumerate(runs):
            self._begin(lane, number, block)
        run = self.occupied.run
        busy: Any
        while (busy := np.flatnonzero(run >= 0)).size and not stopped():
            if not self._advance(busy, rows, samples):
                return [block.first + int(run[lane]) for lane in busy]
            for lane in self._through(busy):
                self._end(lane, block)
                for number in draw():
                    self._begin(lane, number, block)
        for lane in busy:
            self._end(lane, block)
        return ()

    def _kept(self, block: Block) -> tuple[Any, Any]:
        """Return which states of the runs of a block are kept, and where."""
        from mbkit.kernels.time_loops.fixed_steps_in_lanes import Kept

        plan, rows = self.plan, block.rows
        return (
            Kept(
                plan.kept,
                plan.parts,
                len(plan.at_start),
                rows.q,
                rows.v,
                rows.work,
                block.no_multipliers if plan.at_times else rows.multipliers,
            ),
            Kept(plan.sampled, 0.0 * plan.sampled, 0, *block.samples, block.no_multipliers),
        )

    def _clear(self, number: int) -> None:
        """Put a run into all lanes, though nobody is in them: their numbers are to be sound."""
        from mbkit.kernels.time_loops.adaptive_in_lanes import NOBODY

        width = self.lanes.width
        everywhere = self.starts(number, number + 1).chosen([0] * width)
        self.registers.put(np.arange(width), everywhere)
        self.occupied.run[:] = NOBODY

    def _begin(self, lane: int, number: int, block: Block) -> None:
        """Put a run to its start, and write the rows that this is."""
        plan, occupied, run = self.plan, self.occupied, number - block.first
        start, sampled = len(plan.at_start), min(1, plan.sampled.size)
        begin = self.starts(number, number + 1)
        self.registers.put(np.array([lane]), begin)
        self.counts[:, lane] = self.problem.counts
        nq, nv = begin.q.shape[1], begin.v.shape[1]
        size = nq + nv + NUM_POWERS
        occupied.reached[:size, lane] = self.registers.numbers[:size, lane]
        occupied.reached[size:, lane] = block.rows.multipliers[run] = np.nan
        occupied.run[lane], occupied.taken[lane], occupied.attempts[lane] = run, 0, 0
        occupied.rows[lane], occupied.samples[lane] = 0, sampled
        self.wall_times[lane] = 0.0
        parts, rows = (begin.q[0], begin.v[0], 0.0), block.rows
        arrays = zip(parts, (rows.q, rows.v, rows.work), block.samples, strict=True)
        for part, of_rows, of_samples in arrays:
            of_rows[run, :start] = part
            of_samples[run, :sampled] = part

    def _advance(self, busy: Any, rows: Any, samples: Any) -> bool:
        """Let all runs go on for a while; False where one fails."""
        from mbkit.integrators.compiled import entry_point_of
        from mbkit.kernels.time_loops.adaptive_in_lanes import advance
        from mbkit.kernels.time_loops.records import Grid

        grid = Grid(self.problem.t0, self.problem.h, 0, self.plan.steps, 1)
        began = time.perf_counter()
        status = entry_point_of(advance)(
            self.registers.together, grid, rows, samples, self.occupied, self.chunk
        )
        spent = time.perf_counter() - began
        self.wall_times[busy] += spent / busy.size
        if not self._through(busy).size:  # there were as many attempts as were asked for
            self.chunk = next_chunk(self.chunk, self.chunk, spent)
        return bool(status == 0)

    def _through(self, busy: Any) -> Any:
        """Return which lanes have a run that is at its end."""
        return busy[self.occupied.taken[busy] == self.plan.steps]

    def _end(self, lane: int, block: Block) -> None:
        """Keep how a run has ended, at a grid point, and free its lane."""
        from mbkit.kernels.time_loops.adaptive_in_lanes import NOBODY

        occupied, plan, rows = self.occupied, self.plan, block.rows
        run, taken = int(occupied.run[lane]), int(occupied.taken[lane])
        written = len(plan.at_start) + int(occupied.rows[lane])
        t = self.problem.t0 + taken * self.problem.h
        if taken < plan.steps and (written == 0 or rows.t[run, written - 1] < t):
            nq, nv = self.problem.nq, self.problem.nv
            ends = [nq, nq + nv, nq + nv + NUM_POWERS]
            q, v, work, multipliers = np.split(occupied.reached[:, lane], ends)
            rows.t[run, written], rows.q[run, written] = t, q
            rows.v[run, written], rows.work[run, written] = v, work
            rows.multipliers[run, written] = multipliers
            written += 1
        registers = self.registers
        counts = registers.own.counts(registers.numbers, lane, taken, self.counts[:, lane])
        ended = Ended(
            taken, written, t, float(self.wall_times[lane]), counts, completed=taken == plan.steps
        )
        self.gathered.end(block.first + run, ended)
        occupied.run[lane] = NOBODY
