"""Multipliers by the Schur complement A M^-1 A^T of the equations of closed mechanisms.

In the forms of `mbkit.kernels.constraints.solve.strategy`: by the block-sparse Cholesky factor of
`mbkit.kernels.constraints.solve.factor`, or, where loops are closed at a base, by recursions over
the bodies.
"""

from mbkit.kernels.compile import address_kernel, as_array, at, call_address, floats_at, helper
from mbkit.kernels.constraints.layout import (
    GATHER,
    INWARD,
    OUTWARD,
    OUTWARD_AT_REST,
    SUBTRACT_MOTION,
)
from mbkit.kernels.constraints.solve import minimum_norm_from_factor
from mbkit.kernels.constraints.solve.factor import (
    backward,
    factorise,
    forward,
    is_clear,
    read_diagonal,
    set_limits,
    solve,
)
from mbkit.kernels.constraints.solve.gram import set_gram
from mbkit.kernels.constraints.solve.nested import set_sizes
from mbkit.kernels.constraints.solve.rank import INFINITE
from mbkit.kernels.constraints.solve.response import add_efforts, gather_efforts, subtract_response
from mbkit.kernels.constraints.solve.strategy import GATHER_FORM, PREPARE, REDUCE, RESOLVE, nested
from mbkit.kernels.constraints.workspace import closure_of, kept_rows, rows_of, set_zero
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.status import NOT_SOLVED, OK, failure
from mbkit.kernels.workspace import bodies

#: Refinements that are tried; in parts of the target, where they end, the same where the factor
#: leaves little of a row, and what must not be left. Numbers below the last have few digits.
MOST = 20
NEAR = 1e-12
NEARER = 1e-14
UNSOLVED = 1e-8
NOTHING = 1e-290


@helper
def set_sizes_and_limits(space):
    """A M^-1 A^T, the squared sizes of its rows, and the limits of pivots that count."""
    closure = closure_of(space)
    set_gram(space)
    sizes = floats_at(closure.largest, closure.num_unknowns)  # separators have blocks of their own
    read_diagonal(closure, sizes)
    set_limits(space, sizes, rows_of(closure, closure.limits))


@helper
def refine(space, target, multipliers, subtract_motion, improve):
    """Solve again for the residual of the rows that count, as long as that halves it at least.

    The factor squares: it is off by rounding over what is least left of a row, as where a light
    body is between heavy ones. What adds up are the motions, which are as small as they are, not
    the multipliers' large forces, of which a light body sees the difference. No solution is taken
    without a look at what it leaves; motions are off by that over the least singular value of the
    rows, and by more where light bodies are between heavy ones.
    Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, chapter 12.
    Cost: a sweep over the responses; where something is left, a solution and a sweep each time.

    Calls   subtract_motion: x -= A of the motion that u makes;
            improve: multipliers and u that take away x are added to these; x is overwritten.
    """
    closure = closure_of(space)
    m = closure.num_rows
    rest = floats_at(closure.unknowns, closure.num_unknowns)
    first = 0.0
    for r in range(m):
        first = max(first, abs(target[r]))
    near = select(is_clear(closure), NEAR, NEARER) * first
    before = INFINITE
    most = 0.0
    worst = 0
    for _ in range(MOST):
        for r in range(rest.shape[0]):
            rest[r] = -target[r] if r < m else 0.0
        subtract_motion(space, rest)
        most, worst = largest_left(closure, rest)
        goes_on = (most > near) & (most < 0.5 * before)
        if not any_lane(goes_on):
            break
        before = most
        for r in range(m):
            rest[r] = select(goes_on, rest[r], 0.0)
        improve(space, rest, multipliers)
    if any_lane((most > UNSOLVED * first) & (most > NOTHING)):
        return failure(NOT_SOLVED, whole(worst))
    return OK


@helper
def largest_left(closure, rest):
    """max |rest| of the rows that count, and of which row it is; the others become zero."""
    kept = kept_rows(closure)
    most = 0.0
    worst = 0
    for r in range(kept.shape[0]):
        rest[r] = select(kept[r] == 0, 0.0, rest[r])
        size = abs(rest[r])
        is_larger = size > most
        if any_lane(is_larger):
            worst = select(is_larger, r, worst)
            most = select(is_larger, size, most)
    return most, worst


