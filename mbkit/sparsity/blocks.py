"""Blocks of coupled constraints, and the order of their elimination."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.kernels.constraints import layout
from mbkit.kernels.constraints.layout import LOOP_JOINT
from mbkit.memory import check_memory
from mbkit.sparsity.elimination_order import early_constraints, find_separators, minimum_degree
from mbkit.sparsity.packing import packed
from mbkit.sparsity.supports import Support

#: Up to so many rows all are eliminated as one block, the largest pivots first.
ONE_BLOCK = 36


#: The memory of two coupled constraints while a pattern is made. [numbers]
_PAIR = 50


@final
@attrs.frozen(eq=False)
class Blocks:
    """The pattern of the matrix for the multipliers."""

    # PAIR, BLOCK and SEPARATOR rows; one more SEPARATOR row than there are separators. A separator
    # is a body with many neighbours, kept as an unknown.
    pairs: Any
    blocks: Any
    separators: Any
    num_gram: int  # numbers in the matrix
    num_unknowns: int  # rows of the constraints, and velocities of separators
    owners: list[Any]  # arrays that the rows point to


def blocks_of(constraints: Any, sites: Any, supports: list[Support], bodies: Any) -> Blocks:
    """Return the pattern of A M^-1 A^T and of its factor, by the supports of constraints.

    Two constraints are coupled if they move a common row of the tree. Eliminating one couples all
    its neighbours; the one with the fewest neighbours goes first (minimum degree), which keeps
    chains of loops narrow. Velocities of bodies with many constraints stay unknowns.
    """
    from mbkit.kernels.compile import array_address

    sizes = constraints["num_rows"].tolist()
    places = [places_of(support, bodies) for support in supports]
    if sum(sizes) > ONE_BLOCK:
        separators = find_separators(places, bodies)
        early = _early(constraints, sites, separators, bodies) if separators else set()
        return _sparse(constraints, places, separators, early, bodies)
    blocks = np.zeros(1, layout.BLOCK)
    nothing = np.zeros(1, dtype=np.int64)
    blocks[0]["num_rows"] = size = sum(sizes)
    blocks[0]["neighbours"] = blocks[0]["updates"] = array_address(nothing)
    firsts = constraints["first_row"].tolist()
    wanted = [
        (high, low, firsts[high] * size + firsts[low], size)
        for a, b in coupled_pairs(places)
        for high, low in {(a, b), (b, a)}
    ]
    pairs, owners = pair_rows(wanted, places, bodies)
    return Blocks(
        pairs, blocks, np.zeros(1, layout.SEPARATOR), size * size, size, [nothing, *owners]
    )


def places_of(support: Support, bodies: Any) -> dict[int, int]:
    """Return the rows of the tree that a constraint moves, with the offset of its columns."""
    counts = bodies["num_velocities"][support.rows]
    return dict(zip(support.rows, (np.cumsum(counts) - counts).tolist(), strict=True))


def coupled_pairs(places: list[dict[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs (a, b), b <= a, that move a row in common; each with itself."""
    owners: dict[int, list[int]] = {}
    for a, own in enumerate(places):
        for row in own:
            owners.setdefault(row, []).append(a)
    most = max(map(len, owners.values()), default=0)
    check_memory(
        _PAIR * most * (most + 1) / 2.0,
        f"The pattern of {most} constraints on one joint or body, each coupled with each,",
        "take other coordinates, absolute or relative, in which they share less",
    )
    found = {(a, a) for a in range(len(places))}
    for every in owners.values():
        found.update((a, b) for i, a in enumerate(every) for b in every[: i + 1])
    return sorted(found)


def _early(constraints: Any, sites: Any, separators: list[int], bodies: Any) -> set[int]:
    """Return the constraints that may go before the separators."""
    rows = sites["row"].tolist()
    firsts = constraints["first_site"].tolist()
    ends = [
        (rows[first], rows[first + 1]) if kind == LOOP_JOINT else None
        for kind, first in zip(constraints["kind"].tolist(), firsts, strict=True)
    ]
    return early_constraints(ends, separators, bodies)


