"""The joint that each entry of a step belongs to."""

from mbkit.kernels.compile import int64, integers, kernel
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies


@kernel(int64(int64, integers))
def rows_of_steps(space, out):
    """Write the row of the model that each entry of a step moves, (ndx,)."""
    model = bodies(space)
    for i in range(1, model.shape[0]):
        row = model[i]
        for k in range(row.first_step, row.first_step + row.ndx):
            out[k] = i
    return OK
