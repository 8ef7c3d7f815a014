"""Methods of joints in the place of their defaults."""

from __future__ import annotations

from typing import Any

from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.composite import CompositeJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.joint import Joint

__all__ = ["defines", "is_of_user", "is_searched"]


def defines(joint: Joint, method: str) -> bool:
    """Whether a joint's class has a method of its own in the place of the default."""
    return getattr(type(joint), method) is not getattr(Joint, method)


def is_of_user(joint: Joint, method: str) -> bool:
    """Whether a joint's class has a method that is neither the default nor one of mbkit's."""
    known = (getattr(kind, method) for kind in (Joint, MotionJoint, CompositeJoint))
    return getattr(type(joint), method) not in known


def is_searched(joint: Joint) -> bool:
    """Whether a user's joint gives its pose alone, of which its configuration has to be found.

    That takes long, and where several configurations have one pose it may find another one.
    """
    if moves_as(joint, CompositeJoint):
        return any(map(is_searched, joint.members))
    if vars(type(joint)).get("__final__") or joint.num_velocities == 0:
        return False
    kernels: Any = joint.kernels()
    if kernels is None:
        return joint.screw_form() is None and not defines(joint, "configuration_from_pose")
    return getattr(kernels, "configuration_from_pose", None) is None
