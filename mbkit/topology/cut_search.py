"""The search for joints to cut: a first tree, and its neighbours.

Bodies and joints are numbers here, the world is body 0, joints are in the order of adding.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple, final

import attrs

__all__ = ["CutGraph", "Ranking", "best_cut", "ranked_cuts"]

#: A search is content with so many trees, or so many bodies in them: half a second.
MOST_TREES = 10_000
MOST_BODIES = 1_000_000

Loops = frozenset[int]


@final
@attrs.frozen
class CutGraph:
    """A connected graph of bodies whose joints are to be cut."""

    num_bodies: int  # the world included
    ends: Sequence[tuple[int, int]]  # bodies of each joint
    rows: Sequence[int]  # constraint rows, or more, that each joint costs as a loop joint
    # whether it must stay in the tree; these joints must not close a loop among themselves
    is_held: Sequence[bool]
    neighbours: list[list[tuple[int, int]]] = attrs.field(init=False, repr=False)

    @neighbours.default
    def _list_neighbours(self) -> list[list[tuple[int, int]]]:
        """Return (joint, other body) for each body."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.num_bodies)]
        for joint, (a, b) in enumerate(self.ends):
            found[a].append((joint, b))
            found[b].append((joint, a))
        return found


class Ranking(NamedTuple):
    """The rank of a cut; the least is the best."""

    rows: int  # constraint rows of the loop joints
    depth: int  # the most joints of the tree between a body and the world
    total_depth: int  # the sum of that number over all bodies
    # less if the tree has the earlier one of the first two joints in which two trees differ
    order: tuple[int, ...]

    @property
    def loops(self) -> Loops:
        """The joints that are cut."""
        return frozenset(-joint for joint in self.order)


@attrs.define
class _Tree:
    """The tree that a cut leaves, by bodies."""

    parent: list[int]  # towards the world
    joint: list[int]  # that leads to it
    depth: list[int]  # number of joints up to the world


def _first_cut(graph: CutGraph) -> Loops:
    """Return the loop joints of a tree that is grown from the world.

    Of the joints that lead out of the tree, the next one is a held one, or one that costs the most
    rows; of several, one that starts at the least depth, and of these the one added first.

    Notes
    -----
    Prim's algorithm, so that the rows of the loop joints are fewest. Where all joints cost the
    same it is a search in breadth: every body has the least depth that it can have.
    """
    is_reached = [False] * graph.num_bodies
    left = set(range(len(graph.ends)))
    is_reached[0] = True
    frontier: list[tuple[int, int, int, int]] = []

    def extend(body: int, depth: int) -> None:
        for joint, other in graph.neighbours[body]:
            if not is_reached[other]:
                gain = -7 if graph.is_held[joint] else -graph.rows[joint]
                heapq.heappush(frontier, (gain, depth, joint, other))

    extend(0, 0)
    while frontier:
        _, depth, joint, body = heapq.heappop(frontier)
        if not is_reached[body]:
            is_reached[body] = True
            left.remove(joint)
            extend(body, depth + 1)
    return frozenset(left)


def best_cut(graph: CutGraph) -> Loops:
    """Return the loop joints that rank best.

    The rows are the fewest there can be. The rest of the ranking is the best there is where the
    joints of each block cost the same, and where the search sees all trees of so few rows;
    otherwise the best that was seen.
    """
    start = _first_cut(graph)
    if not start:  # a tree
        return start
    searched = start & _in_mixed_blocks(graph)
    if not searched:
        return start
    found, _ = _search(graph, start, keep_rows=True, kept=start - searched)
    return min(found).loops


def ranked_cuts(graph: CutGraph, chosen: Loops) -> tuple[list[Ranking], bool]:
    """Return cuts, best first, with a chosen one among them, and whether these are all."""
    found, are_all = _search(graph, best_cut(graph), keep_rows=False)
    if all(ranking.loops != chosen for ranking in found):
        found.append(_ranking(graph, chosen, _tree(graph, chosen)))
    return sorted(found), are_all


