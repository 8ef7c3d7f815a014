"""Newton's matrix by blocks: the entries of `matrix`, of bodies and constraints that share any.

Of bodies i, l of the tree and constraints c, d, with P_il = 0 but where the velocity of l meets the
equations of i, in joints or through forces:

    of D:       [ P_il + h^2 K_il T_l ]       in the equations of i, those of c
                [ A_cl T_l            ]       in g of c
                [ a A_cl + h Z_cl T_l ]       in A v + g_t of c
    of lambda:  [ -A_ci^T             ]       in the equations of i
    of eta:     [ sum_l P_il A_n,cl^T ]       in the equations of i
                [ a sum_l A_dl A_n,cl^T ]     in A v + g_t of d

What is multiplied by T where velocities follow D in another gain than one is as there.
"""

from mbkit.kernels.compile import address_kernel, floats_at, helper, integers_at
from mbkit.kernels.constraints.workspace import closure_of, constraints
from mbkit.kernels.elementary import select
from mbkit.kernels.implicit_integrators.block_factor import factorise_blocks, nodes_of
from mbkit.kernels.implicit_integrators.layout import (
    ACCELERATION_GAIN,
    HOLD_CONSTRAINT,
    HOLD_FORCE_START,
    HOLD_FORCE_STRIDE,
    HOLD_ROW,
    HOLD_SIZE,
    HOLD_START,
    HOLD_STRIDE,
    MOST_STEPS,
    PAIR_HIGH,
    PAIR_LOW,
    PAIR_MOVES,
    PAIR_SIZE,
    PAIR_START,
    PAIR_STRIDE,
    PRODUCT_CONSTRAINT,
    PRODUCT_LEFT,
    PRODUCT_ROW,
    PRODUCT_SIZE,
    PRODUCT_START,
    PRODUCT_STRIDE,
    STEP,
    VELOCITY_GAIN,
)
from mbkit.kernels.implicit_integrators.newton_matrix import linearise_equations
from mbkit.kernels.implicit_integrators.step_memory import flags_at, matrix_at, memory_of
from mbkit.kernels.linear_algebra.pivot_orders import own_integers_at
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, columns_of


@helper
def table(address, count, size):
    """Integers, `size` for each of as many."""
    return integers_at(address, count * size).reshape((count, size))


@helper
def turn(X, place, T, row, factor, room):
    """X becomes X T times the factor, in the columns from place on, those of one body."""
    n = row.ndx
    for r in range(X.shape[0]):
        for c in range(n):
            room[c] = 0.0
            for k in range(n):
                room[c] += X[r, place + k] * T[row.first_step + k, c]
        for c in range(n):
            X[r, place + c] = factor * room[c]


@helper
def set_inertia(record, h, a, b):
    """P = b M + h a C in the place of M, and the scale."""
    nv = record.nv
    size = nv * record.width
    M = floats_at(record.mass, size)
    C = floats_at(record.derivatives, 2 * size)[size:]
    for j in range(size):
        M[j] = b * M[j] + h * a * C[j]


@helper
def set_scale(space, record):
    """The scale of multipliers and constraints: the largest entry of P on its diagonal."""
    P = matrix_at(record.mass, record.nv, record.width)
    column_of = columns_of(space)
    top = 0.0
    for j in range(record.nv):
        top = max(top, abs(P[j, column_of[j]]))
    floats_at(record.scale, 1)[0] = top


