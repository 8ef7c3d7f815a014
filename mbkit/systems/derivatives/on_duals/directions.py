"""Directions along which several entries of a state move at once, for derivatives of constraints.

Two entries whose motions change no common result move along one direction, and the derivative of a
result along it is that by the one of both which changes it. A constraint is changed by the bodies
that carry it, on their ways to the world, and its forces act on these; so bodies far from each
other in a row of mechanisms share directions, and the number of these does not grow with the row.

Source: Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices, 1974.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.arrays import SystemArrays

__all__ = ["Directions"]


class Directions(NamedTuple):
    """Directions for k entries of (dx, v), tangents of q and v.

    Attributes
    ----------
    moves : ndarray, shape (passes, ndx + nv)
        Along which direction of a pass each entry moves; -1 where it does not.
    places : ndarray of int, shape (k,)
        The direction of each of the k entries, counted through all passes.
    total : int
        How many directions there are.
    changed : ndarray of bool, shape (k, results), or None
        Which results each entry changes: position rows, twice all rows, and forces (nv,); None
        where each entry has a direction of its own.
    """

    moves: Floats
    places: Any
    total: int
    changed: Any

    @classmethod
    def of(cls, arrays: SystemArrays, entries: range, most: int) -> Directions:
        """Return them for these entries, `most` directions at once in a pass."""
        groups, changed = np.arange(len(entries)), None
        if len(entries) > most and arrays.closure.supports:
            changed, conflicts = _changes(arrays, entries)
            shared = _coloured(conflicts)
            if -(-(shared.max() + 1) // most) < -(-len(entries) // most):
                groups = shared
            else:
                changed = None
        count = int(groups.max(initial=-1)) + 1
        size = int(sum(arrays.bodies["ndx"][1:]) + sum(arrays.bodies["num_velocities"][1:]))
        moves = np.full((-(-count // most), size), -1.0)
        moves[groups // most, np.array(entries, dtype=int)] = groups % most
        return cls(moves, groups, count, changed)


def _changes(arrays: SystemArrays, entries: range) -> tuple[Any, Any]:
    """Return which results each entry changes, and which entries change a common one."""
    bodies, closure = arrays.bodies, arrays.closure
    carries = np.zeros((len(bodies), len(closure.supports)), dtype=bool)
    for c, support in enumerate(closure.supports):
        for tip in support:
            row = int(tip)
            while row > 0 and not carries[row, c]:
                carries[row, c] = True
                row = int(bodies["parent"][row])
    steps, velocities = (
        _rows_of(bodies, *names)
        for names in (("first_step", "ndx"), ("first_velocity", "num_velocities"))
    )
    of_rows, of_position = (
        np.repeat(np.arange(len(carries[0])), closure.constraints[name])
        for name in ("num_rows", "num_position_rows")
    )
    beside = carries.astype(float) @ carries.T > 0.0
    by_body = np.concatenate(
        [*(carries[:, each] for each in (of_position, of_rows, of_rows)), beside[:, velocities]],
        axis=1,
    )
    chosen = np.concatenate([steps, velocities])[np.array(entries, dtype=int)]
    meet = by_body.astype(float) @ by_body.T > 0.0
    return by_body[chosen], meet[np.ix_(chosen, chosen)]


def _rows_of(bodies: Any, first: str, count: str) -> Any:
    """Return the row of the tree of each entry."""
    found = np.zeros(int(bodies[count][1:].sum()), dtype=int)
    for row, (start, size) in enumerate(zip(bodies[first], bodies[count], strict=True)):
        if row > 0:  # row 0 is the world
            found[start : start + size] = row
    return found


def _coloured(conflicts: Any) -> Any:
    """Return a number for each entry, another one than those of entries before in conflict."""
    found = np.full(len(conflicts), -1)
    for k, row in enumerate(conflicts):
        taken = set(found[:k][row[:k]].tolist())
        found[k] = next(n for n in itertools.count() if n not in taken)
    return found
