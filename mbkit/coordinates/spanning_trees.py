"""The spanning tree of relative coordinates."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mbkit.coordinates.cut_bodies import all_cuts, cut_bodies, weld_name
from mbkit.errors import InertiaError
from mbkit.model import check_inertias
from mbkit.model.graph import graph_of
from mbkit.topology import build_topology

if TYPE_CHECKING:
    from mbkit.coordinates.cut_bodies import Cut
    from mbkit.parts.parts import Parts
    from mbkit.topology import BodyGraph, Topology

#: Cuts that are tried where the best one leaves a branch without inertia.
_CUTS_TRIED = 20


def spanning_tree(
    divided: Parts, cut: Iterable[str], loop_joints: Iterable[str] | None = None
) -> Topology:
    """Return a spanning tree in which all motions have inertia; by default the best.

    `cut` names split bodies, whose welds are loop joints beside the given ones. TopologyError if a
    body is not connected to the world, or the loop joints leave no tree; InertiaError if a motion
    at the end of a branch has no inertia, also with the 20 best cuts.
    """
    welds = [weld_name(body) for body in cut]
    loops = None if loop_joints is None else (*loop_joints, *welds)
    return _with_inertia(divided, graph_of(divided, welds), loops)


def relative_tree(whole: Parts) -> tuple[Parts, Topology]:
    """Return the default tree of `mbkit.RelativeCoordinates`, and its bodies and joints.

    If each tree leaves a motion without inertia, it is the best tree otherwise.
    """
    cuts: Mapping[str, Cut] = all_cuts(whole, {})
    divided = cut_bodies(whole, cuts)
    try:
        return divided, spanning_tree(divided, cuts)
    except InertiaError:
        return divided, build_topology(graph_of(divided, [weld_name(body) for body in cuts]))


def _with_inertia(parts: Parts, graph: BodyGraph, loop_joints: tuple[str, ...] | None) -> Topology:
    """Return the spanning tree; without `loop_joints` the best in which all motions have inertia.

    If there is none among the best, raise what the first one lacks.
    """
    best = build_topology(graph, loop_joints)
    try:
        check_inertias(parts, best)
    except InertiaError:
        if loop_joints is not None or not best.loop_joints:
            raise
        for cut in best.cuts(_CUTS_TRIED):
            other = build_topology(graph, cut.loop_joints)
            with contextlib.suppress(InertiaError):
                check_inertias(parts, other)
                return other
        raise
    return best
