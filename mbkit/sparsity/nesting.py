"""Nested loops: the pattern of local elimination at their bases, and its cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.kernels.constraints import layout
from mbkit.sparsity.blocks import (
    ONE_BLOCK,
    block_rows,
    coupled_pairs,
    pair_rows,
    places_of,
    places_of_blocks,
)
from mbkit.sparsity.elimination_order import find_separators, minimum_degree
from mbkit.sparsity.packing import packed
from mbkit.sparsity.supports import Support, set_supports, supports_of

#: The further cost of a velocity of the tree, and of a row at a velocity that it passes. [products]
_VELOCITY = 600
_PROPAGATION = 40


def nested_pattern(
    constraints: Any, sites: Any, carriers: list[list[int]], bodies: Any
) -> dict[str, Any] | None:
    """Return the arrays of `ClosureArrays` for local elimination of loops at their bases.

    None if all bases are the world, if there is one block only, if there are separators, or if the
    elimination of all loops at once needs fewer products. `carriers` has by constraint the rows of
    the joints that it names.
    """
    sizes = constraints["num_rows"].tolist()
    if sum(sizes) <= ONE_BLOCK:
        return None
    parent = bodies["parent"].tolist()
    supports = supports_of(constraints, sites, carriers, parent, nested=True)
    bases = [each.base for each in supports]
    places = [places_of(each, bodies) for each in supports]
    if not any(bases) or find_separators(places, bodies):
        return None
    coupled = coupled_pairs(places)
    order, later = minimum_degree(len(sizes), coupled, turns=[-base for base in bases])
    if _cost(sizes, supports, later, bodies) > _least_cost_of_all_at_once(sizes, supports, bodies):
        return None
    return _pattern(constraints, supports, places, coupled, (order, later), bodies)


def _cost(
    sizes: list[int], supports: list[Support], later: dict[int, list[int]], bodies: Any
) -> float:
    """Return about how many products it takes to close each loop at its base."""
    counts = bodies["num_velocities"]
    total = float(_VELOCITY * counts.sum())
    for c, n in enumerate(sizes):
        beside = sum(sizes[other] for other in later[c]) + 6 * (supports[c].base != 0)
        total += n * (n + beside) ** 2
        total += (_PROPAGATION + n) * n * int(counts[supports[c].rows].sum())
    return total


def _least_cost_of_all_at_once(sizes: list[int], supports: list[Support], bodies: Any) -> float:
    """Return how many products it takes at least to close all loops at once.

    A row goes on from its base to the world; those that pass the same velocity are coupled.
    """
    passing = np.zeros(len(bodies))
    beyond = np.zeros(len(bodies))
    for n, support in zip(sizes, supports, strict=True):
        passing[support.rows] += n
        beyond[support.base] += n
    for i in range(len(bodies) - 1, 0, -1):
        beyond[bodies["parent"][i]] += beyond[i]
    passing[1:] += beyond[1:]
    products = bodies["num_velocities"] * passing * (_PROPAGATION + passing / 2.0)
    return float(products.sum() + passing.max() ** 3 / 3.0)


def _pattern(
    constraints: Any,
    supports: list[Support],
    places: list[dict[int, int]],
    coupled: list[tuple[int, int]],
    elimination: tuple[list[int], dict[int, list[int]]],
    bodies: Any,
) -> dict[str, Any]:
    """Return the arrays, and the arrays they point to."""
    constraints = constraints.copy()
    counts, paths, owners = set_supports(constraints, supports, bodies)
    order, later = elimination
    sizes = constraints["num_rows"].tolist()
    position = {c: k for k, c in enumerate(order)}
    starts, num_gram = places_of_blocks(order, later, sizes)
    blocks, pointed = block_rows(constraints, sizes, (order, later, position, starts))
    owners += pointed
    # the pairs of each block follow each other, for they are complete when it goes
    wanted = [(a, b) if position[a] >= position[b] else (b, a) for a, b in coupled]
    wanted.sort(key=lambda pair: position[pair[1]])
    targets = [(high, low, starts[high, low], sizes[low]) for high, low in wanted]
    pairs, pointed = pair_rows(targets, places, bodies)
    owners += pointed
    ends = np.searchsorted([position[low] for _, low in wanted], np.arange(len(order) + 1))
    blocks["first_pair"], blocks["num_pairs"] = ends[:-1], np.diff(ends)
    blocks["base_start"] = num_gram + 6 * (np.cumsum(blocks["num_rows"]) - blocks["num_rows"])
    propagated, num_propagated = _propagated(sizes, supports, paths)
    owners += _set_bases(blocks, order, later, supports, propagated)
    parent = bodies["parent"].tolist()
    propagations, first_propagations = _propagations(supports, places, paths, propagated, parent)
    arrays = {
        "constraints": constraints, "pairs": pairs, "blocks": blocks,
        "separators": np.zeros(1, layout.SEPARATOR), "propagations": propagations,
        "first_propagations": first_propagations,
    }  # fmt: skip
    for array in arrays.values():
        array.flags.writeable = False
    return {
        **arrays, **counts, "num_gram": num_gram + 6 * sum(sizes), "num_unknowns": sum(sizes),
        "num_propagated": num_propagated, "num_buffer": max(layout.BUFFER_SIZE, *sizes),
        "owners": tuple(owners),
    }  # fmt: skip


def _propagated(
    sizes: list[int], supports: list[Support], paths: list[list[tuple[int, int, bool]]]
) -> tuple[list[dict[int, int]], int]:
    """Return for each constraint where its wrenches lie, by row; and room for all of them."""
    found = []
    total = 0
    for size, support, own in zip(sizes, supports, paths, strict=True):
        rows = (*support.rows, support.base)
        found.append(
            {row: total + 6 * size * path for row, (path, _, _) in zip(rows, own, strict=True)}
        )
        total += 6 * size * (1 + max(path for path, _, _ in own))
    return found, total


def _set_bases(
    blocks: Any,
    order: list[int],
    later: dict[int, list[int]],
    supports: list[Support],
    propagated: list[dict[int, int]],
) -> list[Any]:
    """Write at which row each block is eliminated, and where wrenches are there."""
    from mbkit.kernels.compile import array_address

    bases = [supports[c].base for c in order]
    blocks["base_row"] = bases
    own = packed(
        [propagated[other][base] for other in (c, *later[c])]
        for c, base in zip(order, bases, strict=True)
    )
    blocks["propagated"] = [array_address(each) for each in own]
    return own


def _propagations(
    supports: list[Support],
    places: list[dict[int, int]],
    paths: list[list[tuple[int, int, bool]]],
    propagated: list[dict[int, int]],
    parent: list[int],
) -> tuple[Any, Any]:
    """Return PROPAGATION rows, one more than there are, and the first of each row of the tree."""
    entries = []
    for c, (support, own) in enumerate(zip(supports, paths, strict=True)):
        here = propagated[c]
        for row, (_, _, begins) in zip(support.rows, own, strict=False):
            entries.append((row, c, places[c][row], here[row], here[parent[row]], begins, False))
        if support.base != 0:
            begins = own[-1][2]
            entries.append((support.base, c, 0, here[support.base], 0, begins, True))
    entries.sort()
    propagations = np.zeros(len(entries) + 1, layout.PROPAGATION)
    for propagation, entry in zip(propagations, entries, strict=False):
        propagation["constraint"], propagation["place"], propagation["wrenches"] = entry[1:4]
        propagation["there"], propagation["begins"], propagation["ends"] = entry[4:]
    rows = [entry[0] for entry in entries]
    return propagations, np.searchsorted(rows, np.arange(len(parent) + 1)).astype(np.int64)
