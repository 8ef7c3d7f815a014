"""Motions of prescribed joints on a tape."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from mbkit.autodiff.tape import Number
from mbkit.errors import JointError
from mbkit.joints.prescribed.prescribed_joint import JointMotion
from mbkit.tracing.branches import substituted
from mbkit.tracing.trace import Trace

__all__ = ["following"]


@contextlib.contextmanager
def following(trace: Trace) -> Iterator[Any]:
    """Let prescribed joints be where they are at the time; gives their accelerations (nv,).

    Entries of other joints are zero there.
    """
    system = trace.system
    start = trace.q, trace.v
    q, v, vdot = start[0].copy(), start[1].copy(), np.zeros(system.nv, dtype=object)
    for name, motion in system.motions.items():
        found = np.array(_at_the_time(trace, name, motion), dtype=object)
        nq, nv = motion.joint.num_positions, motion.joint.num_velocities
        q[system.position_slice(name)] = found[:nq]
        v[system.velocity_slice(name)] = found[nq : nq + nv]
        vdot[system.velocity_slice(name)] = found[nq + nv :]
    trace.q, trace.v = q, v
    try:
        yield vdot
    finally:
        trace.q, trace.v = start


def _at_the_time(trace: Trace, name: str, motion: JointMotion) -> list[Number]:
    """Return q, v and vdot of a joint; NaN where its motion has no value, as beyond a table."""
    E = trace.tape.input(f"e of {name}", 0.0)
    size = motion.joint.num_positions + 2 * motion.joint.num_velocities

    def run() -> list[Number]:
        try:
            parts = motion.traced(trace.copies, trace.t, E)
        except JointError:
            return [math.nan] * size
        return [number for part in parts for number in part]

    def every_way() -> list[Number]:
        return substituted(trace.tape.every_way(run), {E: 0.0})

    found: list[Number] = trace.refusing(f"Motion {name!r}", every_way)
    return found
