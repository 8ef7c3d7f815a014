"""Joints as edges of the graph of bodies."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mbkit.joints.defaults.own_methods import is_searched
from mbkit.parts.connection import Connection
from mbkit.topology import BodyGraph

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts


def add_edge(
    graph: BodyGraph, connection: Connection, *, is_cut: bool = False, needed: str = ""
) -> None:
    """Add a joint to a graph that has its bodies; errors as of `BodyGraph.check_joint`.

    `is_cut`: whether it closes a loop in any case, see `JointEdge`; `needed`: why it must have
    coordinates, if it must.
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
        is_searched=is_searched(joint),
    )


def graph_of(parts: Parts, cut: Collection[str] = ()) -> BodyGraph:
    """Return the graph of the parts of a mechanism, bodies and joints in their order.

    `cut` names joints that close a loop in any case, such as the welds of `cut_bodies`.

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
    """Return why joints must have coordinates, as the end of a sentence about each, by its name."""
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
