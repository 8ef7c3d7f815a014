"""Joints as the graph of bodies knows them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mbkit.parts.connection import Connection
from mbkit.topology import BodyGraph

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts

__all__ = ["add_edge", "graph_of", "why_held"]


def add_edge(
    graph: BodyGraph, connection: Connection, *, is_cut: bool = False, needed: str = ""
) -> None:
    """Add a joint to a graph that has its bodies.

    Parameters
    ----------
    graph : BodyGraph
        Bodies and joints.
    connection : Connection
        The joint in its place.
    is_cut : bool
        Whether it closes a loop in any case; see `JointEdge`.
    needed : str
        Why the joint must have coordinates, if something says so.

    Raises
    ------
    DuplicateNameError, NameUnknownError, TopologyError, ModelError
        As `BodyGraph.check_joint` does.
    """
    joint = connection.joint
    graph.add_joint(
        joint.name,
        connection.predecessor,
        connection.successor,
        freedom=joint.num_velocities,
        num_positions=joint.num_positions,
        held=_why_held(connection, needed),
        is_cut=is_cut,
    )


def graph_of(parts: Parts, cut: Collection[str] = ()) -> BodyGraph:
    """Return the graph of the parts of a mechanism.

    Parameters
    ----------
    parts : Parts
        Bodies and joints.
    cut : collection of str
        Names of joints that close a loop in any case, such as the welds of `cut_bodies`.

    Returns
    -------
    BodyGraph
        Bodies and joints in their order.

    Examples
    --------
    >>> import mbkit as mb
    >>> from mbkit.parts.parts import Parts
    >>> mech = mb.Mechanism("door")
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge"), "world", mech.add_body(mb.Body("door")))
    >>> list(graph_of(Parts.of(mech)).joints())
    [('hinge', 'world', 'door')]
    """
    graph = BodyGraph()
    for body in parts.bodies:
        graph.add_body(body)
    needed = _needed(parts)
    for name, connection in parts.joints.items():
        add_edge(graph, connection, is_cut=name in cut, needed=needed.get(name, ""))
    return graph


def why_held(parts: Parts) -> dict[str, str]:
    """Return the joints that must have coordinates.

    Parameters
    ----------
    parts : Parts
        Of a mechanism.

    Returns
    -------
    dict of str to str
        By the name of the joint: why, as the end of a sentence about it.
    """
    needed = _needed(parts)
    reasons = {name: _why_held(e, needed.get(name, "")) for name, e in parts.joints.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _needed(parts: Parts) -> dict[str, str]:
    """Return the joints that forces and constraints act along, with a sentence on which."""
    needed = {
        joint: f"the force {force.name!r} acts along it"
        for force in parts.forces.values()
        for joint in force.joints
    }
    for constraint in parts.constraints.values():
        reason = f"the constraint {constraint.name!r} acts along it"
        needed.update(dict.fromkeys(constraint.joints, reason))
    return needed


def _why_held(connection: Connection, needed: str) -> str:
    """Return why a joint must stay in the tree, empty if it need not."""
    joint = connection.joint
    if connection.motion is not None:
        return "its motion is prescribed"
    if needed:
        return needed
    if joint.ndx != joint.num_velocities:
        return (
            f"it is nonholonomic: it has {joint.num_velocities} velocities, and positions of "
            f"{joint.ndx} dimensions"
        )
    return ""
