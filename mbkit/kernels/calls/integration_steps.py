"""Steps on the group, for the methods of `Problem`: where they lead, and the joints they move.

Each method with steps of adaptive size needs these before its first step. Kernels of
`integration_problem`, which take longer to compile, only methods in Python call.
"""

from mbkit.kernels.compile import floats, int64, integers, kernel, records_at
from mbkit.kernels.configuration import dexp_inv_rows, rates_rows, retract_rows
from mbkit.kernels.explicit_integrators.stages import rates_at
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.validation import both, check_positions, check_steps, check_velocities
from mbkit.kernels.workspace import bodies, scratch_of


@kernel(int64(int64, floats, floats, floats))
def move(space, q, x, out):
    """Write q exp(x) (nq,), joint by joint."""
    model = bodies(space)
    status = both(check_positions(model, q), check_positions(model, out))
    status = both(status, check_steps(model, x))
    return retract_rows(model, scratch_of(space), q, x, out) if status == OK else status


@kernel(int64(int64, floats, floats, floats))
def rate(space, x, w, out):
    """Write the rate of x while q exp(x) moves with the rates w (ndx,)."""
    model = bodies(space)
    status = both(check_steps(model, x), check_steps(model, w))
    status = both(status, check_steps(model, out))
    return dexp_inv_rows(model, scratch_of(space), x, w, out) if status == OK else status


@kernel(int64(int64, floats, floats, floats))
def rates(space, q, v, out):
    """Write the rates (ndx,) at which a step leaves q with velocity v."""
    model = bodies(space)
    status = both(check_positions(model, q), check_velocities(model, v, v, v))
    status = both(status, check_steps(model, out))
    if status != OK:
        return status
    if records_at(space, 1, SPACE)[0].rates != 0:
        return rates_at(space, q, v, out)
    return rates_rows(model, scratch_of(space), q, v, out)


@kernel(int64(int64, integers))
def rows_of_steps(space, out):
    """Write the row of the model that each entry of a step moves, (ndx,)."""
    model = bodies(space)
    for i in range(1, model.shape[0]):
        row = model[i]
        for k in range(row.first_step, row.first_step + row.ndx):
            out[k] = i
    return OK
