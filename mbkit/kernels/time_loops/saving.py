"""Steps that are counted, and states that become rows of the results."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper
from mbkit.kernels.time_loops.step_times import instant

#: Entries of the counts of `Saved`.
TAKEN = 0
WRITTEN = 1
SAMPLED = 2

#: How many there are.
NUM_COUNTS = 3


@helper
def start_count(saved):
    """Neither steps nor rows nor samples yet."""
    saved.counts[TAKEN] = 0
    saved.counts[WRITTEN] = 0
    saved.counts[SAMPLED] = 0


@helper
def count_taken(k, state, saved):
    """Count step k, which has led to the state, and keep that if it is one of the samples."""
    saved.counts[TAKEN] += 1
    sampled = saved.sampled
    row = saved.counts[SAMPLED]
    if row < sampled.steps.shape[0] and sampled.steps[row] == k + 1:
        assign(sampled.q[row], state.q)
        assign(sampled.v[row], state.v)
        assign(sampled.work[row], state.work)
        saved.counts[SAMPLED] += 1


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
    """The same with multipliers, which are none where they are not saved."""
    if saved.multipliers.shape[1] > 0:
        assign(saved.multipliers[saved.counts[WRITTEN]], multipliers)
    save(end, state, saved)


@helper
def count_step(grid, k, state, saved):
    """Count step k, which has led to the state, and save that if it is one of those to keep."""
    count_taken(k, state, saved)
    if (k + 1) % grid.save_every == 0:
        save(instant(grid.t0, grid.h, k + 1), state, saved)
