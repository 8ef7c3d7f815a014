"""Power of constraints that move in time."""

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.constraints.layout import TABLE
from mbkit.kernels.constraints.workspace import closure_of, constraints, rows_of
from mbkit.kernels.layout import SPACE


@helper
def constraint_power(space):
    """-lambda . g_t, from the memory of the last dynamics; nothing where there are no constraints.

    A^T lambda does the work lambda . A v on the tree, and A v + g_t = 0. Joints that close loops
    know no time.
    """
    if records_at(space, 1, SPACE)[0].closure == 0:
        return 0.0
    closure = closure_of(space)
    multipliers = rows_of(closure, closure.multipliers)
    time_rate = rows_of(closure, closure.time_rate)
    every = constraints(closure)
    power = 0.0
    for c in range(every.shape[0]):
        if every[c].kind == TABLE:
            for r in range(every[c].first_row, every[c].first_row + every[c].num_rows):
                power -= multipliers[r] * time_rate[r]
    return power
