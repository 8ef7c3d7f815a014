"""Names of joint classes in model files."""

from __future__ import annotations

from mbkit.joints import (
    FixedJoint,
    FreeJoint,
    HelicalJoint,
    Joint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    SphericalJoint,
)

__all__ = ["JOINT_TYPES", "type_name"]

JOINT_TYPES: dict[str, type[Joint]] = {
    "screw": ScrewJoint,
    "revolute": RevoluteJoint,
    "prismatic": PrismaticJoint,
    "helical": HelicalJoint,
    "spherical": SphericalJoint,
    "free": FreeJoint,
    "fixed": FixedJoint,
}


def type_name(joint: Joint) -> str:
    """Return how model files call the class of a joint; ``module:Class`` for those of users.

    Parameters
    ----------
    joint : Joint
        Any joint.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> type_name(FreeJoint("base"))
    'free'
    """
    kind = type(joint)
    for name, known in JOINT_TYPES.items():
        if kind is known:
            return name
    return f"{kind.__module__}:{kind.__qualname__}"
