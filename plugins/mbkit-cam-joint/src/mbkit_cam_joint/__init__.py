"""A joint along a plane curve, for mbkit."""

from mbkit_cam_joint.cam import CamJoint as CamJoint

__all__ = ["CamJoint"]
