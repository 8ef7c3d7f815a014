"""T, the differential of the retraction at a step: one block a joint."""

from mbkit.kernels.compile import floats_at, helper
from mbkit.kernels.configuration import BLOCK_SIZE, dexp_inv_block, solve_rows
from mbkit.kernels.implicit_integrators.layout import MOST_STEPS
from mbkit.kernels.implicit_integrators.step_memory import matrix_at, memory_of
from mbkit.kernels.layout import SCREW
from mbkit.kernels.lie.matrices import transposed_times
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies


@helper
def set_block(space, i, x, room, T):
    """T of one joint: the inverse of dexp_inv, by columns; room for 2 BLOCK_SIZE numbers."""
    row = bodies(space)[i]
    n = row.ndx
    k = row.first_step
    status, inverse = dexp_inv_block(space, i, x, room)
    if status != OK:
        return status
    block = room[BLOCK_SIZE : BLOCK_SIZE + n * n].reshape((n, n))
    column = room[BLOCK_SIZE + 36 : BLOCK_SIZE + 36 + n]
    for c in range(n):
        for m in range(n):
            column[m] = 0.0
            for j in range(n):
                block[m, j] = inverse[m, j]
        column[c] = 1.0
        solve_rows(block, column)
        for m in range(n):
            T[k + m, c] = column[m]
    return OK


@helper
def set_differential(space, step, h, D):
    """T: one block a joint, unity where coordinates add; a row for each velocity."""
    record = memory_of(step)
    model = bodies(space)
    T = matrix_at(record.differential, record.nv, MOST_STEPS)
    T[:, :] = 0.0
    x = floats_at(record.columns, record.nv)
    for j in range(record.nv):
        x[j] = h * D[j]
    room = floats_at(record.block, 2 * BLOCK_SIZE)
    for i in range(1, model.shape[0]):
        for c in range(model[i].ndx):
            T[model[i].first_step + c, c] = 1.0
        if model[i].kind != SCREW and model[i].dexp_inv != 0:
            status = set_block(space, i, x, room, T)
            if status != OK:
                return status
    return OK


@helper
def multiply_three(A, T, factor, out):
    """out += factor A T of three columns, without loops that take longer to begin than to end."""
    block = T[0, 0], T[0, 1], T[0, 2], T[1, 0], T[1, 1], T[1, 2], T[2, 0], T[2, 1], T[2, 2]
    for r in range(A.shape[0]):
        x = transposed_times(block, (A[r, 0], A[r, 1], A[r, 2]))
        out[r, 0] += factor * x[0]
        out[r, 1] += factor * x[1]
        out[r, 2] += factor * x[2]


@helper
def multiply_blocks(space, A, T, factor, out):
    """out += factor A T, with T of one block a joint."""
    model = bodies(space)
    for i in range(1, model.shape[0]):
        first = model[i].first_step
        n = model[i].ndx
        if n == 1:
            for r in range(A.shape[0]):
                out[r, first] += factor * (A[r, first] * T[first, 0])
        elif n == 3:
            multiply_three(A[:, first:], T[first:], factor, out[:, first:])
        else:
            for r in range(A.shape[0]):
                for c in range(n):
                    total = 0.0
                    for k in range(first, first + n):
                        total += A[r, k] * T[k, c]
                    out[r, first + c] += factor * total


@helper
def add_turned(space, T, x, factor, y):
    """y += factor T x."""
    model = bodies(space)
    for i in range(1, model.shape[0]):
        first = model[i].first_step
        n = model[i].ndx
        for r in range(n):
            total = 0.0
            for c in range(n):
                total += T[first + r, c] * x[first + c]
            y[first + r] += factor * total
