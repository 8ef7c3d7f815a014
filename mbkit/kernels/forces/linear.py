"""Linear springs and dampers in joints, in one loop over a table."""

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.layout import LINEAR, SPACE


@helper
def add_linear(space, q, v, tau):
    """tau += -k (q - q0) - d v  for all linear springs and dampers in joints; returns sum d v^2."""
    record = records_at(space, 1, SPACE)[0]
    table = records_at(record.linear, record.num_linear, LINEAR)
    dissipated = 0.0
    for k in range(table.shape[0]):
        row = table[k]
        u = v[row.velocity]
        damping = row.damping * u
        tau[row.velocity] -= row.stiffness * (q[row.position] - row.rest) + damping
        dissipated += damping * u
    return dissipated