@helper
def set_pairs(space, record, h):
    """P + h^2 K T of the tree; P becomes P T with a gain."""
    model = bodies(space)
    column_of = columns_of(space)
    nv = record.nv
    P = matrix_at(record.mass, nv, record.width)
    K = matrix_at(record.derivatives, nv, record.width)
    T = matrix_at(record.differential, nv, MOST_STEPS)
    room = floats_at(record.block, MOST_STEPS)
    prescribed = flags_at(record.prescribed, nv)
    entries = floats_at(record.matrix, record.num_entries)
    pairs = table(record.pairs, record.num_pairs, PAIR_SIZE)
    for e in range(pairs.shape[0]):
        own = model[pairs[e, PAIR_HIGH]]
        other = model[pairs[e, PAIR_LOW]]
        first = own.first_velocity
        end = first + own.num_velocities
        column = column_of[other.first_velocity]
        turn(K[first:end], column, T, other, h * h, room)
        if record.gain != 0 and pairs[e, PAIR_MOVES] != 0:
            turn(P[first:end], column, T, other, 1.0, room)
        for r in range(first, end):
            start = pairs[e, PAIR_START] + (r - first) * pairs[e, PAIR_STRIDE]
            for k in range(other.num_velocities):
                if prescribed[r] == 0 and prescribed[other.first_velocity + k] == 0:
                    value = K[r, column + k]
                    if pairs[e, PAIR_MOVES] != 0:
                        value += P[r, column + k]
                    entries[start + k] = value


@helper
def set_holds(space, record, h, a):
    """Derivatives of constraints by D, and of the equations of motion by multipliers."""
    model = bodies(space)
    every = constraints(closure_of(space))
    column_of = columns_of(space)
    A = matrix_at(record.A, record.m, record.width)
    AT = matrix_at(record.more, record.m, record.width)
    Z = matrix_at(record.Z, record.m, record.width)
    T = matrix_at(record.differential, record.nv, MOST_STEPS)
    room = floats_at(record.block, MOST_STEPS)
    scale = floats_at(record.scale, 1)[0]
    kept = own_integers_at(record.kept, record.m)
    position_of_row = flags_at(record.position_of_row, record.m)
    prescribed = flags_at(record.prescribed, record.nv)
    entries = floats_at(record.matrix, record.num_entries)
    holds = table(record.holds, record.num_holds, HOLD_SIZE)
    for e in range(holds.shape[0]):
        hold = holds[e]
        constraint = every[hold[HOLD_CONSTRAINT]]
        row = model[hold[HOLD_ROW]]
        first = constraint.first_row
        end = first + constraint.num_rows
        column = column_of[row.first_velocity]
        for r in range(first, end):
            for k in range(row.num_velocities):
                AT[r, column + k] = A[r, column + k]
        turn(AT[first:end], column, T, row, 1.0, room)
        turn(Z[first:end], column, T, row, h, room)
        for r in range(first, end):
            factor = select(kept[r] != 0, scale, 0.0)
            for k in range(row.num_velocities):
                if prescribed[row.first_velocity + k] != 0:
                    continue
                force = hold[HOLD_FORCE_START] + k * hold[HOLD_FORCE_STRIDE]
                entries[force + r - first] = -factor * A[r, column + k]
                way = AT[r, column + k]
                speed = a * (A[r, column + k] if record.gain == 0 else way) + Z[r, column + k]
                target = hold[HOLD_START] + (r - first) * hold[HOLD_STRIDE] + k
                if position_of_row[r] < 0:
                    entries[target] = factor * speed
                else:
                    entries[target] = factor * way
                    if record.stabilised != 0:
                        below = constraint.num_rows * hold[HOLD_STRIDE]
                        entries[target + below] = factor * speed


@helper
def set_pushes(space, record):
    """P A_n^T."""
    model = bodies(space)
    every = constraints(closure_of(space))
    column_of = columns_of(space)
    P = matrix_at(record.mass, record.nv, record.width)
    A_n = matrix_at(record.A_made, record.m, record.width)
    kept = own_integers_at(record.kept, record.m)
    position_of_row = flags_at(record.position_of_row, record.m)
    prescribed = flags_at(record.prescribed, record.nv)
    entries = floats_at(record.matrix, record.num_entries)
    pushes = table(record.pushes, record.num_pushes, PRODUCT_SIZE)
    for e in range(pushes.shape[0]):
        own = model[pushes[e, PRODUCT_LEFT]]
        constraint = every[pushes[e, PRODUCT_CONSTRAINT]]
        row = model[pushes[e, PRODUCT_ROW]]
        column = column_of[row.first_velocity]
        for i in range(own.num_velocities):
            if prescribed[own.first_velocity + i] != 0:
                continue
            start = pushes[e, PRODUCT_START] + i * pushes[e, PRODUCT_STRIDE] + constraint.num_rows
            for r in range(constraint.num_rows):
                s = constraint.first_row + r
                if position_of_row[s] >= 0:
                    total = 0.0
                    for k in range(row.num_velocities):
                        total += P[own.first_velocity + i, column + k] * A_n[s, column + k]
                    entries[start + r] += select(kept[s] != 0, total, 0.0)


