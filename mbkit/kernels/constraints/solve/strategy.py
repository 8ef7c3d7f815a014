"""Strategies for A M^-1 A^T x = y: their form, and how equations call them by address.

After `respond` has left y = S.f and D of every row (`mbkit.kernels.constraints.solve.response`):

    prepare(space)                      looks at the rows: ranks, factors. Sets `kept`.
    resolve(space, target, multipliers) (A M^-1 A^T) multipliers = -target, where it can be; and
                                        the efforts of the multipliers into u of every velocity.
    reduce(space, multipliers)          makes them those of least norm that do the same.
    gather(space, multipliers)          their efforts into u of every velocity.

`resolve` may be called several times after one `prepare`, by projections for positions and
velocities. What is prepared is a function of the state alone: nothing is kept from one evaluation
to the next, or runs that are resumed would differ from those that are not.
"""

from mbkit.kernels.compile import address_kernel, as_array, at, call_address, helper
from mbkit.kernels.constraints.solve.response import gather_efforts
from mbkit.kernels.constraints.workspace import closure_of
from mbkit.kernels.status import OK

PREPARE = "i"
RESOLVE = "ipp"
REDUCE = "ip"
GATHER_FORM = "ip"


@address_kernel(GATHER_FORM)
def gather_response(space, multipliers):
    """The sum of y times the multipliers."""
    gather_efforts(space, as_array(multipliers, closure_of(space).num_rows))
    return OK


@helper
def nested(space, what, x):
    """See `nested_solution.solve`; option of the representation's function."""
    pointer = at(x, 0)
    return call_address(
        closure_of(space).solve_nested, (space, what, pointer, pointer, pointer, pointer)
    )
