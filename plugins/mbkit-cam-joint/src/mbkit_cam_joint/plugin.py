"""What mbkit finds when the distribution is installed."""

from __future__ import annotations

from mbkit.plugins import hookimpl
from mbkit_cam_joint.cam import CamJoint


@hookimpl
def mbkit_joint_types() -> dict[str, type[CamJoint]]:
    """Return the joint by the name that model files call it."""
    return {"cam": CamJoint}
