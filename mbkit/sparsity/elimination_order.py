"""Elimination order of multipliers, and bodies with many neighbours that stay unknowns."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["early_constraints", "find_separators", "minimum_degree"]

#: Constraints on one body from which on its velocities stay unknowns: an evaluation then takes six
#: tenths of the time that it takes where their couplings are multiplied out.
MANY = 8


def find_separators(places: list[dict[int, int]], bodies: Any) -> list[int]:
    """Return the separators, by row: floating bodies with many constraints, kept as unknowns.

    k constraints on one body are coupled with each other: k^2 blocks, and k^3 products to eliminate
    them. With the velocities of the body as unknowns each is coupled with these only. `places` has
    by constraint the rows of the tree that it moves.
    """
    counts: dict[int, int] = {}
    for own in places:
        for row in own:
            counts[row] = counts.get(row, 0) + 1
    return sorted(row for row, n in counts.items() if n >= MANY and bodies[row]["floating"] != 0)


def early_constraints(
    ends: list[tuple[int, int] | None], separators: list[int], bodies: Any
) -> set[int]:
    """Return the constraints that may be eliminated before separators, given by their rows.

    These are, first, joints that, step by step outwards, connect one more floating body to a
    separator or to a body that does not float: their rows are independent even with all of these
    held, as in a tree. Second, joints between two bodies reached from the same separator, or both
    from bodies that do not float: wrenches in their joints that leave these bodies at rest have no
    resultant on the separator, by action and reaction, so that rows depend on each other with the
    separator held if and only if they do with it free. This does not hold for loops through two
    separators, or a separator and the ground. `ends` has the two rows that a joint connects, None
    for other constraints.
    """
    around: dict[int, list[tuple[int, int]]] = {}
    for c, pair in enumerate(ends):
        if pair is not None and pair[0] != pair[1]:
            for a, b in (pair, pair[::-1]):
                around.setdefault(a, []).append((b, c))
    start = {row: 0 for row in around if bodies[row]["floating"] == 0} | {h: h for h in separators}
    waiting = deque(sorted(start))
    found = set()
    while waiting:
        row = waiting.popleft()
        for other, c in around.get(row, ()):
            if other not in start:
                start[other] = start[row]
                waiting.append(other)
                found.add(c)
            elif start[other] == start[row]:
                found.add(c)
    return found


def minimum_degree(
    count: int,
    coupled: list[tuple[int, int]],
    separators: frozenset[int] = frozenset(),
    early: frozenset[int] = frozenset(),
    *,
    turns: Sequence[int] | None = None,
    after: Mapping[int, set[int]] | None = None,
) -> tuple[list[int], dict[int, list[int]]]:
    """Return an order of elimination, and for each node those that are coupled with it after it.

    `coupled` has pairs of nodes. Of the nodes with fewest neighbours left, the lowest number goes
    first; neighbours are in the order of their elimination. Separators are bodies with many
    neighbours; early nodes may go before them, and any other waits until none of these is coupled
    with it. Nodes with a lower entry in `turns` go first, whatever their neighbours. A node in
    `after` waits for those it is coupled with there, and then goes before all others.

    Examples
    --------
    A chain: from its ends inwards, so that none is coupled with more than one.

    >>> minimum_degree(4, [(0, 1), (1, 2), (2, 3)])
    ([0, 1, 2, 3], {0: [1], 1: [2], 2: [3], 3: []})

    A wheel without rim, its separator 3: the spokes first.

    >>> minimum_degree(4, [(0, 3), (1, 3), (2, 3)], frozenset({3}), frozenset({0, 1, 2}))
    ([0, 1, 2, 3], {0: [3], 1: [3], 2: [3], 3: []})
    """
    import heapq

    around: list[set[int]] = [set() for _ in range(count)]
    for a, b in coupled:
        if a != b:
            around[a].add(b)
            around[b].add(a)
    first = separators | early if separators else separators
    turn = [0] * count if turns is None else turns
    waits = after or {}

    def rank(node: int) -> tuple[int, bool, int, int]:
        return turn[node], node not in waits, len(around[node]), node

    heap = [rank(node) for node in range(count)]
    heapq.heapify(heap)
    order: list[int] = []
    at: dict[int, int] = {}
    left: dict[int, set[int]] = {}
    while heap:
        *_, degree, node = heapq.heappop(heap)
        if node in at or degree != len(around[node]):
            continue
        if first and node not in first and not first.isdisjoint(around[node]):
            continue  # it comes again when one of them has gone
        if node in waits and not waits[node] <= at.keys():
            continue  # the same
        at[node] = len(order)
        order.append(node)
        left[node] = neighbours = around[node]
        for each in neighbours:
            around[each] |= neighbours
            around[each] -= {each, node}
            heapq.heappush(heap, rank(each))
    return order, {node: sorted(left[node], key=at.__getitem__) for node in order}
