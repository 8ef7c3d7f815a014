"""States that become rows of the results."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper


@helper
def save(end, q, v, work, count, rows_t, rows_q, rows_v, rows_work):
    """Write a row, and count it."""
    row = count[1]
    rows_t[row] = end
    assign(rows_q[row], q)
    assign(rows_v[row], v)
    assign(rows_work[row], work)
    count[1] += 1


@helper
def save_constrained(
    end, q, v, work, multipliers, count, rows_t, rows_q, rows_v, rows_work, rows_multipliers
):  # fmt: skip
    """The same with multipliers, of which there are none where nobody keeps them."""
    if rows_multipliers.shape[1] > 0:
        assign(rows_multipliers[count[1]], multipliers)
    save(end, q, v, work, count, rows_t, rows_q, rows_v, rows_work)
