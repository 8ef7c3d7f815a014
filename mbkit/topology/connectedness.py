"""Connectedness: joints lead from the world to every body, or the message says what is missing."""

from __future__ import annotations

from collections.abc import Collection

from mbkit.errors import TopologyError, listed
from mbkit.topology.graph import BodyGraph

__all__ = ["check_connected"]

_SHOWN = 4  # groups in a message


def check_connected(graph: BodyGraph, cut: Collection[str] = ()) -> None:
    """Raise unless joints connect every body to the world.

    Parameters
    ----------
    graph : BodyGraph
        Bodies and joints.
    cut : collection of str
        Names of joints that do not count.

    Raises
    ------
    TopologyError
        Naming the bodies, those that are connected with each other together, and which joint to
        add or not to cut.

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
