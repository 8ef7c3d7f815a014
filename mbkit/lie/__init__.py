"""Lie groups of rotations and rigid body motions: exponential and Cayley maps, differentials."""

from mbkit.lie.group import Group as Group
from mbkit.lie.quaternion import UnitQuaternion as UnitQuaternion
from mbkit.lie.se3 import SE3 as SE3
from mbkit.lie.so3 import SO3 as SO3
from mbkit.lie.so3xr3 import SO3xR3 as SO3xR3

__all__ = ["SE3", "SO3", "Group", "SO3xR3", "UnitQuaternion"]
