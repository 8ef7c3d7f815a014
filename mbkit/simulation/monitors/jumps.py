"""Prescribed motions that jump, that have kinks, or that are faster than the steps of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import JumpWarning
from mbkit.joints import RevoluteJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.prescribed.prescribed_joint import JointMotion
from mbkit.simulation.monitors.monitor import Monitor

__all__ = ["Jumps"]

#: Part of the larger of a step, and of what velocities at its ends make of it, by which it may be
#: another one than their mean makes. A sine is told of from some 2.2 times in a period on. The same
#: for changes of the velocity by accelerations: a jump of these is half of the larger at most.
PART = 0.75

#: Steps below this, of 1 and of the position or velocity, are none: derivatives may miss as much.
#: [rad], [m], [rad/s], [m/s]
ROUNDED = 2e-9

#: How far positions are looked at from a kink, to see whether velocities are right there. [s]
NEAR = 1e-6

#: Halvings of a step to see whether a motion jumps, or is only faster than the step.
HALVINGS = 30


class Jumps(Monitor):
    """Checks the states of prescribed joints in the order in which a run evaluates them.

    Parameters
    ----------
    motions : sequence of JointMotion
        Of the joints.
    adaptive : bool
        Whether steps are chosen by a tolerance: steps that are tried may be too large, and only
        motions that jump indeed, or have a kink, cause a warning.
    """

    BEGINS = "The prescribed motion"
    CATEGORY = JumpWarning

    def __init__(self, motions: Sequence[JointMotion], *, adaptive: bool) -> None:
        super().__init__()
        self._motions = tuple(motions)
        self._adaptive = adaptive
        self._last: tuple[float, list[Any]] | None = None

    def hear(self, t: float, states: list[Any]) -> None:
        """Check the states (q, v, vdot) of all joints at a time, as the run evaluates them."""
        last, self._last = self._last, (t, states)
        if last is None or self.finding or not t > last[0]:
            return
        for motion, before, now in zip(self._motions, last[1], states, strict=True):
            self.finding = self._found(_Interval(motion, last[0], before, t, now))
            if self.finding:
                return

    def _found(self, step: _Interval) -> str:
        """Return the finding of a step; empty if there is none."""
        far = _misses(_steps, step)
        if far and _narrowed(_steps, step) is not None:
            return self._said("jumps", "Give a motion without jumps", step)
        if _misses(_changes, step):
            kink = _narrowed(_changes, step)
            if kink is not None and _is_kink(kink):
                return self._said_of_kink(kink)
        if far and not self._adaptive:
            return self._said("is faster than the steps follow", "Use a smaller h", step)
        return ""

    def _said(self, what: str, remedy: str, step: _Interval) -> str:
        x, mean, _, _ = _steps(step)
        k = int(np.argmax(np.abs(np.subtract(x, mean))))
        return (
            f"{self.BEGINS} of joint '{step.motion.joint.name}' {what}: from t = {step.t0:.9g} s "
            f"to t = {step.t:.9g} s it moves by {x[k]:.3g}, and by {mean[k]:.3g} as its velocities "
            f"say. What it drives is wrong from then on. {remedy}."
        )

    def _said_of_kink(self, kink: _Interval) -> str:
        before, now = kink.before, kink.now
        k = int(np.argmax(np.abs(now[1] - before[1])))
        return (
            f"{self.BEGINS} of joint '{kink.motion.joint.name}' has a kink at t = {kink.t:.9g} s: "
            f"its velocity jumps from {before[1][k]:.3g} to {now[1][k]:.3g}. That is a blow to all "
            f"that moves with it, which no step size computes: speeds and energies are wrong from "
            f"then on. Round the kink off."
        )


class _Interval(NamedTuple):
    """A joint's motion between two times, with its states (q, v, vdot) there."""

    motion: JointMotion
    t0: float
    before: Any
    t: float
    now: Any


#: A difference of two states, the one by mean rates, its size, and that of the quantity.
_Difference = tuple[list[float], list[float], float, float]


def _steps(interval: _Interval) -> _Difference:
    """Return the step between two states, and the one by mean velocities."""
    motion, t0, before, t, now = interval
    h = t - t0
    v0, v1 = before[1].tolist(), now[1].tolist()
    joint = motion.joint
    if len(v0) == 1 and len(before[0]) == 1:
        x = [float(now[0][0] - before[0][0])]
        if moves_as(joint, RevoluteJoint) and abs(x[0]) > math.pi:
            x[0] = math.remainder(x[0], 2.0 * math.pi)  # the same angle
    else:
        x = np.asarray(joint.difference(before[0], now[0])).tolist()
    mean = [0.5 * h * (a + b) for a, b in zip(v0, v1, strict=True)]
    size = max(*map(abs, x), h * max(map(abs, v0)), h * max(map(abs, v1)))
    return x, mean, size, max(map(abs, now[0].tolist()))


def _changes(interval: _Interval) -> _Difference:
    """Return the change of the velocity, and the one by mean accelerations."""
    _, t0, before, t, now = interval
    h = t - t0
    v0, v1, a0, a1 = (each.tolist() for each in (before[1], now[1], before[2], now[2]))
    x = [b - a for a, b in zip(v0, v1, strict=True)]
    mean = [0.5 * h * (a + b) for a, b in zip(a0, a1, strict=True)]
    size = max(*map(abs, x), h * max(map(abs, a0)), h * max(map(abs, a1)))
    return x, mean, size, max(map(abs, v1))


_Differences = Callable[[_Interval], _Difference]


def _misses(differences: _Differences, interval: _Interval) -> bool:
    """Whether a difference contradicts the rates at both ends."""
    x, mean, size, of = differences(interval)
    missed = max(abs(a - b) for a, b in zip(x, mean, strict=True))
    return bool(missed > PART * size + ROUNDED * (1.0 + of))


def _is_kink(kink: _Interval) -> bool:
    """Whether positions have the kink too; velocities may jump where a derivative begins late."""
    motion, t = kink.motion, kink.t
    try:
        here = motion.at(t)
        left = _steps(_Interval(motion, t - NEAR, motion.at(t - NEAR), t, here))[0]
        right = _steps(_Interval(motion, t, here, t + NEAR, motion.at(t + NEAR)))[0]
    except Exception:
        return False
    jump = float(np.abs(kink.now[1] - kink.before[1]).max())
    return bool(np.abs(np.subtract(right, left)).max() > 0.5 * NEAR * jump)


def _narrowed(differences: _Differences, interval: _Interval) -> _Interval | None:
    """Return the interval around a jump between two times, None if there is none.

    It is one if it does not vanish however closely it is looked at.
    """
    for _ in range(HALVINGS):
        half = 0.5 * (interval.t0 + interval.t)
        if not interval.t0 < half < interval.t:
            break
        try:
            there = interval.motion.at(half)
        except Exception:
            break  # it has no value there
        halves = interval._replace(t=half, now=there), interval._replace(t0=half, before=there)
        narrower = next((each for each in halves if _misses(differences, each)), None)
        if narrower is None:
            return None
        interval = narrower
    return interval
