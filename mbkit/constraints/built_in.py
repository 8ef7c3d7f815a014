"""The constraints that mbkit brings: a new one is its file, and its line here.

Their names in model files, and the public ones, follow from this list: see `mbkit.catalogue`.
Messages and tables keep its order.
"""

# isort: off
from mbkit.constraints.distance import Distance as Distance
from mbkit.constraints.point_on_line import PointOnLine as PointOnLine
from mbkit.constraints.point_on_plane import PointOnPlane as PointOnPlane
from mbkit.constraints.gear_ratio import GearRatio as GearRatio
from mbkit.constraints.joint_coupling import PolynomialCoupling as PolynomialCoupling
from mbkit.constraints.cam import Cam as Cam
from mbkit.constraints.joint_coupling import JointCoupling as JointCoupling
from mbkit.constraints.rolling import RollingSphere as RollingSphere
from mbkit.constraints.rolling import RollingDisc as RollingDisc
from mbkit.constraints.prescribed import PrescribedPoint as PrescribedPoint
from mbkit.constraints.prescribed import PrescribedPose as PrescribedPose