def _in_mixed_blocks(graph: CutGraph) -> Loops:
    """Return the joints of those blocks whose joints do not all have the same cost.

    A block is a part of the graph that no single body holds together. In one whose joints cost the
    same, the tree that is grown in breadth cannot be bettered.
    """
    import networkx as nx

    between: dict[tuple[int, int], list[int]] = {}
    for joint, (a, b) in enumerate(graph.ends):
        between.setdefault((min(a, b), max(a, b)), []).append(joint)
    mixed: set[int] = set()
    for block in nx.biconnected_component_edges(nx.Graph(list(between))):
        joints = [joint for a, b in block for joint in between[min(a, b), max(a, b)]]
        if len({(graph.rows[joint], graph.is_held[joint]) for joint in joints}) > 1:
            mixed.update(joints)
    return frozenset(mixed)


def _search(
    graph: CutGraph, start: Loops, *, keep_rows: bool, kept: Loops = frozenset()
) -> tuple[list[Ranking], bool]:
    """Return cuts that exchanges of one loop joint for one tree joint lead to, and if it is all.

    Notes
    -----
    Best first. Exchanges lead from any spanning tree to any other, and from one of fewest rows to
    any other such through such alone (the exchange property of the bases of a matroid).
    """
    first = _ranking(graph, start, _tree(graph, start))
    heap, seen, found = [first], {start}, [first]
    most = min(MOST_TREES, MOST_BODIES // graph.num_bodies)
    while heap:
        loops = heapq.heappop(heap).loops
        tree = _tree(graph, loops)
        for added, removed in _exchanges(graph, loops - kept, tree, keep_rows=keep_rows):
            other = loops - {added} | {removed}
            if other in seen:
                continue
            if len(found) > most:
                return found, False
            seen.add(other)
            ranking = _ranking(graph, other, _tree(graph, other))
            found.append(ranking)
            heapq.heappush(heap, ranking)
    return found, True


def _exchanges(
    graph: CutGraph, loops: Loops, tree: _Tree, *, keep_rows: bool
) -> list[tuple[int, int]]:
    """Return pairs of a loop joint and a joint of the tree on its cycle, the promising ones first.

    These are the ones of fewest rows, and among them those that leave two branches of like length.
    """
    pairs = []
    for added in loops:
        cycle = _cycle(graph, tree, added)
        for place, removed in enumerate(cycle):
            more = graph.rows[removed] - graph.rows[added]
            if removed != added and not graph.is_held[removed] and (more == 0 or not keep_rows):
                uneven = abs(len(cycle) - 1 - 2 * place)
                pairs.append((more, uneven, added, removed))
    return [(added, removed) for _, _, added, removed in sorted(pairs)]


def _cycle(graph: CutGraph, tree: _Tree, loop: int) -> list[int]:
    """Return the joints of a loop, from the body next to the world round to it."""
    a, b = graph.ends[loop]
    outward, inward = [], []
    while a != b:
        if tree.depth[a] >= tree.depth[b]:
            outward.append(tree.joint[a])
            a = tree.parent[a]
        else:
            inward.append(tree.joint[b])
            b = tree.parent[b]
    return [*reversed(outward), loop, *inward]


def _tree(graph: CutGraph, loops: Loops) -> _Tree:
    """Return who hangs on whom if the loop joints are cut."""
    tree = _Tree(*([-1] * graph.num_bodies for _ in range(3)))
    tree.depth[0] = 0
    reached = [0]
    for body in reached:  # which grows meanwhile
        for joint, other in graph.neighbours[body]:
            if tree.depth[other] < 0 and joint not in loops:
                tree.parent[other], tree.joint[other] = body, joint
                tree.depth[other] = tree.depth[body] + 1
                reached.append(other)
    return tree


def _ranking(graph: CutGraph, loops: Loops, tree: _Tree) -> Ranking:
    return Ranking(
        rows=sum(graph.rows[joint] for joint in loops),
        depth=max(tree.depth),
        total_depth=sum(tree.depth),
        order=tuple(-joint for joint in sorted(loops)),
    )
