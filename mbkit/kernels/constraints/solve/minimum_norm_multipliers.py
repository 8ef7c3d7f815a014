"""Multipliers of least norm with the same forces as given ones, for dependent rows."""

from mbkit.kernels.compile import address_kernel, as_array, at, call_address, floats_at
from mbkit.kernels.constraints.evaluate import set_time
from mbkit.kernels.constraints.solve.dynamics import linearise
from mbkit.kernels.constraints.workspace import closure_of
from mbkit.kernels.evaluation_form import EVALUATION
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import at_rest


@address_kernel(EVALUATION)
def minimum_norm_multipliers(space, _option, q, _v, given, out):
    """A^T lambda is kept, out (num_rows,); for strategies that can `reduce`.

    given: multipliers (num_rows,), t.
    """
    closure = closure_of(space)
    m = closure.num_rows
    set_time(space, given[m])
    rest = at_rest(space)
    found = as_array(out, m)
    change = floats_at(closure.change, rest.shape[0])
    for r in range(m):
        found[r] = given[r]
    status = linearise(space, 0, q, at(rest, 0), at(rest, 0), at(change, 0))
    return call_address(closure.reduce, (space, out)) if status == OK else status
