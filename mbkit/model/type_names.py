"""Names of the classes of joints, forces and constraints in model files."""

from __future__ import annotations

from mbkit import constraints, forces, joints

__all__ = ["CONSTRAINT_TYPES", "FORCE_TYPES", "JOINT_TYPES", "type_name"]

JOINT_TYPES: dict[str, type[joints.Joint]] = {
    "screw": joints.ScrewJoint,
    "revolute": joints.RevoluteJoint,
    "prismatic": joints.PrismaticJoint,
    "helical": joints.HelicalJoint,
    "cylindrical": joints.CylindricalJoint,
    "universal": joints.UniversalJoint,
    "constant_velocity": joints.ConstantVelocityJoint,
    "translational": joints.TranslationalJoint,
    "spherical": joints.SphericalJoint,
    "planar": joints.PlanarJoint,
    "helical_planar": joints.HelicalPlanarJoint,
    "schoenflies": joints.SchoenfliesJoint,
    "free": joints.FreeJoint,
    "absolute": joints.AbsoluteJoint,
    "fixed": joints.FixedJoint,
    "composite": joints.CompositeJoint,
}

FORCE_TYPES: dict[str, type[forces.Force]] = {
    "joint_spring": forces.JointSpring,
    "joint_damper": forces.JointDamper,
    "dry_friction": forces.DryFriction,
    "joint_effort": forces.JointEffort,
    "limit_stop": forces.LimitStop,
    "spring_damper": forces.SpringDamper,
    "bushing": forces.Bushing,
    "body_wrench": forces.BodyWrench,
    "uniform_field": forces.UniformField,
    "drag": forces.Drag,
}

CONSTRAINT_TYPES: dict[str, type[constraints.Constraint]] = {
    "distance": constraints.Distance,
    "point_on_line": constraints.PointOnLine,
    "point_on_plane": constraints.PointOnPlane,
    "gear_ratio": constraints.GearRatio,
    "polynomial_coupling": constraints.PolynomialCoupling,
    "cam": constraints.Cam,
    "joint_coupling": constraints.JointCoupling,
    "rolling_sphere": constraints.RollingSphere,
    "rolling_disc": constraints.RollingDisc,
    "prescribed_point": constraints.PrescribedPoint,
    "prescribed_pose": constraints.PrescribedPose,
}

_NAMES: dict[type, str] = {
    kind: name for known in (JOINT_TYPES, FORCE_TYPES, CONSTRAINT_TYPES)
    for name, kind in known.items()
}  # fmt: skip


def type_name(part: joints.Joint | forces.Force | constraints.Constraint) -> str:
    """Return how model files call the class of a part; ``module:Class`` for those of users.

    Parameters
    ----------
    part : Joint, Force or Constraint
        Any.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> type_name(joints.FreeJoint("base"))
    'free'
    >>> type_name(forces.JointDamper("oil", "axle", damping=0.1))
    'joint_damper'
    """
    kind = type(part)
    return _NAMES.get(kind, f"{kind.__module__}:{kind.__qualname__}")
