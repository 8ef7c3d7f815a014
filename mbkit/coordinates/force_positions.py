"""Joints that a force of positions may act along: their velocities are their rates."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mbkit.errors import ForceError
from mbkit.forces.joint_force import PositionForce

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts

__all__ = ["check_positions"]


def check_positions(parts: Parts, loop_joints: Collection[str]) -> None:
    """Raise ForceError where a spring or stop acts along velocities that are no rates of positions.

    It would not do the work that its potential says. Loop joints have no coordinates.
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
