"""T, the differential of the retraction at a step: one block a joint."""

from mbkit.kernels.compile import at, call_address, floats_at, helper, pointer_at
from mbkit.kernels.configuration import solve_rows
from mbkit.kernels.implicit.layout import BLOCK_SIZE
from mbkit.kernels.implicit.space import memory_of, square
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import JOINT_FAILED, OK, status


@helper
def set_block(space, i, x, room, T):
    """T of one joint: the inverse of dexp_inv, by columns; room for 6 x 8 numbers."""
    row = bodies(space)[i]
    n = row.num_steps
    k = row.first_step
    inverse = room[: n * n].reshape((n, n))
    block = room[36 : 36 + n * n].reshape((n, n))
    unit = room[72:78]
    column = room[78:84]
    unit[:] = 0.0
    for c in range(n):
        unit[c] = 1.0
        state = call_address(
            row.dexp_inv,
            (
                scratch(space)[i].slot,
                pointer_at(row.parameters),
                at(x, k),
                at(room, 72),
                at(room, 78),
            ),
        )
        if state != OK:
            return status(JOINT_FAILED, i)
        unit[c] = 0.0
        for m in range(n):
            inverse[m, c] = column[m]
    for c in range(n):
        block[:, :] = inverse
        column[:] = 0.0
        column[c] = 1.0
        solve_rows(block, column[:n])
        for m in range(n):
            T[k + m, k + c] = column[m]
    return OK


@helper
def set_differential(space, step, h, D):
    """T: one block a joint, unity where coordinates add."""
    record = memory_of(step)
    model = bodies(space)
    T = square(record.differential, record.nv)
    T[:, :] = 0.0
    x = floats_at(record.columns, record.nv)
    for j in range(record.nv):
        x[j] = h * D[j]
        T[j, j] = 1.0
    room = floats_at(record.block, BLOCK_SIZE)
    for i in range(1, model.shape[0]):
        if model[i].kind != SCREW and model[i].dexp_inv != 0:
            state = set_block(space, i, x, room, T)
            if state != OK:
                return state
    return OK


@helper
def multiply_blocks(space, A, T, factor, out):
    """out += factor A T, with T of one block a joint."""
    model = bodies(space)
    for i in range(1, model.shape[0]):
        first = model[i].first_step
        end = first + model[i].num_steps
        for r in range(A.shape[0]):
            for c in range(first, end):
                total = 0.0
                for k in range(first, end):
                    total += A[r, k] * T[k, c]
                out[r, c] += factor * total
