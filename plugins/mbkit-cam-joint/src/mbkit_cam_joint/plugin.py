"""Hooks that mbkit finds when the distribution is installed."""

from __future__ import annotations

from mbkit.plugins import hookimpl
from mbkit_cam_joint.cam import CamJoint


@hookimpl
def mbkit_joint_types() -> dict[str, type[CamJoint]]:
    """Return the joint by the name that model files call it."""
    return {"cam": CamJoint}


@hookimpl
def mbkit_examples() -> list[CamJoint]:
    """Return a curve that is one polynomial, and one that is closed; by its pose alone, too."""
    wave = [[0.0, 0.0], [0.7, 0.4], [1.5, -0.1], [2.4, 0.3], [3.0, 0.9]]
    return [
        CamJoint("wave", wave),
        CamJoint("loop", wave, closed=True, follow=False),
        CamJoint("wave by its pose", wave, compiled=False),
    ]
