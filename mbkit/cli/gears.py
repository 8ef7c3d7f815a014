"""Velocities that gears between joints take."""

from __future__ import annotations

from mbkit.parts.parts import Parts

__all__ = ["rank_of_gears"]


def rank_of_gears(parts: Parts) -> int:
    """Return the rank of the constraints, 0 where there are others than gears between joints.

    Their rows, driven less ratio times driver, are the same at all configurations.
    """
    import numpy as np

    from mbkit.constraints import GearRatio

    gears = [each for each in parts.constraints.values() if isinstance(each, GearRatio)]
    coupled = {name for gear in gears for name in (gear.driver, gear.driven)}
    if not gears or len(gears) < len(parts.constraints) or not coupled <= {*parts.joints}:
        return 0
    rows = [
        [(name == gear.driven) - gear.ratio * (name == gear.driver) for name in sorted(coupled)]
        for gear in gears
    ]
    return int(np.linalg.matrix_rank(np.array(rows)))
