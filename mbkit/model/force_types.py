"""Names of force classes in model files."""

from __future__ import annotations

from mbkit.forces import (
    BodyWrench,
    Bushing,
    Drag,
    DryFriction,
    Force,
    JointDamper,
    JointEffort,
    JointSpring,
    LimitStop,
    SpringDamper,
    UniformField,
)

__all__ = ["FORCE_TYPES", "force_type_name"]

FORCE_TYPES: dict[str, type[Force]] = {
    "joint_spring": JointSpring,
    "joint_damper": JointDamper,
    "dry_friction": DryFriction,
    "joint_effort": JointEffort,
    "limit_stop": LimitStop,
    "spring_damper": SpringDamper,
    "bushing": Bushing,
    "body_wrench": BodyWrench,
    "uniform_field": UniformField,
    "drag": Drag,
}


def force_type_name(force: Force) -> str:
    """Return how model files call the class of a force; ``module:Class`` for those of users.

    Parameters
    ----------
    force : Force
        Any force.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> force_type_name(JointDamper("oil", "axle", damping=0.1))
    'joint_damper'
    """
    kind = type(force)
    for name, known in FORCE_TYPES.items():
        if kind is known:
            return name
    return f"{kind.__module__}:{kind.__qualname__}"