def pair_rows(
    wanted: list[tuple[int, int, int, int]], places: list[dict[int, int]], bodies: Any
) -> tuple[Any, list[Any]]:
    """Return PAIR rows, and the arrays they point to."""
    from mbkit.kernels.compile import array_address

    pairs = np.zeros(len(wanted), layout.PAIR)
    counts = bodies["num_velocities"].tolist()
    lasts = (bodies["first_velocity"] + bodies["num_velocities"] - 1).tolist()
    matches = packed(
        [
            n
            for row, place in places[high].items()
            if row in places[low]
            for n in (place, places[low][row], counts[row], lasts[row], row)
        ]
        for high, low, _, _ in wanted
    )
    for pair, numbers, own in zip(pairs, wanted, matches, strict=True):
        pair["row"], pair["column"], pair["target"], pair["stride"] = numbers
        pair["matches"], pair["num_matches"] = array_address(own), len(own) // layout.MATCH_SIZE
    return pairs, matches


def _sparse(
    constraints: Any,
    places: list[dict[int, int]],
    separators: list[int],
    early: set[int],
    bodies: Any,
) -> Blocks:
    """Return the blocks as `blocks_of` does, a block a constraint and a separator."""
    own = (
        [{row: p for row, p in each.items() if row not in separators} for each in places]
        if separators
        else places
    )
    count = len(places)
    node_of = {row: count + k for k, row in enumerate(separators)}
    sizes = [
        *constraints["num_rows"].tolist(),
        *(int(bodies[h]["num_velocities"]) for h in separators),
    ]
    coupled = coupled_pairs(own)
    held = [(node_of[row], c) for c, each in enumerate(places) for row in each if row in node_of]
    order, later = minimum_degree(
        count + len(separators), coupled + held, frozenset(node_of.values()), frozenset(early)
    )
    position = {c: k for k, c in enumerate(order)}
    starts, total = places_of_blocks(order, later, sizes)
    blocks, owners = block_rows(constraints, sizes, (order, later, position, starts))
    wanted = []
    for a, b in coupled:
        high, low = (a, b) if position[a] >= position[b] else (b, a)
        wanted.append((high, low, starts[high, low], sizes[low]))
    pairs, matches = pair_rows(wanted, own, bodies)
    entries = _separators(held, separators, places, bodies, (sizes, position, starts))
    return Blocks(pairs, blocks, entries, total, sum(sizes), [*owners, *matches])


def places_of_blocks(
    order: list[int], later: dict[int, list[int]], sizes: list[int]
) -> tuple[dict[tuple[int, int], int], int]:
    """Return where the coupling of (a later node, an earlier one) begins, and where all end."""
    starts: dict[tuple[int, int], int] = {}
    total = 0
    for c in order:
        for other in (c, *later[c]):
            starts[other, c] = total
            total += sizes[other] * sizes[c]
    return starts, total


def block_rows(constraints: Any, sizes: list[int], elimination: Any) -> tuple[Any, list[Any]]:
    """Return BLOCK rows, and the arrays they point to."""
    from mbkit.kernels.compile import array_address

    order, later, position, starts = elimination
    firsts = np.cumsum(sizes) - sizes
    blocks = np.zeros(len(order), layout.BLOCK)
    neighbours = packed([n for o in later[c] for n in (position[o], starts[o, c])] for c in order)
    updates = packed(
        [starts[p, q] for i, p in enumerate(later[c]) for q in later[c][: i + 1]] for c in order
    )
    for block, c, *lists in zip(blocks, order, neighbours, updates, strict=True):
        block["first_row"], block["num_rows"] = firsts[c], sizes[c]
        block["is_separator"] = c >= len(constraints)
        block["start"] = starts[c, c]
        block["neighbours"], block["updates"] = map(array_address, lists)
        block["num_neighbours"], block["num_updates"] = len(later[c]), len(lists[1]) - 1
    return blocks, [*neighbours, *updates]


def _separators(
    held: list[tuple[int, int]],
    separators: list[int],
    places: list[dict[int, int]],
    bodies: Any,
    elimination: Any,
) -> Any:
    """Return SEPARATOR rows, and one more: an empty array has no address of its own."""
    sizes, position, starts = elimination
    entries = np.zeros(len(held) + 1, layout.SEPARATOR)
    for entry, (node, c) in zip(entries, held, strict=False):
        row = separators[node - len(places)]
        entry["constraint"], entry["place"], entry["row"] = c, places[c][row], row
        entry["num_columns"] = columns = sizes[node]
        entry["velocity"] = bodies[row]["first_velocity"] + columns - 1
        separator_is_later = position[node] > position[c]
        entry["target"] = starts[(node, c) if separator_is_later else (c, node)]
        strides = (1, sizes[c]) if separator_is_later else (columns, 1)
        entry["row_stride"], entry["column_stride"] = strides
    return entries
