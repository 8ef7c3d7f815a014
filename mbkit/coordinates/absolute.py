"""Absolute coordinates: every body on a free joint, every joint a constraint."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, final

import attrs

from mbkit.coordinates.assembly import Assembly
from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.joints import FreeJoint, Joint
from mbkit.representations import BodyFixed, Representation
from mbkit.spatial.arrays import frozen_number
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.model import Mechanism
    from mbkit.model.parts import Parts

__all__ = ["AbsoluteCoordinates"]


def _names(joints: object) -> tuple[str, ...]:
    given: object = (joints,) if isinstance(joints, str) else joints
    names = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"AbsoluteCoordinates: joints must be names of joints, got {joints!r}; for example "
            "['hinge']."
        )
    return tuple(dict.fromkeys(names))


@final
@attrs.frozen
class AbsoluteCoordinates:
    joints: tuple[str, ...] = attrs.field(default=(), converter=_names, kw_only=True)
    length: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(frozen_number)
    )

    @length.validator
    def _check_length(self, _attribute: object, length: object) -> None:
        if length is not None and not (isinstance(length, float) and 0 < length < math.inf):
            raise UsageError(
                f"AbsoluteCoordinates: length must be a positive number of metres, got {length!r}."
            )

    @property
    def representation(self) -> Representation:
        return BodyFixed()

    def free_joint(self, name: str) -> Joint:
        return FreeJoint(name)

    def assemble(self, mechanism: Mechanism) -> System:
        from mbkit.coordinates.free_bodies import FreeBodies
        from mbkit.coordinates.free_topology import free_topology
        from mbkit.model.parts import Parts

        whole = Parts.of(mechanism)
        _check_connected(whole)
        acting = _acting(whole)
        division = FreeBodies.of(whole, self.free_joint, self._kept(whole, acting), acting)
        topology = free_topology(division.parts(whole), division)
        division.check(whole, topology)
        return Assembly(
            whole, topology, self.representation, "joint", self.length, division, coordinates=self
        ).system()

    def _kept(self, parts: Parts, acting: tuple[str, ...]) -> dict[str, str]:
        """Return the joints that keep their coordinates, and why, in the order of adding."""
        from mbkit.model.graph import why_held

        asked = dict.fromkeys(self.joints, "coordinates are asked of it")
        for name in asked:
            if name not in parts.joints:
                raise NameUnknownError(
                    f"AbsoluteCoordinates: joint {name!r} is not in mechanism {parts.name!r}; "
                    f"{suggestion(name, parts.joints)}"
                )
            if parts.joints[name].joint.num_velocities == 0:
                raise UsageError(
                    f"AbsoluteCoordinates: joint {name!r} does not move, and has no coordinates; "
                    f"leave it out of joints."
                )
        held = why_held(parts)
        unnamed = dict.fromkeys(acting, "a force acts along all joints")
        reasons = {**asked, **unnamed, **held}
        return {
            name: reasons[name]
            for name, edge in parts.joints.items()
            if name in reasons and edge.joint.num_velocities
        }


def _check_connected(parts: Parts) -> None:
    """Raise TopologyError unless joints lead from the world to every body."""
    from mbkit.coordinates.rigid_groups import spanning_steps
    from mbkit.model.graph import graph_of
    from mbkit.topology import WORLD, check_connected

    if sum(1 for _ in spanning_steps(parts.joints, (WORLD,))) < len(parts.bodies):
        check_connected(graph_of(parts))


def _acting(parts: Parts) -> tuple[str, ...]:
    """Return the joints that a force acts along which names none: those of a tree."""
    if all(force.joints or force.acts_on == "bodies" for force in parts.forces.values()):
        return ()
    from mbkit.coordinates.cut_bodies import all_cuts, cut_bodies, weld_name
    from mbkit.model.graph import graph_of
    from mbkit.topology import build_topology

    cuts = all_cuts(parts, {})
    divided = cut_bodies(parts, cuts)
    topology = build_topology(graph_of(divided, [weld_name(body) for body in cuts]))
    in_tree = set(topology.tree_joints)
    return tuple(
        name for name, e in parts.joints.items() if name in in_tree and e.joint.num_velocities
    )
