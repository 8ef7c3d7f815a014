"""Which joints a force of positions may act along: those whose velocities are their rates."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import ForceError
from mbkit.forces.joint_force import PositionForce

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.model.parts import Parts

__all__ = ["check_positions"]

#: Size of a step, and what its end may miss of q + dx, relative to it.
_STEP, _MISSED = 1e-5, 1e-3


def check_positions(parts: Parts, loop_joints: Collection[str]) -> None:
    """Raise ForceError where a spring or stop acts along velocities that are no rates of positions.

    It would not do the work that its potential says.

    Parameters
    ----------
    parts : Parts
        Joints and forces of a system.
    loop_joints : collection of str
        Names of joints without coordinates.
    """
    for force in parts.forces.values():
        if not isinstance(force, PositionForce) or force.joint in loop_joints:
            continue
        edge = parts.joints.get(force.joint)  # of an unknown name others speak
        if edge is not None and not _are_rates(edge.joint):
            raise ForceError(
                f"Force {force.name!r}: velocities of joint {force.joint!r}, of type "
                f"{type(edge.joint).__name__}, are not the rates of its positions, so that "
                f"{type(force).__name__} would not do the work of its potential energy; use a "
                f"Bushing between its bodies."
            )


def _are_rates(joint: Joint) -> bool:
    """Return whether a step leads from q to q + dx, which is looked at where it may not."""
    if joint.positions_add or not joint.num_positions == joint.num_velocities == joint.num_steps:
        return True
    rng = np.random.default_rng(0)
    q = np.asarray(joint.random(rng), dtype=np.float64)
    w = rng.normal(size=q.size)
    moved: Any = joint.retract(q, _STEP * w)
    return bool(np.abs((moved - q) / _STEP - w).max() <= _MISSED * np.abs(w).max())
