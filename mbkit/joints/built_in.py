"""The joints that mbkit brings, with their orientations and local coordinates; a new one is a line.

The names of joints in model files, and all public ones, follow from this list: see
`mbkit.catalogue`. Messages and tables keep its order.
"""

# isort: off
from mbkit.joints.screw import ScrewJoint as ScrewJoint
from mbkit.joints.revolute import RevoluteJoint as RevoluteJoint
from mbkit.joints.prismatic import PrismaticJoint as PrismaticJoint
from mbkit.joints.helical import HelicalJoint as HelicalJoint
from mbkit.joints.cylindrical import CylindricalJoint as CylindricalJoint
from mbkit.joints.universal import UniversalJoint as UniversalJoint
from mbkit.joints.constant_velocity import ConstantVelocityJoint as ConstantVelocityJoint
from mbkit.joints.translational import TranslationalJoint as TranslationalJoint
from mbkit.joints.spherical import SphericalJoint as SphericalJoint
from mbkit.joints.planar import PlanarJoint as PlanarJoint
from mbkit.joints.helical_planar import HelicalPlanarJoint as HelicalPlanarJoint
from mbkit.joints.schoenflies import SchoenfliesJoint as SchoenfliesJoint
from mbkit.joints.free import FreeJoint as FreeJoint
from mbkit.joints.absolute.absolute_joint import AbsoluteJoint as AbsoluteJoint
from mbkit.joints.fixed import FixedJoint as FixedJoint
from mbkit.joints.composite import CompositeJoint as CompositeJoint
from mbkit.joints.absolute.local_coordinates import DualRodrigues as DualRodrigues
from mbkit.joints.absolute.local_coordinates import ExtendedRodrigues as ExtendedRodrigues
from mbkit.joints.absolute.local_coordinates import (
    ExtendedWienerMilenkovic as ExtendedWienerMilenkovic,
)
from mbkit.joints.absolute.local_coordinates import RodriguesPosition as RodriguesPosition
from mbkit.joints.absolute.local_coordinates import RotationVectorPosition as RotationVectorPosition
from mbkit.joints.absolute.local_coordinates import ScrewCoordinates as ScrewCoordinates
from mbkit.joints.absolute.local_coordinates import (
    WienerMilenkovicPosition as WienerMilenkovicPosition,
)
from mbkit.joints.absolute.orientations import EulerAngles as EulerAngles
from mbkit.joints.absolute.orientations import RotationVector as RotationVector
from mbkit.joints.absolute.orientations import UnitQuaternion as UnitQuaternion
