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
from mbkit.model.type_names import name_of_type

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
    return name_of_type(type(force), FORCE_TYPES)
