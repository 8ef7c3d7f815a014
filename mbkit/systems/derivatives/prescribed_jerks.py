"""Rates of the accelerations of prescribed joints, by which the equations change with the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.numeric_changes import BESIDE, check_continuous
from mbkit.systems.memory.prescribed_motions import naming_joint

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["prescribed_jerks"]


def prescribed_jerks(system: System, t: Floats) -> Floats:
    """Return the rates of the accelerations of prescribed joints at times (N,), (N, nv).

    Zero for the others. UsageError where an acceleration jumps, so that it has no rate; errors of a
    motion name its joint.
    """
    found = np.zeros((len(t), system.nv))
    times, places = np.unique(t, return_inverse=True)
    for joint, motion in system.motions.items():
        rows = [naming_joint(motion, motion.jerk, float(time)) for time in times]
        own = found[:, system.velocity_slice(joint)]
        own[:] = np.reshape(rows, (len(times), own.shape[1]))[places]
    here = system.prescribed_rows(t, None, None)[2]
    size = np.maximum(1.0, np.abs(here))

    def accelerations(e: float) -> Floats:
        return system.prescribed_rows(t + e, None, None, "nan")[2] / size

    check_continuous(accelerations, here / size, found / size, BESIDE, "t")
    return found
