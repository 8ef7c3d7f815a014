"""Steps that are counted, and states that become rows of the results."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper

#: Entries of the counts of `Saved`.
TAKEN = 0
WRITTEN = 1


@helper
def start_count(saved):
    """Neither steps nor rows yet."""
    saved.counts[TAKEN] = 0
    saved.counts[WRITTEN] = 0


@helper
def save(end, state, saved):
    """Write a row, and count it."""
    row = saved.counts[WRITTEN]
    saved.t[row] = end
    assign(saved.q[row], state.q)
    assign(saved.v[row], state.v)
    assign(saved.work[row], state.work)
    saved.counts[WRITTEN] += 1


@helper
def save_constrained(end, state, multipliers, saved):
    """The same with multipliers, of which there are none where nobody keeps them."""
    if saved.multipliers.shape[1] > 0:
        assign(saved.multipliers[saved.counts[WRITTEN]], multipliers)
    save(end, state, saved)