# ---------------------------------------------------------------- block-sparse Cholesky factor


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
    set_zero(x)
    for r in range(closure.num_rows):
        x[r] = -target[r]
    solve(closure, x)
    found = as_array(multipliers, closure.num_rows)
    for r in range(closure.num_rows):
        found[r] = x[r]
    gather_efforts(space, found)
    return refine(space, target, found, subtract_response, improve_schur)


@helper
def improve_schur(space, rest, multipliers):
    """u of the change alone is added: a sum over all multipliers would round them off again."""
    closure = closure_of(space)
    solve(closure, rest)
    for r in range(closure.num_rows):
        multipliers[r] += rest[r]
    add_efforts(space, rest)


@address_kernel(REDUCE)
def reduce_schur(space, multipliers):
    """See `mbkit.kernels.constraints.solve.minimum_norm_from_factor`."""
    found = as_array(multipliers, closure_of(space).num_rows)
    minimum_norm_from_factor.reduce(space, found, forward_schur, backward_schur)
    return OK


@helper
def forward_schur(space, x):
    """See `mbkit.kernels.constraints.solve.factor`."""
    forward(closure_of(space), x)


@helper
def backward_schur(space, x):
    """See `mbkit.kernels.constraints.solve.factor`."""
    backward(closure_of(space), x)


# ------------------------------------------------------ the same, where loops are closed at a base


@helper
def forward_nested(space, x):
    """x becomes L^-1 x for the rows that count; for the others their remainder."""
    nested(space, INWARD, x)


@helper
def backward_nested(space, x):
    """`backward` of `mbkit.kernels.constraints.solve.factor`, for nested loops."""
    nested(space, OUTWARD_AT_REST, x)


@address_kernel(PREPARE)
def prepare_nested(space):
    """The rows by their sizes where bases are held, then the factor, from the tips inwards."""
    closure = closure_of(space)
    sizes = rows_of(closure, closure.largest)
    set_sizes(space, sizes)
    set_limits(space, sizes, rows_of(closure, closure.limits))
    pointer = at(sizes, 0)
    return call_address(closure.eliminate_inward, (space, 0, pointer, pointer, pointer, pointer))


@address_kernel(RESOLVE)
def resolve_nested(space, target, multipliers):
    """The multipliers of the rows that are kept; those of the others are zero."""
    closure = closure_of(space)
    x = as_array(multipliers, closure.num_rows)
    for r in range(closure.num_rows):
        x[r] = -target[r]
    solve_nested(space, x)
    nested(space, GATHER, x)
    status = refine(space, target, x, subtract_nested, improve_nested)
    nested(space, GATHER, x)  # where a velocity is prescribed, spreading has changed u
    return status


@helper
def solve_nested(space, x):
    """x becomes a solution, zero for the rows that were left out."""
    kept = kept_rows(closure_of(space))
    nested(space, INWARD, x)
    for r in range(kept.shape[0]):
        x[r] = select(kept[r] == 0, 0.0, x[r])
    nested(space, OUTWARD, x)


@helper
def subtract_nested(space, x):
    """x -= A of the motion that u makes; it is spread as that of the mechanism will be."""
    closure = closure_of(space)
    change = floats_at(closure.change, bodies(space)[0].num_velocities)
    call_address(closure.spread, (space, 0, change, change, change, change))
    nested(space, SUBTRACT_MOTION, x)


@helper
def improve_nested(space, rest, multipliers):
    """The efforts are gathered anew, body by body; see `refine`."""
    solve_nested(space, rest)
    for r in range(multipliers.shape[0]):
        multipliers[r] += rest[r]
    nested(space, GATHER, multipliers)


@address_kernel(REDUCE)
def reduce_nested(space, multipliers):
    """See `mbkit.kernels.constraints.solve.minimum_norm_from_factor`."""
    found = as_array(multipliers, closure_of(space).num_rows)
    minimum_norm_from_factor.reduce(space, found, forward_nested, backward_nested)
    return OK


@address_kernel(GATHER_FORM)
def gather_nested(space, multipliers):
    """Gather the wrenches of the multipliers, body by body."""
    return nested(space, GATHER, as_array(multipliers, closure_of(space).num_rows))
