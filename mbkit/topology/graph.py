"""The graph of a mechanism: bodies are its nodes, joints its edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, final

import attrs

from mbkit.errors import DuplicateNameError, NameUnknownError, TopologyError, listed, suggestion
from mbkit.given_values import check_name
from mbkit.topology.forest import Forest

#: The name of body 0.
WORLD = "world"


@final
@attrs.frozen
class JointEdge:
    """An edge of the graph of bodies.

    Attributes
    ----------
    name : str
        Of the joint.
    predecessor, successor : str
        Names of its bodies.
    num_velocities : int, default 6
        Its freedom; with 6 it constrains nothing.
    num_positions : int, default 6
        Entries of q that it has while it is in the tree.
    held : str, default ""
        Why the joint must stay in the tree, as the end of a sentence about it; empty if it need
        not.
    is_cut : bool, default False
        Whether it closes a loop whatever else does: a weld between the two parts of a split body.
    is_searched : bool, default False
        Whether its configuration would have to be searched for where it closes a loop.

    Examples
    --------
    >>> JointEdge("hinge", "world", "door", num_velocities=1, num_positions=1).num_constraints
    5
    """

    name: str
    predecessor: str
    successor: str
    num_velocities: int = 6
    num_positions: int = 6
    held: str = ""
    is_cut: bool = False
    is_searched: bool = False

    @property
    def num_constraints(self) -> int:
        """Number of constraint rows that it gives as a loop joint."""
        return 6 - self.num_velocities


class BodyGraph:
    """Names of bodies and joints, which joint connects which bodies, and how freely.

    The world is the first body; a joint goes from its predecessor to its successor.

    Examples
    --------
    >>> graph = BodyGraph()
    >>> graph.add_body("rod")
    >>> graph.add_joint("hinge", "world", "rod")
    >>> list(graph.joints())
    [('hinge', 'world', 'rod')]
    """

    def __init__(self) -> None:
        self._bodies: dict[str, None] = {WORLD: None}  # a set with an order
        self._edges: dict[str, JointEdge] = {}

    def add_body(self, name: str) -> None:
        """Add a body that no joint holds yet; ModelError if its name is taken or does not fit."""
        check_name("Body", name)
        if name == WORLD:
            raise DuplicateNameError(
                f"Body name {WORLD!r} is taken by the inertial frame; choose another."
            )
        if name in self._bodies:
            raise DuplicateNameError(f"Body {name!r} is in the mechanism already; rename one.")
        self._bodies[name] = None

    def check_joint(self, name: str, predecessor: str, successor: str) -> None:
        """Raise unless `add_joint` would accept these names.

        DuplicateNameError, NameUnknownError or TopologyError if there is a joint of that name, a
        body is unknown, or both are the same; ModelError of `check_name`.
        """
        check_name("Joint", name)
        if name in self._edges:
            raise DuplicateNameError(f"Joint {name!r} is in the mechanism already; rename one.")
        for role, body in (("predecessor", predecessor), ("successor", successor)):
            if body not in self._bodies:
                raise NameUnknownError(
                    f"Joint {name!r} has the {role} {body!r}, which is no body of the mechanism; "
                    f"{suggestion(body, self._bodies)}"
                ).about(role)
        if predecessor == successor:
            raise TopologyError(
                f"Joint {name!r} connects body {predecessor!r} to itself; "
                "predecessor and successor must differ."
            )

    def add_joint(
        self,
        name: str,
        predecessor: str,
        successor: str,
        freedom: int = 6,
        *,
        num_positions: int | None = None,
        held: str = "",
        is_cut: bool = False,
        is_searched: bool = False,
    ) -> None:
        """Connect two bodies by a joint that `check_joint` accepts; its properties: `JointEdge`.

        With a freedom of 6 it constrains nothing; by default it has as many positions as
        velocities.
        """
        self.check_joint(name, predecessor, successor)
        positions = freedom if num_positions is None else num_positions
        self._edges[name] = JointEdge(
            name, predecessor, successor, freedom, positions, held, is_cut, is_searched
        )

    def bodies(self) -> Iterator[str]:
        """Return the names of the bodies in the order of adding, the world first."""
        return iter(self._bodies)

    def joints(self) -> Iterator[tuple[str, str, str]]:
        """Return (name, predecessor, successor) of the joints in the order of adding."""
        return ((edge.name, edge.predecessor, edge.successor) for edge in self._edges.values())

    def edges(self) -> tuple[JointEdge, ...]:
        """Return the joints in the order of adding."""
        return tuple(self._edges.values())

    def groups(self, without: Collection[str] = ()) -> list[tuple[str, ...]]:
        """Return groups of bodies that joints connect, but for those `without`, in their order.

        Examples
        --------
        >>> graph = BodyGraph()
        >>> for name in ("a", "b", "c"):
        ...     graph.add_body(name)
        >>> graph.add_joint("hinge", "c", "a")
        >>> graph.groups()
        [('world',), ('a', 'c'), ('b',)]
        """
        tree = Forest(self._bodies)
        for edge in self._edges.values():
            if edge.name not in without and not tree.connects(edge.predecessor, edge.successor):
                tree.add(edge.name, edge.predecessor, edge.successor)
        number = {body: k for k, body in enumerate(self._bodies)}
        return [tuple(sorted(group, key=number.__getitem__)) for group in tree.groups()]

    def copy(self) -> Any:
        """Return a `networkx.MultiDiGraph` that is the caller's own.

        An edge goes from a joint's predecessor to its successor; its key is the joint's name.
        """
        import networkx as nx

        graph = nx.MultiDiGraph()
        graph.add_nodes_from(self._bodies)
        for edge in self._edges.values():
            graph.add_edge(edge.predecessor, edge.successor, key=edge.name)
        return graph


_SHOWN = 4  # groups in a message


def check_connected(graph: BodyGraph, cut: Collection[str] = ()) -> None:
    """Raise TopologyError unless joints besides those that are cut connect every body to the world.

    Examples
    --------
    >>> graph = BodyGraph()
    >>> for name in ("hand", "finger"):
    ...     graph.add_body(name)
    >>> graph.add_joint("knuckle", "hand", "finger")
    >>> check_connected(graph)
    Traceback (most recent call last):
    mbkit.errors.TopologyError: Bodies 'hand', 'finger' must be connected to the world by joints, \
    and are not (joints connect them with each other only); connect one of \
    them, by mbkit.FreeJoint if the group floats: \
    mech.add_joint(mbkit.FreeJoint('hand (free)'), mech.world, 'hand').
    """
    _, *lost = graph.groups(without=cut)
    if not lost:
        return
    sentences = [_sentence(graph, group, cut) for group in lost[:_SHOWN]]
    if len(lost) > _SHOWN:
        sentences.append(f"So it is with {len(lost) - _SHOWN} more groups of bodies.")
    raise TopologyError(" ".join(sentences))


def _sentence(graph: BodyGraph, group: tuple[str, ...], cut: Collection[str]) -> str:
    one = len(group) == 1
    called = f"Body {group[0]!r}" if one else f"Bodies {listed(group)}"
    among = "" if one else " (joints connect them with each other only)"
    members = set(group)
    torn = [
        edge.name
        for edge in graph.edges()
        if edge.name in cut and (edge.predecessor in members) != (edge.successor in members)
    ]
    if torn:
        remedy = (
            f"do not cut {listed(torn)}" if len(torn) == 1 else f"cut only some of {listed(torn)}"
        )
    else:
        remedy = (
            f"connect {'it' if one else 'one of them'}, by mbkit.FreeJoint if "
            f"{'it' if one else 'the group'} floats: "
            f"mech.add_joint(mbkit.FreeJoint({f'{group[0]} (free)'!r}), mech.world, {group[0]!r})"
        )
    return (
        f"{called} must be connected to the world by joints, and {'is' if one else 'are'} not"
        f"{among}; {remedy}."
    )
