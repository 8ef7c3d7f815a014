"""Prescribed motions that jump, or move farther between two times than their velocities say."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.errors import JumpWarning
from mbkit.joints import RevoluteJoint
from mbkit.joints.prescribed import JointMotion

__all__ = ["Jumps"]

#: Part of the larger of a step, and of what velocities at its ends make of it, by which it may be
#: another one than their mean makes. A sine is told of from some 2.2 times in a period on, a kink
#: never.
PART = 0.75

#: Steps below this, of 1 and of the position, are none: derivatives may miss as much. [rad], [m]
ROUNDED = 2e-9

#: Halvings of a step to see whether a motion jumps, or is only faster than the step.
HALVINGS = 30


class Jumps:
    """Looks at the states of prescribed joints as a run asks for them, one after another.

    Parameters
    ----------
    motions : sequence of JointMotion
        Of the joints.
    adaptive : bool
        Whether steps are chosen by a tolerance: steps that are tried may be too large, and only
        motions that jump indeed are told of.

    Attributes
    ----------
    finding : str
        What there is to say of the first jump; empty as long as there is none.
    is_told : bool
        Whether a warning has said it.
    """

    def __init__(self, motions: Sequence[JointMotion], *, adaptive: bool) -> None:
        self.finding = ""
        self.is_told = False
        self._motions = tuple(motions)
        self._adaptive = adaptive
        self._last: tuple[float, list[Any]] | None = None

    def look(self, t: float, states: list[Any]) -> None:
        """Look at the states (q, v, vdot) of all joints at a time."""
        last, self._last = self._last, (t, states)
        if last is None or self.finding or not t > last[0]:
            return
        for motion, before, now in zip(self._motions, last[1], states, strict=True):
            if not _misses(motion, last[0], before, t, now):
                continue
            if not self._adaptive or _jumps(motion, last[0], before, t, now):
                self.finding = self._said(motion, last[0], before, t, now)
                return

    def tell(self) -> None:
        """Warn of the first jump, once."""
        if self.finding and not self.is_told:
            self.is_told = True
            warnings.warn(self.finding, JumpWarning, stacklevel=2)

    def _said(self, motion: JointMotion, t0: float, before: Any, t: float, now: Any) -> str:
        x, mean, _ = _steps(motion, t0, before, t, now)
        k = int(np.argmax(np.abs(np.subtract(x, mean))))
        what = "jumps" if self._adaptive else "jumps, or is faster than the steps follow"
        return (
            f"The prescribed motion of joint '{motion.joint.name}' {what}: from t = {t0:.9g} s to "
            f"t = {t:.9g} s it moves by {x[k]:.3g}, and by {mean[k]:.3g} as its velocities say. "
            f"What it drives is wrong from then on. Give a motion without jumps, or a smaller h."
        )


def _steps(
    motion: JointMotion, t0: float, before: Any, t: float, now: Any
) -> tuple[list[float], list[float], float]:
    """Return the step between two states, what mean velocities make of it, and its size."""
    h = t - t0
    v0, v1 = before[1].tolist(), now[1].tolist()
    joint = motion.joint
    if len(v0) == 1 and len(before[0]) == 1:
        x = [float(now[0][0] - before[0][0])]
        if isinstance(joint, RevoluteJoint) and abs(x[0]) > math.pi:
            x[0] = math.remainder(x[0], 2.0 * math.pi)  # the same angle
    else:
        x = np.asarray(joint.difference(before[0], now[0])).tolist()
    mean = [0.5 * h * (a + b) for a, b in zip(v0, v1, strict=True)]
    return x, mean, max(*map(abs, x), h * max(map(abs, v0)), h * max(map(abs, v1)))


def _misses(motion: JointMotion, t0: float, before: Any, t: float, now: Any) -> bool:
    """Whether a step is not what the velocities at its ends make of it."""
    x, mean, size = _steps(motion, t0, before, t, now)
    missed = max(abs(a - b) for a, b in zip(x, mean, strict=True))
    rounded = ROUNDED * (1.0 + max(map(abs, now[0].tolist())))
    return bool(missed > PART * size + rounded)


def _jumps(motion: JointMotion, t0: float, before: Any, t: float, now: Any) -> bool:
    """Whether a motion jumps between two times, however closely it is looked at."""
    for _ in range(HALVINGS):
        half = 0.5 * (t0 + t)
        if not t0 < half < t:
            return True
        try:
            there = motion.at(half)
        except Exception:
            return True  # it has no value there
        if _misses(motion, t0, before, half, there):
            t, now = half, there
        elif _misses(motion, half, there, t, now):
            t0, before = half, there
        else:
            return False
    return True
