"""How A M^-1 A^T x = y is solved: the form of a strategy, which the equations call by address.

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

from mbkit.kernels.arrays import assign
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
from mbkit.kernels.constraints.response import gather_efforts, subtract_response
from mbkit.kernels.constraints.space import blocks, closure_of, kept_rows, rows_of
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
    sizes = rows_of(closure, closure.largest)
    read_diagonal(closure, sizes)
    set_limits(closure, sizes, rows_of(closure, closure.limits))


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
    set_limits(closure, sizes, rows_of(closure, closure.limits))
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


# ----------------------------------------------------------- range space: regularised, then refined

#: Refinements that are tried, and the part of the target at which they end.
MOST = 40
NEAR = 1e-15


@address_kernel(PREPARE)
def prepare_range(space):
    """A M^-1 A^T + epsilon = L L^T: no pivot is too small, no rank is decided."""
    closure = closure_of(space)
    set_sizes_and_limits(space)
    sizes = rows_of(closure, closure.largest)
    limits = rows_of(closure, closure.limits)
    top = 0.0
    for r in range(closure.num_rows):
        top = max(top, sizes[r])
        limits[r] = 0.0
    gram = floats_at(closure.gram, closure.num_gram)
    table = blocks(closure)
    for b in range(table.shape[0]):
        block = table[b]
        for r in range(0 if block.is_hub != 0 else block.num_rows):
            gram[block.start + r * block.num_rows + r] += closure.regularisation * top
    factorise(closure)
    kept_rows(closure)[:] = 1
    return OK


@address_kernel(RESOLVE)
def resolve_range(space, target, multipliers):
    """x += (A M^-1 A^T + epsilon)^-1 (-target - A M^-1 A^T x), from zero, while that grows less.

    Each is a step of the proximal point method. Source: Rockafellar 1976; what is left falls by
    epsilon / (epsilon + sigma^2) in the direction of the singular value sigma.
    """
    closure = closure_of(space)
    m = closure.num_rows
    x = as_array(multipliers, m)
    room = floats_at(closure.room, 3 * closure.num_unknowns)
    rest = room[:m]
    change = floats_at(closure.unknowns, closure.num_unknowns)
    x[:] = 0.0
    first = 0.0
    for r in range(m):
        rest[r] = -target[r]
        first = max(first, abs(target[r]))
    before = first
    for _ in range(MOST):
        assign(change[:m], rest)
        for r in range(m, change.shape[0]):
            change[r] = 0.0
        solve(closure, change)
        for r in range(m):
            x[r] += change[r]
            rest[r] = -target[r]
        gather_efforts(space, x)
        subtract_response(space, rest)
        most = 0.0
        for r in range(m):
            most = max(most, abs(rest[r]))
        if not (most > NEAR * first and most < 0.9 * before):
            return OK
        before = most
    return OK
