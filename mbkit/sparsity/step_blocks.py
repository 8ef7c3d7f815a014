"""Newton's matrix of an implicit step by blocks: their pattern and elimination order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, final

import attrs
import numpy as np

from mbkit.kernels.implicit_integrators.layout import NODE
from mbkit.sparsity.elimination_order import minimum_degree
from mbkit.sparsity.step_coupling import Coupling, coupling_of
from mbkit.systems.memory.arrays import SystemArrays

__all__ = ["StepBlocks", "step_blocks"]

#: Numbers of the dense matrix that blocks must spare for each node, which takes as long as these
#: (decision 27).
SPARED = 500.0

#: Of all velocities, the largest part that one path, force or constraint may concern.
LARGEST_PART = 0.5


@final
@attrs.frozen(eq=False)
class StepBlocks:
    """The arrays of `mbkit.kernels.implicit_integrators` for a matrix by blocks."""

    # (nv,): the column of each velocity in matrices of derivatives: two share a column if no row of
    # the tree, and no constraint, is coupled with both
    column_of: Any
    num_columns: int  # number of columns
    num_entries: int  # number of entries of all blocks
    tables: dict[str, Any]  # by their names in the record IMPLICIT: NODE rows, and integers
    counts: dict[str, int]  # their lengths, by the same names


def step_blocks(arrays: SystemArrays, *, stabilised: bool) -> StepBlocks | None:
    """Return the blocks of a system, or None if a dense matrix is as fast.

    Unknowns are the velocities of each row of the tree, and of each constraint its multipliers,
    with eta where the step is stabilised: where constraints hold at position and velocity level.
    The one with fewest neighbours goes first, a constraint after the rows that it moves: then A
    P^-1 A^T of independent rows has nonzero pivots.
    """
    coupling = coupling_of(arrays, LARGEST_PART)
    if coupling is None:
        return None
    every = _nodes(coupling, stabilised=stabilised)
    n = sum(every.sizes)
    spared = n * n - SPARED * len(every.sizes)
    if spared <= 0.0:
        return None
    order, later = minimum_degree(len(every.sizes), every.coupled, after=every.after)
    layout = _Layout.of(every.sizes, order, later)
    if layout.num_entries >= spared:
        return None
    column_of, num_columns = _column_of(coupling)
    tables = {
        "nodes": layout.nodes,
        "order": np.array([k for node in order for k in every.unknowns[node]], dtype=np.int64),
        "neighbours": layout.neighbours,
        "updates": layout.updates,
        "pairs": _table(_pairs(coupling, layout), 5),
        "holds": _table(_holds(coupling, layout), 6),
        "pushes": _table(_pushes(coupling, layout) if stabilised else (), 5),
        "meetings": _table(_meetings(coupling, layout) if stabilised else (), 5),
    }
    names = ("nodes", "neighbours", "updates", "pairs", "holds", "pushes", "meetings")
    counts = {f"num_{name}": len(tables[name]) for name in names}
    return StepBlocks(
        column_of=column_of,
        num_columns=num_columns,
        num_entries=layout.num_entries,
        tables={name: _with_address(table) for name, table in tables.items()},
        counts=counts | {"num_entries": layout.num_entries},
    )


# ------------------------------------------------------------------------------- the unknowns


@attrs.frozen
class _Nodes:
    """Rows of the tree, then constraints: sizes, unknowns, and which are coupled."""

    sizes: list[int]
    unknowns: list[list[int]]
    coupled: list[tuple[int, int]]
    after: dict[int, set[int]]


def _nodes(coupling: Coupling, *, stabilised: bool) -> _Nodes:
    count = len(coupling.sizes)
    nv, m = sum(coupling.sizes), sum(coupling.num_rows)
    unknowns = [
        list(range(first, first + size))
        for first, size in zip(coupling.firsts, coupling.sizes, strict=True)
    ]
    for first, rows in zip(coupling.first_rows, coupling.num_rows, strict=True):
        own = list(range(nv + first, nv + first + rows))
        unknowns.append([*own, *(k + m for k in own)] if stabilised else own)
    coupled = {(i, j) for i, others in enumerate(coupling.meets) for j in others}
    for c, support in enumerate(coupling.supports):
        node = count + c
        reached = _pushed(coupling, support) if stabilised else support
        coupled.update((node, i) for i in reached)
        if stabilised:
            coupled.update((node, count + d) for i in support for d in coupling.held[i])
    after = {count + c: set(support) for c, support in enumerate(coupling.supports)}
    return _Nodes([len(each) for each in unknowns], unknowns, sorted(coupled), after)


def _pushed(coupling: Coupling, support: list[int]) -> set[int]:
    """Return the rows of the tree whose equations the velocities of others meet."""
    return {i for row in support for i in coupling.moves[row]}


def _column_of(coupling: Coupling) -> tuple[Any, int]:
    """Return the column of each velocity, and how many columns there are.

    Rows of the tree that meet a common one have different colours.
    """
    colours: list[int] = []
    widths: list[int] = []
    known: dict[int, int] = {}
    for i, size in enumerate(coupling.sizes):
        taken = {known.get(k) for j in coupling.meets[i] for k in coupling.meets[j]}
        colour = next(c for c in itertools.count() if c not in taken)
        known[i] = colour
        colours.append(colour)
        widths.extend([0] * (colour + 1 - len(widths)))
        widths[colour] = max(widths[colour], size)
    starts = np.cumsum(widths) - widths
    column_of = np.zeros(sum(coupling.sizes), dtype=np.int64)
    for first, size, colour in zip(coupling.firsts, coupling.sizes, colours, strict=True):
        column_of[first : first + size] = starts[colour] + np.arange(size)
    return column_of, sum(widths)


# --------------------------------------------------------------------------------- the blocks


@attrs.frozen
class _Layout:
    """Where the blocks are, of nodes in the order of elimination."""

    nodes: Any
    neighbours: Any
    updates: Any
    num_entries: int
    position: dict[int, int]
    within: dict[tuple[int, int], int]  # (node, later one): where this begins beside that

    @classmethod
    def of(cls, sizes: list[int], order: list[int], later: dict[int, list[int]]) -> _Layout:
        nodes = np.zeros(len(order), NODE)
        position = {node: k for k, node in enumerate(order)}
        within: dict[tuple[int, int], int] = {}
        own = np.array([sizes[node] for node in order], dtype=np.int64)
        nodes["count"] = own
        nodes["first"] = np.cumsum(own) - own
        widths = []
        for node in order:
            width = 0
            for other in later[node]:
                within[node, other] = width
                width += sizes[other]
            widths.append(width)
        nodes["width"] = widths
        numbers = own * (own + 2 * nodes["width"])
        nodes["right"] = np.cumsum(numbers) - numbers
        nodes["below"] = nodes["right"] + own * (own + nodes["width"])
        counts = np.array([len(later[node]) for node in order], dtype=np.int64)
        nodes["num_neighbours"] = counts
        nodes["first_neighbour"] = np.cumsum(counts) - counts
        nodes["first_update"] = 2 * (np.cumsum(counts**2) - counts**2)
        neighbours = np.array([position[other] for node in order for other in later[node]], int)
        made = cls(nodes, neighbours, None, int(numbers.sum()), position, within)
        found = [
            number
            for node in order
            for p in later[node]
            for q in later[node]
            for number in made.block(p, q)
        ]
        return attrs.evolve(made, updates=np.array(found, dtype=np.int64))

    def block(self, p: int, q: int) -> tuple[int, int]:
        """Return where the block of two nodes begins, and how far on its next row is."""
        a, b = self.position[p], self.position[q]
        first = self.nodes[min(a, b)]
        size, wide = int(first["count"]), int(first["count"] + first["width"])
        if a == b:
            return int(first["right"]), wide
        if a < b:
            return int(first["right"]) + size + self.within[p, q], wide
        return int(first["below"]) + self.within[q, p] * size, size


# --------------------------------------------------------------------------------- the tables


def _with_address(table: Any) -> Any:
    """Return the table, or one row of zeros: an empty array has no address of its own."""
    return table if len(table) else np.zeros((1, *table.shape[1:]), table.dtype)


def _table(rows: Iterable[tuple[int, ...]], size: int) -> Any:
    return np.array([*rows], dtype=np.int64).reshape(-1, size)


def _pairs(coupling: Coupling, layout: _Layout) -> Iterator[tuple[int, ...]]:
    for i, others in enumerate(coupling.meets):
        for j in sorted(others):
            yield i + 1, j + 1, *layout.block(i, j), int(j in coupling.moves[i])


def _holds(coupling: Coupling, layout: _Layout) -> Iterator[tuple[int, ...]]:
    count = len(coupling.sizes)
    for c, support in enumerate(coupling.supports):
        for i in support:
            yield c, i + 1, *layout.block(count + c, i), *layout.block(i, count + c)


def _pushes(coupling: Coupling, layout: _Layout) -> Iterator[tuple[int, ...]]:
    count = len(coupling.sizes)
    for c, support in enumerate(coupling.supports):
        for j in support:
            for i in sorted(coupling.moves[j]):
                yield i + 1, c, j + 1, *layout.block(i, count + c)


def _meetings(coupling: Coupling, layout: _Layout) -> Iterator[tuple[int, ...]]:
    count = len(coupling.sizes)
    for c, support in enumerate(coupling.supports):
        for i in support:
            for d in coupling.held[i]:
                yield c, d, i + 1, *layout.block(count + c, count + d)
