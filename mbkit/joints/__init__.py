"""Joints: how one body can move relative to another."""

from mbkit.joints.definition import check_joint_definition as check_joint_definition
from mbkit.joints.fixed import FixedJoint as FixedJoint
from mbkit.joints.free import FreeJoint as FreeJoint
from mbkit.joints.helical import HelicalJoint as HelicalJoint
from mbkit.joints.joint import Joint as Joint
from mbkit.joints.kernels import JointKernels as JointKernels
from mbkit.joints.kernels import joint_kernel as joint_kernel
from mbkit.joints.prescribed import PrescribedJoint as PrescribedJoint
from mbkit.joints.prismatic import PrismaticJoint as PrismaticJoint
from mbkit.joints.revolute import RevoluteJoint as RevoluteJoint
from mbkit.joints.screw import ScrewJoint as ScrewJoint
from mbkit.joints.spherical import SphericalJoint as SphericalJoint

#: The joints that mbkit brings, in the order of the documentation.
BUILT_IN_JOINTS: tuple[type[Joint], ...] = (
    ScrewJoint,
    RevoluteJoint,
    PrismaticJoint,
    HelicalJoint,
    SphericalJoint,
    FreeJoint,
    FixedJoint,
)

__all__ = [
    "BUILT_IN_JOINTS",
    "FixedJoint",
    "FreeJoint",
    "HelicalJoint",
    "Joint",
    "JointKernels",
    "PrescribedJoint",
    "PrismaticJoint",
    "RevoluteJoint",
    "ScrewJoint",
    "SphericalJoint",
    "check_joint_definition",
    "joint_kernel",
]
