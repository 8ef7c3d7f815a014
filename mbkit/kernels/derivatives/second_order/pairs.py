"""Numbers that pairs of steps and velocities of a joint have, where its S depends on q."""

from typing import Any

import numpy as np

from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.directions import depends_on_q

#: Of a pair of steps: S by columns, S-dot v, then R by rows and p, of which E is made,
#: in their place.
S_DOT_V = 36
POSE = 42
TWIST = 42
SIZE = 54


@helper
def pairs_of(n):
    """How many pairs there are of n things, each with itself too."""
    return n * (n + 1) // 2


@helper
def size_of_row(row):
    """How many numbers a joint has.

    SIZE a pair of steps, then six of S-dot v by each step and velocity, and by each two velocities.
    """
    if not depends_on_q(row):
        return 0
    nv = row.num_velocities
    return SIZE * pairs_of(row.ndx) + 6 * (row.ndx * nv + pairs_of(nv))


def room_alone(bodies: Any) -> int:
    """Return how many numbers `in_turn` takes of one sample, for the rows of a model."""
    rows = bodies[1:][bodies["constant"][1:] == 0]
    n, nv = rows["ndx"], rows["num_velocities"]
    return int(np.max(SIZE * (n * (n + 1) // 2) + 6 * n * nv, initial=0))


@helper
def accumulate_motion(out, factor, moved, nv):
    """Add `factor` times a change, or the motion of a body that the joint pass has written."""
    for c in range(nv):
        for j in range(6):
            out[6 * c + j] += factor * moved.S[c, j]
    for j in range(6):
        out[S_DOT_V + j] += factor * moved.bias[j]
    for i in range(3):
        out[POSE + 9 + i] += factor * moved.p[i]
        for j in range(3):
            out[POSE + 3 * i + j] += factor * moved.R[i, j]
