"""Support paths: rows of the tree that a constraint moves, and paths of its propagated wrenches."""

from __future__ import annotations

import heapq
from typing import Any, final

import attrs
import numpy as np

from mbkit.kernels.constraints.layout import LOOP_JOINT
from mbkit.sparsity.packing import packed


@final
@attrs.frozen
class Support:
    """The support path of a constraint: the rows on which it acts, and those that carry these.

    Rows are from the tips inwards, without the base, which ends the path: the world, or the last
    row that carries all bodies of the constraint.
    """

    rows: list[int]
    base: int


def supports_of(
    constraints: Any, sites: Any, carriers: list[list[int]], parent: list[int], *, nested: bool
) -> list[Support]:
    """Return the support of each constraint, which names joints on the rows in `carriers`.

    If nested, the paths of loop joints, and of constraints that name no bodies, end at their base,
    whose motion does not change their rows. Other paths, and all if false, end at the world.
    """
    firsts, counts = constraints["first_site"].tolist(), constraints["num_sites"].tolist()
    rows = sites["row"].tolist()
    found = []
    for kind, first, count, named in zip(
        constraints["kind"].tolist(), firsts, counts, carriers, strict=True
    ):
        ends = [*rows[first : first + count], *named, *(parent[row] for row in named)]
        at_base = nested and (kind == LOOP_JOINT or count == 0)
        found.append(_support(ends if at_base and ends else [*ends, 0], parent))
    return found


def _support(ends: list[int], parent: list[int]) -> Support:
    """Return all rows on the way to the first that all ends hang on: parents come first.

    A body between two ends on one row moves nothing, and need not wait for this row.
    """
    seen = {*ends}
    waiting = [-row for row in seen]
    heapq.heapify(waiting)
    rows: list[int] = []
    while len(waiting) > 1:
        rows.append(-heapq.heappop(waiting))
        if parent[rows[-1]] not in seen:
            seen.add(parent[rows[-1]])
            heapq.heappush(waiting, -parent[rows[-1]])
    return Support(rows, -waiting[0] if rows else 0)


def set_supports(
    constraints: Any, supports: list[Support], bodies: Any
) -> tuple[dict[str, Any], list[list[tuple[int, int, bool]]], list[Any]]:
    """Write the support paths of constraints, and the offsets of their numbers.

    Return numbers of entries, by the fields of `ClosureArrays`; by constraint and row of its
    support, then the base: the number of its path inwards, that of its parent's path, and whether
    the path begins there; and arrays that the constraints point to.
    """
    from mbkit.kernels.compile import array_address

    parent = bodies["parent"].tolist()
    paths = [_paths(support, parent) for support in supports]
    rows = packed(support.rows for support in supports)
    flat = packed([n for each in own[:-1] for n in each] for own in paths)
    for constraint, its_rows, its_paths in zip(constraints, rows, flat, strict=True):
        constraint["support"], constraint["paths"] = map(array_address, (its_rows, its_paths))
        constraint["num_support"] = len(its_rows) - 1
        constraint["num_columns"] = bodies["num_velocities"][its_rows[:-1]].sum()
    return _counted(constraints), paths, [*rows, *flat]


def _paths(support: Support, parent: list[int]) -> list[tuple[int, int, bool]]:
    """Return for each row of a support, and for its base, on which way it is."""
    of_row: dict[int, int] = {}
    found = []
    count = 0
    for row in (*support.rows, support.base):
        begins = row not in of_row
        if begins:
            of_row[row] = count
            count += 1
        own = of_row[row]
        on = own if row == support.base else of_row.setdefault(parent[row], own)
        found.append((own, on, begins))
    return found


def _counted(constraints: Any) -> dict[str, Any]:
    """Write where the numbers of each constraint begin; return how many there are."""
    rows = constraints["num_rows"]
    sizes = {
        ("num_rows", "first_row"): rows,
        ("num_position_rows", "first_position_row"): constraints["num_position_rows"],
        ("num_wrenches", "first_wrench"): rows * constraints["num_sites"] * 6,
        ("num_coefficients", "first_coefficient"): rows * constraints["num_velocities"],
        ("num_response", "first_response"): rows * constraints["num_columns"],
    }
    counts: dict[str, Any] = {}
    for (count, first), each in sizes.items():
        ends = np.cumsum(each)
        constraints[first] = ends - each
        counts[count] = int(ends[-1])
    return counts
