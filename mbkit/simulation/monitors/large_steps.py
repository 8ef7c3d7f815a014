"""Warnings of bodies that turn farther in a step than their local coordinates reach."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mbkit.errors import LargeStepWarning
from mbkit.joints import AbsoluteJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.systems import System

__all__ = ["LargeSteps"]

#: Part of the range of local coordinates that a step may take. Of a body that turns evenly, steps
#: in Rodrigues parameters, which end at pi, err by 0.2 (Runge-Kutta, order 4) to 1.7 (generalized
#: alpha) over 20 steps of 2 rad.
PART = 0.5

#: Rows that are looked at in a chunk of steps, which takes about 0.1 s.
LOOKS = 16


class LargeSteps:
    """Warns once of a body that turns by more in a step than the range of its coordinates allows.

    The step h [s] of bodies on an `AbsoluteJoint` is one in local coordinates.
    """

    def __init__(self, system: System, h: float) -> None:
        self._h = h
        self._joints = [each for each in system.arrays.joints if moves_as(each, AbsoluteJoint)]
        first = [system.velocity_slice(joint.name).start for joint in self._joints]
        self._angular = np.array(first, dtype=np.intp)[:, None] + np.arange(3)
        self._ranges = np.array([joint.local.rotation.range for joint in self._joints])

    @property
    def watches(self) -> bool:
        """Whether there is such a body."""
        return bool(self._joints)

    def look(self, t: Any, v: Any) -> None:
        """Look at states with times (k,) and velocities (k, nv), the last of them in any case."""
        if not self._joints or len(t) == 0:
            return
        few = slice(None, None, -max(1, len(t) // LOOKS))
        times, w = np.asarray(t)[few], np.asarray(v)[few][:, self._angular]
        with np.errstate(over="ignore", invalid="ignore"):
            turns = self._h * np.sqrt((w * w).sum(axis=-1))
            far = turns > PART * self._ranges
        if far.any():
            # the first of them in time
            row = int(np.flatnonzero(far.any(axis=1))[-1])
            column = int(np.argmax(np.where(far[row], turns[row] / self._ranges, 0.0)))
            self._warn(self._joints[column], float(times[row]), float(turns[row, column]))
            self._joints = []

    def _warn(self, joint: AbsoluteJoint, t: float, angle: float) -> None:
        name, limit = type(joint.local).__name__, joint.local.rotation.range
        warnings.warn(
            f"Joint '{joint.name}' turns by {angle:.3g} rad in a step of h = {self._h:.6g} s at "
            f"t = {t:.6g} s, more than half of the {limit:.3g} rad at which {name}, the local "
            f"coordinates of steps, end: steps near that are inexact, and those beyond it wrong. "
            f"Use a smaller h, or an integrator with rtol.",
            LargeStepWarning,
            stacklevel=2,
        )
