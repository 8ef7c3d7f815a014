"""From the address of a workspace to the arrays of its constraints."""

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.constraints.layout import (
    BLOCK,
    CLOSED_COLUMN,
    CLOSURE,
    CONSTRAINT,
    CONSTRAINT_SITE,
    PAIR,
    PROPAGATION,
    SEPARATOR,
)
from mbkit.kernels.layout import BODY, SCRATCH, SPACE
from mbkit.kernels.linear_algebra.pivot_orders import own_integers_at


@helper
def closure_of(space):
    """The record of the constraints."""
    return records_at(records_at(space, 1, SPACE)[0].closure, 1, CLOSURE)[0]


@helper
def constraints(closure):
    """The constraints, one `CONSTRAINT` row each."""
    return records_at(closure.constraints, closure.num_constraints, CONSTRAINT)


@helper
def sites(closure):
    """The frames that they act on."""
    return records_at(closure.sites, closure.num_sites, CONSTRAINT_SITE)


@helper
def joints(closure):
    """The joints that close loops, and their scratch memory."""
    count = closure.num_joints
    return records_at(closure.joints, count, BODY), records_at(
        closure.joint_scratch, count, SCRATCH
    )


@helper
def blocks(closure):
    """The blocks of unknowns, each of which is eliminated at once."""
    return records_at(closure.blocks, closure.num_blocks, BLOCK)


@helper
def pairs(closure):
    """Which constraints act on each other."""
    return records_at(closure.pairs, closure.num_pairs, PAIR)


@helper
def separators(closure):
    """Which constraints act on what stays an unknown."""
    return records_at(closure.separators, closure.num_separators, SEPARATOR)


@helper
def propagations(closure):
    """Where constraints pass on their way inwards."""
    return records_at(closure.propagations, closure.num_propagations, PROPAGATION)


@helper
def closed_columns(closure):
    """U, D and u of every velocity where loops are closed."""
    return records_at(closure.closed_columns, closure.num_closed_columns, CLOSED_COLUMN)


@helper
def set_zero(numbers):
    """numbers = 0, for an array of one axis."""
    for k in range(numbers.shape[0]):
        numbers[k] = 0.0


@helper
def rows_of(closure, address):
    """One number a row of velocity level."""
    return floats_at(address, closure.num_rows)


@helper
def kept_rows(closure):
    """1 for each row that is independent of those before it."""
    return own_integers_at(closure.kept, closure.num_rows)


@helper
def chosen_rows(closure):
    """1 for each row that counted where the step began."""
    return own_integers_at(closure.chosen, closure.num_rows)


@helper
def counted_rows(closure):
    """1 for each row that counts by the rule of `mbkit.kernels.constraints.solve.rank`."""
    return own_integers_at(closure.counted, closure.num_rows)


@helper
def wrenches_of(closure, constraint):
    """The wrenches of a constraint, (rows and sites, 6): those of row r begin at r num_sites."""
    first = constraint.first_wrench
    count = constraint.num_rows * constraint.num_sites
    return floats_at(closure.wrenches, closure.num_wrenches)[first : first + 6 * count].reshape(
        (count, 6)
    )


@helper
def coefficients_of(closure, constraint):
    """The coefficients of its velocities, (rows, num_velocities)."""
    first = constraint.first_coefficient
    count = constraint.num_rows * constraint.num_velocities
    return floats_at(closure.coefficients, closure.num_coefficients)[first : first + count].reshape(
        (constraint.num_rows, constraint.num_velocities)
    )


@helper
def response_of(closure, constraint):
    """S.f of a constraint, (rows, columns)."""
    first = constraint.first_response
    count = constraint.num_columns * constraint.num_rows
    return floats_at(closure.response, closure.num_response)[first : first + count].reshape(
        (constraint.num_rows, constraint.num_columns)
    )
