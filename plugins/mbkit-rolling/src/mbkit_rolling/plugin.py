"""Hooks that mbkit finds when the distribution is installed."""

from __future__ import annotations

from mbkit.plugins import hookimpl
from mbkit_rolling.joints import RollingDisc, RollingJoint, RollingSphere


@hookimpl
def mbkit_joint_types() -> dict[str, type[RollingJoint]]:
    """Return the joints by the names that model files call them."""
    return {"rolling_sphere": RollingSphere, "rolling_disc": RollingDisc}


@hookimpl
def mbkit_examples() -> list[RollingJoint]:
    """Return one of each."""
    return [RollingSphere("sphere", 0.3), RollingDisc("disc", 0.3)]