@helper
def set_meetings(space, record, a):
    """a A A_n^T, A times T with a gain: that is in `more`."""
    model = bodies(space)
    every = constraints(closure_of(space))
    column_of = columns_of(space)
    A = matrix_at(record.A if record.gain == 0 else record.more, record.m, record.width)
    A_n = matrix_at(record.A_made, record.m, record.width)
    scale = floats_at(record.scale, 1)[0]
    kept = own_integers_at(record.kept, record.m)
    position_of_row = flags_at(record.position_of_row, record.m)
    entries = floats_at(record.matrix, record.num_entries)
    meetings = table(record.meetings, record.num_meetings, PRODUCT_SIZE)
    for e in range(meetings.shape[0]):
        own = every[meetings[e, PRODUCT_LEFT]]
        other = every[meetings[e, PRODUCT_CONSTRAINT]]
        row = model[meetings[e, PRODUCT_ROW]]
        column = column_of[row.first_velocity]
        for i in range(own.num_rows):
            r = own.first_row + i
            factor = select(kept[r] != 0, scale * a, 0.0)
            line = i if position_of_row[r] < 0 else own.num_rows + i
            start = meetings[e, PRODUCT_START] + line * meetings[e, PRODUCT_STRIDE]
            for j in range(other.num_rows):
                s = other.first_row + j
                if position_of_row[s] >= 0:
                    total = 0.0
                    for k in range(row.num_velocities):
                        total += A[r, column + k] * A_n[s, column + k]
                    entries[start + other.num_rows + j] += select(kept[s] != 0, factor * total, 0.0)


@helper
def set_unity(record):
    """Diagonal of unknowns not solved for: D of prescribed joints, lambda, eta of omitted rows."""
    nv = record.nv
    m = record.m
    scale = floats_at(record.scale, 1)[0]
    kept = own_integers_at(record.kept, m)
    position_of_row = flags_at(record.position_of_row, m)
    prescribed = flags_at(record.prescribed, nv)
    order = flags_at(record.order, record.n)
    entries = floats_at(record.matrix, record.num_entries)
    nodes = nodes_of(record)
    for c in range(nodes.shape[0]):
        node = nodes[c]
        for k in range(node.count):
            j = order[node.first + k]
            diagonal = node.right + k * (node.count + node.width + 1)
            r = (j - nv) % m if j >= nv else 0
            if j < nv:
                if prescribed[j] != 0:
                    entries[diagonal] = scale
            elif j >= nv + m and position_of_row[r] < 0:
                entries[diagonal] = scale
            else:
                entries[diagonal] = select(kept[r] == 0, scale, entries[diagonal])


@helper
def set_blocks(space, step, h, a, b):
    """The matrix, by the results of `linearise_equations`."""
    record = memory_of(step)
    entries = floats_at(record.matrix, record.num_entries)
    entries[:] = 0.0
    set_inertia(record, h, a, b)
    set_scale(space, record)
    set_pairs(space, record, h)
    if record.m > 0:
        set_holds(space, record, h, a)
        if record.stabilised != 0:
            set_pushes(space, record)
            set_meetings(space, record, a)
    set_unity(record)


@address_kernel("ii")
def make_blocks(space, step):
    """Make the matrix at the state `made_at`, and factorise it: `make`, by blocks."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    status = linearise_equations(space, step)
    if status != OK:
        return status
    set_blocks(space, step, made[STEP], made[VELOCITY_GAIN], made[ACCELERATION_GAIN])
    return factorise_blocks(record)
