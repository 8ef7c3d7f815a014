"""Methods of joints in the place of their defaults."""

from __future__ import annotations

from mbkit.joints.joint import Joint

__all__ = ["defines"]


def defines(joint: Joint, method: str) -> bool:
    """Whether a joint's class has a method of its own in the place of the default."""
    return getattr(type(joint), method) is not getattr(Joint, method)
