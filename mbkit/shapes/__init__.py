"""Shapes of bodies: for pictures, and for the inertia of solid bodies."""

from mbkit.shapes.built_in import SHAPE_TYPES as SHAPE_TYPES
from mbkit.shapes.color import Color as Color
from mbkit.shapes.mesh import MeshShape as MeshShape
from mbkit.shapes.shape import Shape as Shape
from mbkit.shapes.solids import BoxShape as BoxShape
from mbkit.shapes.solids import CapsuleShape as CapsuleShape
from mbkit.shapes.solids import CylinderShape as CylinderShape
from mbkit.shapes.solids import EllipsoidShape as EllipsoidShape
from mbkit.shapes.solids import SphereShape as SphereShape
