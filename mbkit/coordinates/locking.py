"""Mechanisms with some joints locked where they are: fixed joints in their place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import (
    ConstraintError,
    ForceError,
    NameUnknownError,
    NotFiniteError,
    ShapeError,
    listed,
    suggestion,
)
from mbkit.joints import FixedJoint
from mbkit.joints.defaults.poses import pose_of
from mbkit.lie.arrays import as_floats
from mbkit.parts.connection import Connection
from mbkit.spatial.frames import check_pose

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts
    from mbkit.systems.calls.arguments import Floats

#: How a joint is held where something acts along it and along others.
_REMEDY = "or hold it by joint.prescribe(position) in the mechanism, which keeps its coordinates"


def locked_positions(
    parts: Parts, values: Mapping[str, Any]
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Return where joints are locked: as given, or for None at the reference configuration.

    And the names of the constraints along them alone.
    """
    found = {}
    for name, value in values.items():
        edge = parts.joints.get(name)
        if edge is None:
            raise NameUnknownError(
                f"with_locked: mechanism '{parts.name}' has no joint {name!r}; "
                f"{suggestion(name, parts.joints)}"
            )
        what = f"with_locked: the position of joint '{name}'"
        q = edge.reference if value is None else np.atleast_1d(as_floats(value, what))
        if q.shape != (edge.joint.num_positions,):
            raise ShapeError(
                f"{what} must have {edge.joint.num_positions} numbers, got shape {q.shape}."
            )
        if not np.isfinite(q).all():
            raise NotFiniteError(f"{what} must be finite, got {q.tolist()}.")
        found[name] = q
    constraints = parts.constraints.items()
    return found, tuple(n for n, each in constraints if is_left_out(each, found))


def locked(parts: Parts, positions: Mapping[str, Floats]) -> Parts:
    """Return the parts with fixed joints in place of those that are locked.

    Forces and constraints along locked joints alone are left out: they move nothing. Raise where
    one acts along others as well.
    """
    joints = dict(parts.joints)
    for name, q in positions.items():
        edge = joints[name]
        T = pose_of(edge.joint, q)
        check_pose(T, f"with_locked: the pose of joint '{name}' at {q.tolist()}")
        joints[name] = Connection(
            FixedJoint(name), edge.predecessor, edge.successor, edge.S_pred @ T, edge.S_succ
        )
    forces = {
        name: each for name, each in parts.forces.items()
        if not _left_out(parts, each, positions, f"Force '{name}'", ForceError)
    }  # fmt: skip
    constraints = {
        name: each for name, each in parts.constraints.items()
        if not _left_out(parts, each, positions, f"Constraint '{name}'", ConstraintError)
    }  # fmt: skip
    return attrs.evolve(
        parts, joints=MappingProxyType(joints), forces=MappingProxyType(forces),
        constraints=MappingProxyType(constraints),
    )  # fmt: skip


def is_left_out(part: Any, positions: Mapping[str, Floats]) -> bool:
    """Whether a force or constraint is along locked joints alone."""
    along = tuple(part.joints)
    acts_on_bodies = getattr(part, "acts_on", "joints") == "bodies" or bool(part.bodies)
    return bool(along) and not acts_on_bodies and all(name in positions for name in along)


def _left_out(
    parts: Parts, part: Any, positions: Mapping[str, Floats], what: str, error: type[Exception]
) -> bool:
    """Return whether something is along locked joints alone; raise where along others too."""
    along = tuple(part.joints)
    if not along and getattr(part, "acts_on", "bodies") == "joints":  # of all joints
        along = tuple(name for name, edge in parts.joints.items() if edge.joint.num_velocities)
    of_locked = [name for name in along if name in positions]
    if not of_locked:
        return False
    if is_left_out(part, positions):
        return True
    others = [name for name in along if name not in positions]
    beside = f"and of {listed(others)}" if others else "and of bodies"
    together = "lock these as well, " if others and part.joints else ""
    raise error(
        f"{what} is a function of joint {listed(of_locked)}, which is to be locked, {beside}: "
        f"{together}leave it out of the mechanism, {_REMEDY}."
    )
