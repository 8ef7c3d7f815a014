"""Which constraints act on each other, and in which order their multipliers are eliminated."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["blocks_and_pairs"]

#: Up to so many rows all are eliminated as one block, the largest pivots first.
ONE_BLOCK = 36


def blocks_and_pairs(constraints: Any, supports: list[Any], bodies: Any) -> tuple[Any, ...]:
    """Return PAIR and BLOCK rows, the size of the Gram matrix, and what the rows point to.

    Two constraints are coupled where they move a common velocity. Eliminating one couples all that
    it is coupled with; the one with the fewest goes first (minimum degree), which keeps chains of
    loops narrow.

    Parameters
    ----------
    constraints : ndarray of CONSTRAINT
        With their rows counted.
    supports : list of ndarray
        The rows of the tree that carry each of them.
    bodies : ndarray of BODY
        The tree.
    """
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.constraints import layout

    sizes = constraints["num_rows"].tolist()
    columns = [_places(support, bodies) for support in supports]
    coupled = _coupled(columns)
    if sum(sizes) <= ONE_BLOCK:
        blocks = np.zeros(1, layout.BLOCK)
        nothing = np.zeros(1, dtype=np.int64)
        blocks[0]["num_rows"] = size = sum(sizes)
        blocks[0]["neighbours"] = blocks[0]["updates"] = array_address(nothing)
        firsts = constraints["first_row"].tolist()
        wanted = [
            (high, low, firsts[high] * size + firsts[low], size)
            for a, b in coupled
            for high, low in {(a, b), (b, a)}
        ]
        pairs, owners = _pairs(wanted, columns, bodies)
        return pairs, blocks, size * size, [nothing, *owners]
    return _sparse(constraints, columns, coupled, bodies)


def _places(support: Any, bodies: Any) -> dict[int, int]:
    """Return the rows of the tree that a constraint moves, each with the place of its columns."""
    rows = support[:-1]
    counts = bodies["num_velocities"][rows]
    return dict(zip(rows.tolist(), (np.cumsum(counts) - counts).tolist(), strict=True))


def _coupled(columns: list[dict[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs (a, b), b <= a, that move a row in common; each with itself."""
    owners: dict[int, list[int]] = {}
    for a, own in enumerate(columns):
        for row in own:
            owners.setdefault(row, []).append(a)
    found = {(a, a) for a in range(len(columns))}
    for every in owners.values():
        found.update((a, b) for i, a in enumerate(every) for b in every[: i + 1])
    return sorted(found)


def _pairs(
    wanted: list[tuple[int, int, int, int]], columns: list[dict[int, int]], bodies: Any
) -> tuple[Any, list[Any]]:
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.constraints import layout

    pairs = np.zeros(len(wanted), layout.PAIR)
    counts = bodies["num_velocities"].tolist()
    lasts = (bodies["first_velocity"] + bodies["num_velocities"] - 1).tolist()
    owners = []
    for pair, (high, low, target, stride) in zip(pairs, wanted, strict=True):
        matches = [
            (place, columns[low][row], counts[row], lasts[row], row)
            for row, place in columns[high].items()
            if row in columns[low]
        ]
        flat = np.array([*(n for match in matches for n in match), 0], dtype=np.int64)
        owners.append(flat)
        pair["row"], pair["column"], pair["target"], pair["stride"] = high, low, target, stride
        pair["matches"], pair["num_matches"] = array_address(flat), len(matches)
    return pairs, owners


def _sparse(
    constraints: Any,
    columns: list[dict[int, int]],
    coupled: list[tuple[int, int]],
    bodies: Any,
) -> tuple[Any, ...]:
    """Return what `blocks_and_pairs` does, a block a constraint."""
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.constraints import layout

    sizes = constraints["num_rows"].tolist()
    order, later = minimum_degree(len(sizes), coupled)
    position = {c: k for k, c in enumerate(order)}
    starts: dict[tuple[int, int], int] = {}  # (later, earlier): where the coupling begins
    total = 0
    for c in order:
        for other in (c, *later[c]):
            starts[other, c] = total
            total += sizes[other] * sizes[c]
    blocks = np.zeros(len(order), layout.BLOCK)
    owners: list[Any] = []
    for block, c in zip(blocks, order, strict=True):
        neighbours = [n for other in later[c] for n in (position[other], starts[other, c])]
        updates = [starts[p, q] for i, p in enumerate(later[c]) for q in later[c][: i + 1]]
        lists = [np.array([*each, 0], dtype=np.int64) for each in (neighbours, updates)]
        owners += lists
        block["first_row"], block["num_rows"] = constraints["first_row"][c], sizes[c]
        block["start"] = starts[c, c]
        block["neighbours"], block["updates"] = map(array_address, lists)
        block["num_neighbours"], block["num_updates"] = len(later[c]), len(updates)
    wanted = []
    for a, b in coupled:
        high, low = (a, b) if position[a] >= position[b] else (b, a)
        wanted.append((high, low, starts[high, low], sizes[low]))
    pairs, matches = _pairs(wanted, columns, bodies)
    return pairs, blocks, total, [*owners, *matches]


def minimum_degree(
    count: int, coupled: list[tuple[int, int]]
) -> tuple[list[int], dict[int, list[int]]]:
    """Return an order of elimination, and for each node those that are coupled with it after it.

    Parameters
    ----------
    count : int
        Number of nodes.
    coupled : list of (int, int)
        Pairs of nodes.

    Returns
    -------
    order : list of int
        The nodes; of those with fewest neighbours left, the lowest number goes first.
    later : dict of int to list of int
        Neighbours at its elimination, in the order of theirs.

    Examples
    --------
    A chain: from its ends inwards, so that none is coupled with more than one.

    >>> minimum_degree(4, [(0, 1), (1, 2), (2, 3)])
    ([0, 1, 2, 3], {0: [1], 1: [2], 2: [3], 3: []})
    """
    import heapq

    around: list[set[int]] = [set() for _ in range(count)]
    for a, b in coupled:
        if a != b:
            around[a].add(b)
            around[b].add(a)
    heap = [(len(each), node) for node, each in enumerate(around)]
    heapq.heapify(heap)
    order: list[int] = []
    at: dict[int, int] = {}
    left: dict[int, set[int]] = {}
    while heap:
        degree, node = heapq.heappop(heap)
        if node in at or degree != len(around[node]):
            continue
        at[node] = len(order)
        order.append(node)
        left[node] = neighbours = around[node]
        for each in neighbours:
            around[each] |= neighbours
            around[each] -= {each, node}
            heapq.heappush(heap, (len(around[each]), each))
    return order, {node: sorted(left[node], key=at.__getitem__) for node in order}
