"""The graph of a mechanism: bodies are its nodes, joints its edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from mbkit.errors import DuplicateNameError, NameUnknownError, TopologyError, check_name, suggestion
from mbkit.topology.edge import WORLD, JointEdge

__all__ = ["BodyGraph"]


class BodyGraph:
    """Names of bodies and joints, which joint connects which bodies, and how freely.

    It holds a `networkx.MultiDiGraph` with the world as its first node; an edge goes from a joint's
    predecessor to its successor, and its key is the joint's name.

    Examples
    --------
    >>> graph = BodyGraph()
    >>> graph.add_body("rod")
    >>> graph.add_joint("hinge", "world", "rod")
    >>> list(graph.joints())
    [('hinge', 'world', 'rod')]
    """

    def __init__(self) -> None:
        import networkx as nx

        self._graph = nx.MultiDiGraph()
        self._graph.add_node(WORLD)
        self._edges: dict[str, JointEdge] = {}

    def add_body(self, name: str) -> None:
        """Add a body that no joint holds yet.

        Parameters
        ----------
        name : str
            Its name.

        Raises
        ------
        DuplicateNameError, ModelError
            If there is a body of that name, or the name does not fit (`check_name`).
        """
        check_name("Body", name)
        if name == WORLD:
            raise DuplicateNameError(
                f"Body name {WORLD!r} is taken by the inertial frame; choose another."
            )
        if name in self._graph:
            raise DuplicateNameError(f"Body {name!r} is in the mechanism already; rename one.")
        self._graph.add_node(name)

    def check_joint(self, name: str, predecessor: str, successor: str) -> None:
        """Raise unless `add_joint` would accept these.

        Parameters
        ----------
        name : str
            Name of the joint.
        predecessor, successor : str
            Names of bodies.

        Raises
        ------
        DuplicateNameError, NameUnknownError, TopologyError, ModelError
            If there is a joint of that name, a body is unknown, or both are the same.
        """
        check_name("Joint", name)
        if name in self._edges:
            raise DuplicateNameError(f"Joint {name!r} is in the mechanism already; rename one.")
        for role, body in (("predecessor", predecessor), ("successor", successor)):
            if body not in self._graph:
                raise NameUnknownError(
                    f"Joint {name!r} has the {role} {body!r}, which is no body of the mechanism; "
                    f"{suggestion(body, self._graph)}"
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
    ) -> None:
        """Connect two bodies.

        Parameters
        ----------
        name : str
            Name of the joint.
        predecessor, successor : str
            Names of two different bodies.
        freedom : int, default 6
            Number of the joint's velocities; with 6 it constrains nothing.
        num_positions : int, default as many
            Number of its positions.
        held : str, default ""
            Why it must stay in the tree, if it must; see `JointEdge`.
        is_cut : bool, default False
            Whether it closes a loop whatever else does.

        Raises
        ------
        DuplicateNameError, NameUnknownError, TopologyError, ModelError
            As `check_joint` does.
        """
        self.check_joint(name, predecessor, successor)
        self._graph.add_edge(predecessor, successor, key=name)
        positions = freedom if num_positions is None else num_positions
        self._edges[name] = JointEdge(
            name, predecessor, successor, freedom, positions, held, is_cut
        )

    def bodies(self) -> Iterator[str]:
        """Return the names of the bodies in the order of adding, the world first."""
        return iter(self._graph)

    def joints(self) -> Iterator[tuple[str, str, str]]:
        """Return (name, predecessor, successor) of the joints in the order of adding."""
        return ((edge.name, edge.predecessor, edge.successor) for edge in self._edges.values())

    def edges(self) -> tuple[JointEdge, ...]:
        """Return the joints in the order of adding."""
        return tuple(self._edges.values())

    def groups(self, without: Collection[str] = ()) -> list[tuple[str, ...]]:
        """Return which bodies are connected with each other.

        Parameters
        ----------
        without : collection of str
            Names of joints that do not count.

        Returns
        -------
        list of tuple of str
            Groups of bodies in the order of adding, the world's first.

        Examples
        --------
        >>> graph = BodyGraph()
        >>> for name in ("a", "b", "c"):
        ...     graph.add_body(name)
        >>> graph.add_joint("hinge", "c", "a")
        >>> graph.groups()
        [('world',), ('a', 'c'), ('b',)]
        """
        import networkx as nx

        left = nx.Graph()
        left.add_nodes_from(self._graph)
        left.add_edges_from(
            (edge.predecessor, edge.successor)
            for edge in self._edges.values()
            if edge.name not in without
        )
        number = {body: k for k, body in enumerate(left)}
        components = (
            sorted(group, key=number.__getitem__) for group in nx.connected_components(left)
        )
        return [tuple(group) for group in components]

    def copy(self) -> Any:
        """Return a `networkx.MultiDiGraph` that is the caller's own."""
        return self._graph.copy()
