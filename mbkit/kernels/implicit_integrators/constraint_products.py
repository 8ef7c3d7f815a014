"""Products with A, whose columns are those of velocities, which these may share."""

from mbkit.kernels.compile import floats_at, helper, integers_at, records_at
from mbkit.kernels.constraints.workspace import closure_of, constraints
from mbkit.kernels.implicit_integrators.step_memory import (
    add_transposed_product,
    flags_at,
    matrix_at,
    memory_of,
)
from mbkit.kernels.layout import SPACE
from mbkit.kernels.workspace import bodies, columns_of


@helper
def take_places(space, step):
    """Let derivatives have the columns of this step's matrix: another one's may share others."""
    record = memory_of(step)
    wanted = integers_at(record.column_of, record.nv)
    column_of = columns_of(space)
    for k in range(record.nv):
        column_of[k] = wanted[k]
    records_at(space, 1, SPACE)[0].num_columns = record.width


@helper
def add_forces(space, step, address, x, factor, y):
    """y += factor A^T x, A at the address."""
    record = memory_of(step)
    if record.m == 0:
        return
    A = matrix_at(address, record.m, record.width)
    if record.solve == 0:
        add_transposed_product(A, x, factor, y)
        return
    model = bodies(space)
    column_of = columns_of(space)
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        constraint = every[c]
        first = constraint.first_row
        support = integers_at(constraint.support, constraint.num_support)
        for s in range(support.shape[0]):
            row = model[support[s]]
            for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
                total = 0.0
                for r in range(first, first + constraint.num_rows):
                    total += A[r, column_of[j]] * x[r]
                y[j] += factor * total


@helper
def row_product(space, step, A, x, y):
    """y = A x."""
    model = bodies(space)
    column_of = columns_of(space)
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        constraint = every[c]
        support = integers_at(constraint.support, constraint.num_support)
        for r in range(constraint.first_row, constraint.first_row + constraint.num_rows):
            y[r] = 0.0
            for s in range(support.shape[0]):
                row = model[support[s]]
                for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
                    y[r] += A[r, column_of[j]] * x[j]


@helper
def clear_columns(space, step, A):
    """No column of a prescribed joint."""
    record = memory_of(step)
    prescribed = flags_at(record.prescribed, record.nv)
    if record.m == 0:
        return
    model = bodies(space)
    column_of = columns_of(space)
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        constraint = every[c]
        support = integers_at(constraint.support, constraint.num_support)
        for s in range(support.shape[0]):
            row = model[support[s]]
            for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
                if prescribed[j] != 0:
                    for r in range(
                        constraint.first_row, constraint.first_row + constraint.num_rows
                    ):
                        A[r, column_of[j]] = 0.0


@helper
def add_force_change(space, step, k, factor, v, multipliers):
    """Column k of K -= factor A^T lambda, and of Z += factor A v, A in `more`."""
    record = memory_of(step)
    model = bodies(space)
    column_of = columns_of(space)
    A = matrix_at(record.more, record.m, record.width)
    K = floats_at(record.derivatives, record.nv * record.width).reshape((record.nv, record.width))
    Z = matrix_at(record.Z, record.m, record.width)
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        constraint = every[c]
        support = integers_at(constraint.support, constraint.num_support)
        for r in range(constraint.first_row, constraint.first_row + constraint.num_rows):
            for s in range(support.shape[0]):
                row = model[support[s]]
                for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
                    K[j, k] -= factor * A[r, column_of[j]] * multipliers[r]
                    Z[r, k] += factor * A[r, column_of[j]] * v[j]
