"""Names of joint classes in model files."""

from __future__ import annotations

from mbkit.joints import (
    AbsoluteJoint,
    CompositeJoint,
    ConstantVelocityJoint,
    CylindricalJoint,
    FixedJoint,
    FreeJoint,
    HelicalJoint,
    HelicalPlanarJoint,
    Joint,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    SchoenfliesJoint,
    ScrewJoint,
    SphericalJoint,
    TranslationalJoint,
    UniversalJoint,
)
from mbkit.model.type_names import name_of_type

__all__ = ["JOINT_TYPES", "type_name"]

JOINT_TYPES: dict[str, type[Joint]] = {
    "screw": ScrewJoint,
    "revolute": RevoluteJoint,
    "prismatic": PrismaticJoint,
    "helical": HelicalJoint,
    "cylindrical": CylindricalJoint,
    "universal": UniversalJoint,
    "constant_velocity": ConstantVelocityJoint,
    "translational": TranslationalJoint,
    "spherical": SphericalJoint,
    "planar": PlanarJoint,
    "helical_planar": HelicalPlanarJoint,
    "schoenflies": SchoenfliesJoint,
    "free": FreeJoint,
    "absolute": AbsoluteJoint,
    "fixed": FixedJoint,
    "composite": CompositeJoint,
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
    return name_of_type(type(joint), JOINT_TYPES)
