"""Bodies that roll on a plane without slip, as joints of mbkit."""

from mbkit_rolling.joints import RollingDisc as RollingDisc
from mbkit_rolling.joints import RollingJoint as RollingJoint
from mbkit_rolling.joints import RollingSphere as RollingSphere

__all__ = ["RollingDisc", "RollingJoint", "RollingSphere"]
