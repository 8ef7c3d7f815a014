"""Strategies for A M^-1 A^T x = y: their form, and how equations call them by address.

After `respond` has left y = S.f and D of every row (see `mbkit.kernels.constraints.response`):

    prepare(space)                      looks at the rows: ranks, factors. Sets `kept`.
    resolve(space, target, multipliers) (A M^-1 A^T) multipliers = -target, where it can be; and
                                        the efforts of the multipliers into u of every velocity.
    reduce(space, multipliers)          makes them those of least norm that do the same.
    gather(space, multipliers)          their efforts into u of every velocity.

`resolve` may be called several times after one `prepare`, by projections for positions and
velocities. What is prepared is a function of the state alone: nothing is kept from one evaluation
to the next, or runs that are resumed would differ from those that are not.
"""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    at,
    call_address,
    floats_at,
    helper,
    integers_at,
)
from mbkit.kernels.constraints import least_norm
from mbkit.kernels.constraints.factor import (
    backward,
    factorise,
    forward,
    read_diagonal,
    set_limits,
    solve,
)
from mbkit.kernels.constraints.gram import set_gram
from mbkit.kernels.constraints.layout import GATHER, INWARD, OUTWARD, OUTWARD_AT_REST
from mbkit.kernels.constraints.nested import set_sizes
from mbkit.kernels.constraints.response import gather_efforts
from mbkit.kernels.constraints.space import closure_of, rows_of
from mbkit.kernels.status import OK

PREPARE = "i"
RESOLVE = "ipp"
REDUCE = "ip"
GATHER_FORM = "ip"


@helper
def set_sizes_and_limits(space):
    """A M^-1 A^T, the squared sizes of its rows, and what counts of them."""
    closure = closure_of(space)
    set_gram(space)
    sizes = floats_at(closure.largest, closure.num_unknowns)  # hubs have blocks of their own
    read_diagonal(closure, sizes)
    set_limits(space, sizes, rows_of(closure, closure.limits))


@address_kernel(GATHER_FORM)
def gather_response(space, multipliers):
    """The sum of y times the multipliers."""
    gather_efforts(space, as_array(multipliers, closure_of(space).num_rows))
    return OK


# --------------------------------------------------- Schur complement: block-sparse Cholesky factor


@address_kernel(PREPARE)
def prepare_schur(space):
    """A M^-1 A^T = L L^T by blocks, the largest pivots first."""
    set_sizes_and_limits(space)
    factorise(closure_of(space))
    return OK


@address_kernel(RESOLVE)
def resolve_schur(space, target, multipliers):
    """The multipliers of the rows that are kept; those of the others are zero."""
    closure = closure_of(space)
    x = floats_at(closure.unknowns, closure.num_unknowns)
    x[:] = 0.0
    for r in range(closure.num_rows):
        x[r] = -target[r]
    solve(closure, x)
    found = as_array(multipliers, closure.num_rows)
    for r in range(closure.num_rows):
        found[r] = x[r]
    gather_efforts(space, found)
    return OK


@address_kernel(REDUCE)
def reduce_schur(space, multipliers):
    """See `mbkit.kernels.constraints.least_norm`."""
    found = as_array(multipliers, closure_of(space).num_rows)
    least_norm.reduce(space, found, forward_schur, backward_schur)
    return OK


@helper
def forward_schur(space, x):
    """See `mbkit.kernels.constraints.factor`."""
    forward(closure_of(space), x)


@helper
def backward_schur(space, x):
    """See `mbkit.kernels.constraints.factor`."""
    backward(closure_of(space), x)


# ------------------------------------------------------ the same, where loops are closed at a base


@helper
def nested(space, what, x):
    """See `mbkit.kernels.constraints.nested_solution`; option of the representation's function."""
    pointer = at(x, 0)
    return call_address(
        closure_of(space).solve_nested, (space, what, pointer, pointer, pointer, pointer)
    )


@helper
def forward_nested(space, x):
    """x becomes L^-1 x for the rows that count; for the others what is left of them."""
    nested(space, INWARD, x)


@helper
def backward_nested(space, x):
    """What `backward` of `mbkit.kernels.constraints.factor` does."""
    nested(space, OUTWARD_AT_REST, x)


@address_kernel(PREPARE)
def prepare_nested(space):
    """The rows by their sizes where bases are held, then the factor, from the tips inwards."""
    closure = closure_of(space)
    sizes = rows_of(closure, closure.largest)
    set_sizes(space, sizes)
    set_limits(space, sizes, rows_of(closure, closure.limits))
    pointer = at(sizes, 0)
    return call_address(closure.close_inward, (space, 0, pointer, pointer, pointer, pointer))


@address_kernel(RESOLVE)
def resolve_nested(space, target, multipliers):
    """The multipliers of the rows that are kept; those of the others are zero."""
    closure = closure_of(space)
    kept = integers_at(closure.kept, closure.num_rows)
    x = as_array(multipliers, closure.num_rows)
    for r in range(closure.num_rows):
        x[r] = -target[r]
    nested(space, INWARD, x)
    for r in range(closure.num_rows):
        if kept[r] == 0:
            x[r] = 0.0
    nested(space, OUTWARD, x)
    return nested(space, GATHER, x)


@address_kernel(REDUCE)
def reduce_nested(space, multipliers):
    """See `mbkit.kernels.constraints.least_norm`."""
    found = as_array(multipliers, closure_of(space).num_rows)
    least_norm.reduce(space, found, forward_nested, backward_nested)
    return OK


@address_kernel(GATHER_FORM)
def gather_nested(space, multipliers):
    """What the multipliers do as wrenches, body by body."""
    return nested(space, GATHER, as_array(multipliers, closure_of(space).num_rows))
