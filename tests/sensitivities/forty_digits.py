"""Prints a run with 40 digits, and its derivatives by differences of 1e-12.

Run as ``NUMBA_DISABLE_JIT=1 python -m tests.sensitivities.forty_digits``, which writes JSON. The
steps, the time of the impact and the impact itself are written here anew.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import mpmath
import numpy as np

import mbkit as mb
from mbkit.studies.laboratory.counting.number_types import OtherNumbers
from tests.trees import random_mechanism, random_state

KINDS = ("revolute", "spherical", "free")
H, STEPS, RESTITUTION = 0.0625, 2, 0.5
EPSILON = "1e-12"


def tree() -> tuple[mb.System, Any, mb.Event]:
    """Return a tree, a state, and a stop of its revolute joint in the second step."""
    rng = np.random.default_rng(12)
    system = random_mechanism(rng, 3, KINDS).assemble(mb.RelativeCoordinates(mb.Hybrid()))
    state = random_state(rng, system)
    entry = system.position_slice(hinge(system)).start
    run = mb.simulate(system, (0.0, 2 * H), H, q=state.q, v=state.v, tau=state.tau)
    level = float(np.round(0.5 * run.q[1:, entry].sum(), 6))
    direction = "rising" if run.q[2, entry] > run.q[1, entry] else "falling"
    stop = mb.Event(
        "stop", mb.JointPosition(system.position_names[entry], level=level),
        direction=direction, reset=mb.Impact(RESTITUTION), tolerance=0.0,
    )  # fmt: skip
    return system, state, stop


def hinge(system: mb.System) -> str:
    """Return the revolute joint."""
    sizes = {name: system.velocity_slice(name) for name in system.joint_names}
    return next(name for name, each in sizes.items() if each.stop - each.start == 1)


def directions(system: mb.System) -> dict[str, Any]:
    """Return one direction of each input."""
    rng = np.random.default_rng(5)
    return {name: np.round(rng.normal(size=system.nv), 3) for name in ("q", "v", "tau")}


class Run:
    """Steps of the classical method on the group, with numbers of 40 digits."""

    def __init__(self, system: mb.System, level: float) -> None:
        from mbkit.kernels.hybrid.algorithms import forward_dynamics

        self.system, self.forward = system, forward_dynamics
        self.numbers = OtherNumbers(system, mpmath.mpf)
        self.entry = system.position_slice(hinge(system)).start
        self.speed = system.velocity_slice(hinge(system)).start
        self.level = mpmath.mpf(level)

    def vdot(self, q: Any, v: Any, tau: Any) -> Any:
        return self.numbers.call(self.forward, q, v, tau, self.system.nv)

    def retract(self, q: Any, x: Any) -> Any:
        from mbkit.kernels.configuration import retract

        return self.numbers.call(retract, q, x, q, self.system.nq)

    def step(self, q: Any, v: Any, tau: Any, h: Any) -> tuple[Any, Any]:
        from mbkit.kernels.configuration import dexp_inv

        x, w, k, a = 0 * v, v, [], []
        for c in (mpmath.mpf(1) / 2, mpmath.mpf(1) / 2, mpmath.mpf(1), None):
            here = self.retract(q, x)
            k.append(self.numbers.call(dexp_inv, x, w, q, self.system.ndx))
            a.append(self.vdot(here, w, tau))
            if c is not None:
                x, w = h * c * k[-1], v + h * c * a[-1]
        weights = [h / 6, h / 3, h / 3, h / 6]
        x = sum(b * each for b, each in zip(weights, k, strict=True))
        return self.retract(q, x), v + sum(b * each for b, each in zip(weights, a, strict=True))

    def event(self, q: Any, v: Any, tau: Any) -> Any:
        """Return how long after the start of a step the stop is hit, by secants."""
        times = [mpmath.mpf(H) * 3 / 10, mpmath.mpf(H) * 6 / 10]
        values = [self.step(q, v, tau, t)[0][self.entry] - self.level for t in times]
        while abs(values[-1]) > mpmath.mpf(10) ** -38:
            (a, b), (f, g) = times[-2:], values[-2:]
            times.append(b - g * (b - a) / (g - f))
            values.append(self.step(q, v, tau, times[-1])[0][self.entry] - self.level)
        return times[-1]

    def impact(self, q: Any, v: Any, tau: Any) -> Any:
        """Return the velocity after the stop, M^-1 g from two accelerations."""
        pushed = tau.copy()
        pushed[self.speed] += 1
        jump = self.vdot(q, v, pushed) - self.vdot(q, v, tau)
        factor = (1 + mpmath.mpf(RESTITUTION)) * v[self.speed] / jump[self.speed]
        return v - factor * jump

    def end(self, q: Any, v: Any, tau: Any) -> Any:
        """Return time of the event, q and v at the end, one after another."""
        h = mpmath.mpf(H)
        q, v = self.step(q, v, tau, h)
        hit = self.event(q, v, tau)
        q, v = self.step(q, v, tau, hit)
        q, v = self.step(q, self.impact(q, v, tau), tau, h - hit)
        return np.concatenate([[h + hit], q, v])


def main() -> None:
    mpmath.mp.dps = 40
    system, state, stop = tree()
    run, e = Run(system, stop.when.level), mpmath.mpf(EPSILON)
    start = {name: run.numbers.vector(getattr(state, name)) for name in ("q", "v", "tau")}
    found = {"end": run.end(**start)}
    for name, along in directions(system).items():
        ends = []
        for sign in (1, -1):
            move = sign * e * run.numbers.vector(along)
            moved = run.retract(start["q"], move) if name == "q" else start[name] + move
            ends.append(run.end(**{**start, name: moved}))
        found[name] = (ends[0] - ends[1]) / (2 * e)
    sys.stdout.write(json.dumps({key: [mpmath.nstr(x, 25) for x in found[key]] for key in found}))


if __name__ == "__main__":
    main()
