"""Differentials of the coordinates that steps on the group are taken in, joint by joint."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.kernels.layout import SCREW
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.failures import failure

__all__ = ["Charts", "Differentials"]


class Block(NamedTuple):
    """The entries of a joint whose coordinates do not add."""

    steps: slice
    velocities: slice


class Differentials(NamedTuple):
    """Of all states, for one joint: the blocks of these matrices, (..., d, d) and (..., d, nv).

    Attributes
    ----------
    start, step : ndarray
        How retract(q, x) moves, along steps there, with q and with x.
    by_x, by_q, by_v : ndarray
        Of the rate of x, dexp_inv(x, w(q, v)), with x, with q along steps, and with v.
    """

    start: Floats
    step: Floats
    by_x: Floats
    by_q: Floats
    by_v: Floats


@final
@attrs.frozen(eq=False, slots=False)
class Charts:
    """Which joints have coordinates that do not add, and the differentials of these.

    Formulas: `mbkit.kernels.sensitivities.charts`.
    """

    system: System
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, system: System) -> Charts:
        """Find the joints by their rows."""
        blocks = []
        for row in system.arrays.bodies[1:]:
            if row["kind"] != SCREW and (row["dexp_inv"] != 0 or row["rates"] != 0):
                starts = int(row["first_step"]), int(row["first_velocity"])
                ends = starts[0] + int(row["ndx"]), starts[1] + int(row["num_velocities"])
                blocks.append(Block(*(slice(*each) for each in zip(starts, ends, strict=True))))
        return cls(system, tuple(blocks))

    def dense(self, maps: list[Differentials], count: int) -> tuple[Floats, Floats]:
        """Return how retract(q, x) moves with q and with x, as matrices (count, ndx, ndx)."""
        n = self.system.ndx
        start, step = np.tile(np.eye(n), (2, count, 1, 1))
        for block, each in zip(self.blocks, maps, strict=True):
            start[:, block.steps, block.steps] = each.start
            step[:, block.steps, block.steps] = each.step
        return start, step

    @property
    def memory(self) -> Floats:
        """Memory for `mbkit.kernels.sensitivities.charts`."""
        from mbkit.kernels.joints import spherical
        from mbkit.kernels.sensitivities.charts import IS_ROTATION, MEMORY

        largest = max((max(a, b) * a for a, b in self._sizes), default=0)
        memory = np.zeros((MEMORY, max(self.system.ndx, self.system.nv, 2 * largest)))
        arrays = self.system.arrays
        for row, joint in zip(arrays.bodies, arrays.joints, strict=True):
            kernels = None if joint is None else joint.kernels()
            if getattr(kernels, "dexp_inv", None) is spherical.dexp_inv:
                memory[IS_ROTATION, row["first_step"]] = 1.0
        return memory

    @property
    def _sizes(self) -> list[tuple[int, int]]:
        return [(a.stop - a.start, b.stop - b.start) for a, b in self.blocks]

    def numbers(self, *, rates: bool) -> int:
        """Return how many numbers the matrices of a state are, with those of rates or without."""
        return sum(d * ((4 * d + nv) if rates else 2 * d) for d, nv in self._sizes)

    def differentials(self, x: Floats, q: Floats | None, v: Floats | None) -> list[Differentials]:
        """Return those of each joint at steps x (..., ndx) to (q, v), where the rate of x is taken.

        Without q and v the rates are left out.
        """
        from mbkit.kernels.sensitivities.charts import Steps, differentials

        if not self.blocks:
            return []
        system, evaluator = self.system, self.system.evaluator
        shape = x.shape[:-1]
        rates = q is not None and v is not None
        x = np.ascontiguousarray(x).reshape((-1, system.ndx))
        state = [
            np.ascontiguousarray(each).reshape((len(x), -1)) if rates else np.zeros((len(x), 0))
            for each in (q, v)
        ]
        out = np.empty((len(x), self.numbers(rates=rates)))
        workspace = evaluator.take()
        if rates:
            workspace.let_steps_change(evaluator)
        steps: Any = Steps(x, *state)
        status = differentials(workspace.address, steps, int(rates), self.memory, out)
        if status != 0:
            raise failure(evaluator, status, workspace, {"x": x[0]})
        evaluator.give_back(workspace)
        found, first = [], 0
        for d, nv in self._sizes:
            matrices = []
            for width in (d, d, *((d, d, nv) if rates else ())):
                part = out[:, first : first + d * width]
                matrices.append(part.reshape((*shape, d, width)))
                first += d * width
            none = [] if rates else [np.zeros(0)] * 3
            found.append(Differentials(*matrices, *none))
        return found
