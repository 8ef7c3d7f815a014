"""Names of the classes of joints, forces and constraints in model files."""

from __future__ import annotations

from mbkit.constraints import CONSTRAINT_TYPES, Constraint
from mbkit.forces import FORCE_TYPES, Force
from mbkit.joints import JOINT_TYPES, Joint

__all__ = ["type_name"]

_NAMES: dict[type, str] = {
    kind: name for known in (JOINT_TYPES, FORCE_TYPES, CONSTRAINT_TYPES)
    for name, kind in known.items()
}  # fmt: skip


def type_name(part: Joint | Force | Constraint) -> str:
    """Return how model files call the class of a part; ``module:Class`` for those of users.

    Examples
    --------
    >>> import mbkit as mb
    >>> type_name(mb.FreeJoint("base"))
    'free'
    >>> type_name(mb.JointDamper("oil", "axle", damping=0.1))
    'joint_damper'
    """
    kind = type(part)
    return _NAMES.get(kind, f"{kind.__module__}:{kind.__qualname__}")
