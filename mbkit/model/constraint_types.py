"""Names of constraint classes in model files."""

from __future__ import annotations

from mbkit.constraints import (
    Cam,
    Constraint,
    Distance,
    GearRatio,
    JointCoupling,
    PointOnLine,
    PointOnPlane,
    PolynomialCoupling,
    PrescribedPoint,
    PrescribedPose,
    RollingDisc,
    RollingSphere,
)
from mbkit.model.type_names import name_of_type

__all__ = ["CONSTRAINT_TYPES", "constraint_type_name"]

CONSTRAINT_TYPES: dict[str, type[Constraint]] = {
    "distance": Distance,
    "point_on_line": PointOnLine,
    "point_on_plane": PointOnPlane,
    "gear_ratio": GearRatio,
    "polynomial_coupling": PolynomialCoupling,
    "cam": Cam,
    "joint_coupling": JointCoupling,
    "rolling_sphere": RollingSphere,
    "rolling_disc": RollingDisc,
    "prescribed_point": PrescribedPoint,
    "prescribed_pose": PrescribedPose,
}


def constraint_type_name(constraint: Constraint) -> str:
    """Return how model files call the class of a constraint; ``module:Class`` for those of users.

    Parameters
    ----------
    constraint : Constraint
        Any constraint.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> constraint_type_name(Distance("rod", "a", "b", length=0.5))
    'distance'
    """
    return name_of_type(type(constraint), CONSTRAINT_TYPES)
