"""Prints second derivatives of inverse dynamics by differences with 40 digits, as JSON.

Run as ``NUMBA_DISABLE_JIT=1 python -m tests.systems.second_forty_digits``.
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

KINDS = (
    "universal", "composite", "constant velocity", "screw coordinates", "planar, first kind",
    "angles",
)  # fmt: skip
EPSILON = "1e-10"


def tree() -> tuple[mb.System, Any, Any]:
    """Return six bodies whose motion subspaces depend on q, a state, and changes of q and v."""
    rng = np.random.default_rng(64)
    mech = random_mechanism(rng, 6, KINDS, turned_round=0.5)
    system = mech.assemble(mb.RelativeCoordinates(mb.BodyFixed()))
    state = random_state(rng, system)
    steps = [(rng.normal(size=system.ndx), rng.normal(size=system.nv)) for _ in range(4)]
    return system, state, steps


def main() -> None:
    from mbkit.kernels.body_fixed.algorithms import inverse_dynamics
    from mbkit.kernels.configuration import retract

    mpmath.mp.dps = 40
    system, state, steps = tree()
    numbers, e = OtherNumbers(system, mpmath.mpf), mpmath.mpf(EPSILON)
    q, v, vdot = (numbers.vector(x) for x in (state.q, state.v, state.vdot))

    def efforts(x: Any, w: Any) -> Any:
        moved = numbers.call(retract, q, x, q, system.nq)
        return numbers.call(inverse_dynamics, moved, v + w, vdot, system.nv)

    here, found = efforts(0 * v, 0 * v), []
    for x, w in ([numbers.vector(each) for each in step] for step in steps):
        found.append((efforts(e * x, e * w) - 2 * here + efforts(-e * x, -e * w)) / e**2)
    sys.stdout.write(json.dumps([[mpmath.nstr(x, 25) for x in row] for row in found]))


if __name__ == "__main__":
    main()
