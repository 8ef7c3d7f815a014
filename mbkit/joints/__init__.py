"""Joints: how one body can move relative to another."""

from mbkit.catalogue import by_name
from mbkit.joints import built_in
from mbkit.joints.absolute.local_coordinates import LOCAL_COORDINATES as LOCAL_COORDINATES
from mbkit.joints.absolute.local_coordinates import LocalCoordinates as LocalCoordinates
from mbkit.joints.absolute.orientations import ORIENTATIONS as ORIENTATIONS
from mbkit.joints.absolute.orientations import Orientation as Orientation
from mbkit.joints.built_in import *
from mbkit.joints.checks.definition import check_joint_definition as check_joint_definition
from mbkit.joints.joint import Joint as Joint
from mbkit.joints.kernels import JointKernels as JointKernels
from mbkit.joints.kernels import joint_kernel as joint_kernel
from mbkit.joints.prescribed.prescribed_joint import PrescribedJoint as PrescribedJoint

#: The joints that mbkit brings, by the names that model files have for them.
JOINT_TYPES: dict[str, type[Joint]] = by_name(built_in, Joint)
