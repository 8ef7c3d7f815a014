"""Joints that forces act along: those of forces that name none, and those of springs and stops."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mbkit.coordinates.spanning_trees import relative_tree
from mbkit.errors import ForceError, listed
from mbkit.forces.bases.joint_force import PositionForce

if TYPE_CHECKING:
    from mbkit.forces import Force
    from mbkit.parts.parts import Parts


def unnamed_joints(parts: Parts) -> tuple[str, ...]:
    """Return the moving joints of the relative tree; none if each force names its joints."""
    if _unnamed(parts) is None:
        return ()
    in_tree = set(relative_tree(parts)[1].tree_joints)
    return tuple(
        name for name, e in parts.joints.items() if name in in_tree and e.joint.num_velocities
    )


def check_unnamed_joints(parts: Parts, joints: Collection[str], kept: Collection[str]) -> None:
    """Raise ForceError where a force would act along `unnamed_joints` that have no coordinates."""
    missing = [name for name in joints if name not in kept]
    force = _unnamed(parts)
    if missing and force is not None:
        raise ForceError(
            f"Force {force.name!r} names no joints, and so acts along those that are in the tree "
            f"in relative coordinates; of these {listed(missing)} have no coordinates here. Add "
            f"the force to the mechanism before it is assembled, or let them keep theirs by "
            f"AbsoluteCoordinates(joints={missing!r})."
        )


def _unnamed(parts: Parts) -> Force | None:
    """Return the first force on joints that names none."""
    for force in parts.forces.values():
        if not force.joints and force.acts_on != "bodies":
            return force
    return None


def check_positions(parts: Parts, loop_joints: Collection[str]) -> None:
    """Raise ForceError where a spring or stop acts along velocities that are no rates of positions.

    It would not do the work of its potential. Loop joints have no coordinates.
    """
    for force in parts.forces.values():
        if not isinstance(force, PositionForce) or force.joint in loop_joints:
            continue
        edge = parts.joints.get(force.joint)  # of an unknown name others speak
        if edge is not None and not edge.joint.positions_add:
            raise ForceError(
                f"Force {force.name!r}: velocities of joint {force.joint!r}, of type "
                f"{type(edge.joint).__name__}, are not the rates of its positions, so that "
                f"{type(force).__name__} would not do the work of its potential energy; choose "
                f"coordinates of the joint that add, or use a Bushing between its bodies."
            )
