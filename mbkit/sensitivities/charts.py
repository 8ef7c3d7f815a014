"""Differentials of the coordinates that steps on the group are taken in, joint by joint."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.joints.defaults.differences import central_differences
from mbkit.kernels.layout import SCREW
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats

__all__ = ["Charts", "Differentials"]

#: Central differences of sixth order: h^6 f^(7) / 140 is left out. The inverse differentials are
#: series with the radius 2 pi.
_STEPS, _WEIGHTS = central_differences(6, 1.0 / 32.0)


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

    With A(x) = dexp_inv(x, .), the rate of x where retract(q, x) moves, retract(q, x) moves by
    A(x)^-1 dx with x. With q it moves by A(x)^-1 A(-x) dq: the step back from there is -x.
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

    @functools.cached_property
    def layout(self) -> tuple[Any, Any, Any]:
        """Where the entries of these joints are, four numbers each, and those of the others."""
        numbers = [(a.start, a.stop - a.start, b.start, b.stop - b.start) for a, b in self.blocks]
        steps, velocities = (
            np.ones(self.system.ndx, dtype=bool),
            np.ones(self.system.nv, dtype=bool),
        )
        for block in self.blocks:
            steps[block.steps] = velocities[block.velocities] = False
        joints = np.array(numbers, dtype=np.int64).reshape(-1)
        return joints, np.flatnonzero(steps), np.flatnonzero(velocities)

    @staticmethod
    def packed(maps: list[Differentials], count: int) -> Floats:
        """Return the matrices of `count` states one after another, (count, ...)."""
        parts = [each.reshape((count, -1)) for joint in maps for each in joint if each.size]
        return np.concatenate([np.zeros((count, 0)), *parts], axis=1)

    def dense(self, maps: list[Differentials], count: int) -> tuple[Floats, Floats]:
        """Return how retract(q, x) moves with q and with x, as matrices (count, ndx, ndx)."""
        n = self.system.ndx
        start, step = np.tile(np.eye(n), (2, count, 1, 1))
        for block, each in zip(self.blocks, maps, strict=True):
            start[:, block.steps, block.steps] = each.start
            step[:, block.steps, block.steps] = each.step
        return start, step

    def _columns(self, size: int, entries: str, function: Callable[[Floats], Floats]) -> list[Any]:
        """Return the blocks of a linear function of unit vectors, asked for all joints at once."""
        widths = [
            getattr(block, entries).stop - getattr(block, entries).start for block in self.blocks
        ]
        columns = []
        for k in range(max(widths, default=0)):
            unit = np.zeros(size)
            for block, width in zip(self.blocks, widths, strict=True):
                if k < width:
                    unit[getattr(block, entries).start + k] = 1.0
            columns.append(function(unit))
        return [
            np.stack([column[..., block.steps] for column in columns[:width]], axis=-1)
            for block, width in zip(self.blocks, widths, strict=True)
        ]

    def differentials(self, x: Floats, q: Floats | None, v: Floats | None) -> list[Differentials]:
        """Return those of each joint at steps x (..., ndx) to (q, v), where the rate of x is asked.

        Without q and v the rates are left out.
        """
        if not self.blocks:
            return []
        system, ndx = self.system, self.system.ndx
        there = self._columns(ndx, "steps", lambda e: system.dexp_inv(x, e))
        back = self._columns(ndx, "steps", lambda e: system.dexp_inv(-x, e))
        steps = [np.linalg.inv(A) for A in there]
        starts = [step @ A for step, A in zip(steps, back, strict=True)]
        if q is None or v is None:
            none = np.zeros(0)
            return [
                Differentials(*each, none, none, none) for each in zip(starts, steps, strict=True)
            ]
        w = system.rates(q, v)

        def along(function: Callable[[float], Floats]) -> Floats:
            moved = (weight * function(e) for e, weight in zip(_STEPS, _WEIGHTS, strict=True))
            return np.asarray(sum(moved))

        by_x = self._columns(
            ndx, "steps", lambda unit: along(lambda e: system.dexp_inv(x + e * unit, w))
        )
        if ndx == system.nv:
            by_q, by_v = [np.zeros(A.shape) for A in there], there
        else:
            by_q = self._columns(
                ndx,
                "steps",
                lambda unit: along(lambda e: system.rates(system.retract(q, e * unit), v)),
            )
            by_v = self._columns(system.nv, "velocities", lambda unit: system.rates(q, unit))
            by_q, by_v = (
                [A @ B for A, B in zip(there, each, strict=True)] for each in (by_q, by_v)
            )
        return [Differentials(*each) for each in zip(starts, steps, by_x, by_q, by_v, strict=True)]
