"""The joints at which loops are cut, and the alternatives with the cost of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import final, overload

import attrs

from mbkit.given_values import whole_number
from mbkit.topology.cut_search import CutGraph, Ranking, best_cut, ranked_cuts
from mbkit.topology.graph import WORLD, JointEdge

_SHOWN = 8  # loop joints of a cut that are all named in a table

#: Rows that a searched joint costs besides its own as a loop joint: more than any others together.
_SEARCHED = 1_000_000


def choose_loop_joints(bodies: Sequence[str], edges: Sequence[JointEdge]) -> frozenset[str]:
    """Return the loop joints of the best cut; see `build_topology` for the criterion.

    Joints are in the order of adding, and connect all bodies, the world among them, without those
    that are cut anyway, which are among the names that are returned.
    """
    always = frozenset(edge.name for edge in edges if edge.is_cut)
    if len(edges) - len(always) == len(bodies) - 1:
        return always
    graph, joints = _graph(bodies, edges)
    return always.union(joints[k].name for k in best_cut(graph))


@final
@attrs.frozen
class Cut:
    """Loop joints that leave a spanning tree, and the sizes that follow from them.

    Attributes
    ----------
    loop_joints : tuple of str
        In the order of adding; to be given to `Mechanism.topology` or `RelativeCoordinates`.
    num_constraints : int
        Constraint rows of the loop joints: 6 for each, less its velocities.
    depth : int
        The most joints of the tree between a body and the world.
    mean_depth : float
        The mean of that number over the bodies.
    num_positions, num_velocities : int
        Sizes of q and v, those of the joints of the tree.
    """

    loop_joints: tuple[str, ...]
    num_constraints: int
    depth: int
    mean_depth: float
    num_positions: int
    num_velocities: int


@final
@attrs.frozen(repr=False)
class Cuts(Sequence[Cut]):
    """Ways to cut a mechanism, the best first; see `Topology.cuts`.

    A sequence of `Cut`; its text is a table, in which a star marks the cut that was chosen. Where
    there are more than eight loop joints, other cuts are listed by their differences from it.

    Attributes
    ----------
    alternatives : tuple of Cut
        Those that are listed.
    chosen : Cut
        The cut of the topology itself.
    num_found : int
        How many cuts were looked at.
    are_all : bool
        Whether there are no others.
    """

    alternatives: tuple[Cut, ...]
    chosen: Cut
    num_found: int
    are_all: bool

    def __len__(self) -> int:
        """Return how many are listed."""
        return len(self.alternatives)

    @overload
    def __getitem__(self, index: int) -> Cut: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Cut, ...]: ...

    def __getitem__(self, index: int | slice) -> Cut | tuple[Cut, ...]:
        """Return one, or several."""
        return self.alternatives[index]

    def __iter__(self) -> Iterator[Cut]:
        """Iterate over them, the best first."""
        return iter(self.alternatives)

    def __repr__(self) -> str:
        table: list[tuple[str, ...]] = [("", "rows", "depth", "mean", "nq", "nv", "loop joints")]
        table += [self._row(cut) for cut in self.alternatives]
        if self.chosen not in self.alternatives:
            table.append(self._row(self.chosen))
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join([*map(str.rjust, row[:-1], widths), row[-1]]).rstrip() for row in table]
        whole = "" if self.are_all else " that were looked at"
        lines.append(f"(the best {len(self)} of {self.num_found} cuts{whole})")
        return "\n".join(lines)

    def _row(self, cut: Cut) -> tuple[str, ...]:
        """Return the texts of a row; of many loop joints those that the chosen cut has not."""
        is_chosen = cut == self.chosen
        names = ", ".join(cut.loop_joints) or "none"
        if not is_chosen and len(cut.loop_joints) > _SHOWN:
            ours, theirs = cut.loop_joints, self.chosen.loop_joints
            added = ", ".join(name for name in ours if name not in theirs)
            names = f"{added} for {', '.join(name for name in theirs if name not in ours)}"
        return (
            "*" if is_chosen else "",
            str(cut.num_constraints),
            str(cut.depth),
            f"{cut.mean_depth:.2f}",
            str(cut.num_positions),
            str(cut.num_velocities),
            names,
        )


def list_cuts(
    bodies: Sequence[str], edges: Sequence[JointEdge], loop_joints: Collection[str], limit: int
) -> Cuts:
    """Return alternatives to a cut, at most `limit`, the best first; see `Topology.cuts`."""
    limit = whole_number("cuts: limit", limit, 1)
    graph, joints = _graph(bodies, edges)
    chosen = frozenset(k for k, edge in enumerate(joints) if edge.name in loop_joints)
    rankings, are_all = ranked_cuts(graph, chosen)
    return Cuts(
        alternatives=tuple(_cut(ranking, graph, edges, joints) for ranking in rankings[:limit]),
        chosen=_cut(next(r for r in rankings if r.loops == chosen), graph, edges, joints),
        num_found=len(rankings),
        are_all=are_all,
    )


def _graph(
    bodies: Sequence[str], edges: Sequence[JointEdge]
) -> tuple[CutGraph, Sequence[JointEdge]]:
    """Return the graph of the joints between which there is a choice, and these."""
    joints = [edge for edge in edges if not edge.is_cut]
    number = {body: k for k, body in enumerate([WORLD, *(b for b in bodies if b != WORLD)])}
    graph = CutGraph(
        num_bodies=len(bodies),
        ends=[(number[edge.predecessor], number[edge.successor]) for edge in joints],
        rows=[edge.num_constraints + _SEARCHED * edge.is_searched for edge in joints],
        is_held=[bool(edge.held) for edge in joints],
    )
    return graph, joints


def _cut(
    ranking: Ranking, graph: CutGraph, edges: Sequence[JointEdge], joints: Sequence[JointEdge]
) -> Cut:
    names = {joints[k].name for k in ranking.loops} | {edge.name for edge in edges if edge.is_cut}
    tree = [edge for edge in edges if edge.name not in names]
    loops = [edge for edge in edges if edge.name in names]
    return Cut(
        loop_joints=tuple(edge.name for edge in loops),
        num_constraints=sum(edge.num_constraints for edge in loops),
        depth=ranking.depth,
        mean_depth=ranking.total_depth / max(graph.num_bodies - 1, 1),
        num_positions=sum(edge.num_positions for edge in tree),
        num_velocities=sum(edge.num_velocities for edge in tree),
    )
