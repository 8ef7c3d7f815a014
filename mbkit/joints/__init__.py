"""Joints: how one body can move relative to another."""

from mbkit.joints.absolute import AbsoluteJoint as AbsoluteJoint
from mbkit.joints.composite import CompositeJoint as CompositeJoint
from mbkit.joints.constant_velocity import ConstantVelocityJoint as ConstantVelocityJoint
from mbkit.joints.cylindrical import CylindricalJoint as CylindricalJoint
from mbkit.joints.definition import check_joint_definition as check_joint_definition
from mbkit.joints.fixed import FixedJoint as FixedJoint
from mbkit.joints.free import FreeJoint as FreeJoint
from mbkit.joints.helical import HelicalJoint as HelicalJoint
from mbkit.joints.helical_planar import HelicalPlanarJoint as HelicalPlanarJoint
from mbkit.joints.joint import Joint as Joint
from mbkit.joints.kernels import JointKernels as JointKernels
from mbkit.joints.kernels import joint_kernel as joint_kernel
from mbkit.joints.local_coordinates import LOCAL_COORDINATES as LOCAL_COORDINATES
from mbkit.joints.local_coordinates import DualRodrigues as DualRodrigues
from mbkit.joints.local_coordinates import ExtendedRodrigues as ExtendedRodrigues
from mbkit.joints.local_coordinates import ExtendedWienerMilenkovic as ExtendedWienerMilenkovic
from mbkit.joints.local_coordinates import LocalCoordinates as LocalCoordinates
from mbkit.joints.local_coordinates import RodriguesPosition as RodriguesPosition
from mbkit.joints.local_coordinates import RotationVectorPosition as RotationVectorPosition
from mbkit.joints.local_coordinates import ScrewCoordinates as ScrewCoordinates
from mbkit.joints.local_coordinates import WienerMilenkovicPosition as WienerMilenkovicPosition
from mbkit.joints.orientations import ORIENTATIONS as ORIENTATIONS
from mbkit.joints.orientations import EulerAngles as EulerAngles
from mbkit.joints.orientations import Orientation as Orientation
from mbkit.joints.orientations import RotationVector as RotationVector
from mbkit.joints.orientations import UnitQuaternion as UnitQuaternion
from mbkit.joints.planar import PlanarJoint as PlanarJoint
from mbkit.joints.prescribed import PrescribedJoint as PrescribedJoint
from mbkit.joints.prismatic import PrismaticJoint as PrismaticJoint
from mbkit.joints.revolute import RevoluteJoint as RevoluteJoint
from mbkit.joints.schoenflies import SchoenfliesJoint as SchoenfliesJoint
from mbkit.joints.screw import ScrewJoint as ScrewJoint
from mbkit.joints.spherical import SphericalJoint as SphericalJoint
from mbkit.joints.translational import TranslationalJoint as TranslationalJoint
from mbkit.joints.universal import UniversalJoint as UniversalJoint

#: The joints that mbkit brings, in the order of the documentation.
BUILT_IN_JOINTS: tuple[type[Joint], ...] = (
    ScrewJoint,
    RevoluteJoint,
    PrismaticJoint,
    HelicalJoint,
    CylindricalJoint,
    UniversalJoint,
    ConstantVelocityJoint,
    TranslationalJoint,
    SphericalJoint,
    PlanarJoint,
    HelicalPlanarJoint,
    SchoenfliesJoint,
    FreeJoint,
    AbsoluteJoint,
    FixedJoint,
    CompositeJoint,
)

__all__ = [
    "BUILT_IN_JOINTS",
    "LOCAL_COORDINATES",
    "ORIENTATIONS",
    "AbsoluteJoint",
    "CompositeJoint",
    "ConstantVelocityJoint",
    "CylindricalJoint",
    "DualRodrigues",
    "EulerAngles",
    "ExtendedRodrigues",
    "ExtendedWienerMilenkovic",
    "FixedJoint",
    "FreeJoint",
    "HelicalJoint",
    "HelicalPlanarJoint",
    "Joint",
    "JointKernels",
    "LocalCoordinates",
    "Orientation",
    "PlanarJoint",
    "PrescribedJoint",
    "PrismaticJoint",
    "RevoluteJoint",
    "RodriguesPosition",
    "RotationVector",
    "RotationVectorPosition",
    "SchoenfliesJoint",
    "ScrewCoordinates",
    "ScrewJoint",
    "SphericalJoint",
    "TranslationalJoint",
    "UnitQuaternion",
    "UniversalJoint",
    "WienerMilenkovicPosition",
    "check_joint_definition",
    "joint_kernel",
]
