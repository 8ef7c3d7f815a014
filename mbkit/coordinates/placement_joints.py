"""Free joints at places of joints, along which derivatives by these are taken; joints alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.coordinates.centres_of_mass import centres_of_bodies, seen_from
from mbkit.joints import FreeJoint, Joint
from mbkit.model.parameters import changed
from mbkit.parts.body import Body
from mbkit.parts.connection import Connection
from mbkit.parts.placed_joints import placed_beside
from mbkit.spatial import SpatialInertia

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts
    from mbkit.systems.blueprint import ComputedJoint
    from mbkit.topology import Topology


def loosened(parts: Parts, places: Sequence[tuple[str, str]]) -> tuple[Parts, tuple[str, ...]]:
    """Return the parts with free joints at some places, and their names.

    A place S of a joint on a body, a joint and "S_pred" or "S_succ", becomes a free joint at rest,
    S exp(x), with a body without mass between; the free joints come after all others. Its steps x
    move all that is beyond, as a change of S does: derivatives by configurations of the loosened
    system are those by places. Those at S_succ have their successors beyond them: x is -1 times the
    change of S_succ.
    """
    bodies, joints = dict(parts.bodies), dict(parts.joints)
    names = []
    for joint, place in places:
        edge = joints[joint]
        name = f"{place} of {joint}"
        while name in bodies or name in joints:
            name += "'"
        bodies[name] = Body(name)
        if place == "S_pred":
            free = Connection(FreeJoint(name), edge.predecessor, name, edge.S_pred, np.eye(4))
            joints[joint] = attrs.evolve(edge, predecessor=name, S_pred=np.eye(4))
        else:
            free = Connection(FreeJoint(name), name, edge.successor, np.eye(4), edge.S_succ)
            joints[joint] = attrs.evolve(edge, successor=name, S_succ=np.eye(4))
        joints[name] = free
        names.append(name)
    return attrs.evolve(parts, bodies=bodies, joints=joints), tuple(names)


def alone(parts: Parts, joint: str) -> Parts:
    """Return a joint of the parts alone, between the world and a body."""
    edge = parts.joints[joint]
    body = Body("beyond it", SpatialInertia.sphere(1.0, radius=1.0))
    between = attrs.evolve(edge, predecessor=parts.world.name, successor=body.name, motion=None)
    return attrs.evolve(
        parts, bodies={body.name: body}, joints={joint: between}, forces={}, constraints={}
    )


def computed_joint(parts: Parts, topology: Topology, name: str) -> ComputedJoint:
    """Return a function that returns a joint of the tree as computed, and its frame K, (4, 4).

    With other numbers of the joint, by name; K stays beside the body's centre of mass as it is.
    """
    child, is_reversed = next((c, r) for c, _, joint, r in topology.tree_edges if joint == name)
    edge = parts.joints[name]
    far = edge.S_pred if is_reversed else edge.S_succ
    point = seen_from(far, centres_of_bodies(parts, topology)[child])

    def made(values: Mapping[str, ArrayLike]) -> tuple[Joint, Any]:
        joint = changed(parts, values).joints[name].joint if values else edge.joint
        return placed_beside(joint, point)

    return made
