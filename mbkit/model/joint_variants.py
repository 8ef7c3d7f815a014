"""Mechanisms with other coordinates of their joints."""

from __future__ import annotations

import copy
from typing import Any

import attrs

from mbkit.joints.bases.subgroup_joint import SubgroupJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.model.graph import graph_of
from mbkit.model.mechanism import Mechanism
from mbkit.parts.connection import Connection
from mbkit.parts.parts import Parts

__all__ = ["with_joint_coordinates"]


def with_joint_coordinates(mechanism: Mechanism, kind: str) -> Mechanism | None:
    """Return a mechanism whose joints have coordinates of a kind, as far as their class has it.

    Parameters
    ----------
    mechanism : Mechanism
        It is not changed; bodies, forces and constraints are the same in both.
    kind : {"group", "first kind", "second kind"}
        Of the second kind in the joint's default order, unless it has one of its own.

    Returns
    -------
    Mechanism or None
        None where no joint has such coordinates.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> joint = mech.add_joint(mb.SphericalJoint("socket"), mech.world, ball)
    >>> with_joint_coordinates(mech, "first kind").assemble().nq
    3
    """
    joints = {name: _changed(each, kind) for name, each in mechanism.joints.items()}
    if not any(_has(each, kind) for each in joints.values()):
        return None
    made = copy.copy(mechanism)
    for name in ("_bodies", "_frames", "_forces", "_constraints"):
        setattr(made, name, dict(getattr(mechanism, name)))
    made._joints = joints
    made._graph = graph_of(Parts.of(made))
    return made


def _has(connection: Connection, kind: str) -> bool:
    joint = connection.joint
    return moves_as(joint, SubgroupJoint) and joint.coordinates == kind


def _changed(connection: Connection, kind: str) -> Connection:
    """Return a joint in its place with coordinates of a kind; itself where it has them, or none.

    A prescribed one keeps those that its motion is in.
    """
    joint: Any = connection.joint
    is_open = moves_as(joint, SubgroupJoint) and connection.motion is None
    if not is_open or joint.coordinates == kind or kind not in joint.kinds:
        return connection
    order = {"order": None} if "order" in attrs.fields_dict(type(joint)) else {}
    return attrs.evolve(connection, joint=attrs.evolve(joint, coordinates=kind, **order))
