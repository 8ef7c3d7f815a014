"""Constraints: what bodies and joints must keep, besides the joints between them."""

from mbkit.constraints.cam import Cam as Cam
from mbkit.constraints.constraint import Constraint as Constraint
from mbkit.constraints.definition import check_constraint_definition as check_constraint_definition
from mbkit.constraints.definition import check_constraint_names as check_constraint_names
from mbkit.constraints.distance import Distance as Distance
from mbkit.constraints.gear_ratio import GearRatio as GearRatio
from mbkit.constraints.joint_coupling import JointCoupling as JointCoupling
from mbkit.constraints.joint_coupling import PolynomialCoupling as PolynomialCoupling
from mbkit.constraints.point_on_line import PointOnLine as PointOnLine
from mbkit.constraints.point_on_plane import PointOnPlane as PointOnPlane
from mbkit.constraints.prescribed import PrescribedPoint as PrescribedPoint
from mbkit.constraints.prescribed import PrescribedPose as PrescribedPose
from mbkit.constraints.rolling import RollingDisc as RollingDisc
from mbkit.constraints.rolling import RollingSphere as RollingSphere

#: The constraints that mbkit brings, in the order of the documentation.
BUILT_IN_CONSTRAINTS: tuple[type[Constraint], ...] = (
    Distance,
    PointOnLine,
    PointOnPlane,
    GearRatio,
    PolynomialCoupling,
    Cam,
    JointCoupling,
    RollingSphere,
    RollingDisc,
    PrescribedPoint,
    PrescribedPose,
)

__all__ = [
    "BUILT_IN_CONSTRAINTS",
    "Cam",
    "Constraint",
    "Distance",
    "GearRatio",
    "JointCoupling",
    "PointOnLine",
    "PointOnPlane",
    "PolynomialCoupling",
    "PrescribedPoint",
    "PrescribedPose",
    "RollingDisc",
    "RollingSphere",
    "check_constraint_definition",
    "check_constraint_names",
]
