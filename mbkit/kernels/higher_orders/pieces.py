"""Motion subspaces of joints as series in time, where they change on the way.

A joint is a chain of pieces; with T_k the pose of piece k in the frame before it, which moves with
the body-fixed twist x_k,

    T = T_1 ... T_m,   S = (Ad_T_k^-1 S, S_k),   S of a joint turned round = -Ad_T S.

Columns of pieces: of a screw X is constant; of exp(X), X = X_1 q_1 + ..., S_k = dexp_-X X_k; of an
absolute pose Ad_T^-1 e_k or Ad_R^-1 e_k.
Source: Mueller 2018 (Screw and Lie group theory in multibody kinematics), remark 4.
"""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    at,
    call_address,
    floats_at,
    helper,
    integers_at,
    pointer_at,
    records_at,
)
from mbkit.kernels.evaluation_form import positions
from mbkit.kernels.higher_orders.layout import ABSOLUTE, GIVEN, GIVEN_POSE, PIECE, PLAN, SCREW, SUM
from mbkit.kernels.higher_orders.memory import room_at, room_size
from mbkit.kernels.higher_orders.scalars import dexp_coefficients
from mbkit.kernels.higher_orders.series import (
    add_product,
    bracket,
    carry_inward,
    carry_outward,
    clear,
    inward_term,
    to_child,
    to_parent,
    weighted_sum,
)
from mbkit.kernels.joints.absolute.kinds import LEFT, LIFT, PRODUCT, SIDE
from mbkit.kernels.joints.parameter_header import rest_of, write_pose
from mbkit.kernels.joints.screw_product import screw_at, screw_exp
from mbkit.kernels.layout import OWN_FRAME_P, OWN_FRAME_SIZE, STAGE_P, STAGE_R, STAGE_SIZE
from mbkit.kernels.lie.matrices import load_matrix, matrix_product, matrix_times
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, angular, linear, load, scale, store, subtract
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def pieces_of(plan, i):
    """The pieces of row i, none where S is constant."""
    first = integers_at(plan.first_piece, i + 2)
    pieces = records_at(plan.pieces, plan.num_pieces, PIECE)
    return pieces[first[i] : first[i + 1]]


@helper
def screw_columns(piece, q, stage, first, room):
    """exp(X q), X."""
    parameters = pointer_at(piece.parameters)
    C, r = screw_exp(parameters, 0, q[piece.first_position])
    for j in range(9):
        stage[STAGE_R + j] = C[j]
    for j in range(3):
        stage[STAGE_P + j] = r[j]
    w, u = screw_at(parameters, 0)
    clear(room.columns[first])
    store(room.columns[first, 0], w, u)


@helper
def sum_columns(piece, q, first, room):
    """dexp_-X X_k by brackets, X as a series: q' = v."""
    parameters = pointer_at(piece.parameters)
    start = rest_of(parameters)
    nv = piece.num_velocities
    X = room.more[0]
    count = X.shape[0]
    for n in range(count):
        for i in range(6):
            total = 0.0
            for k in range(nv):
                if n == 0:
                    a = q[piece.first_position + k]
                else:
                    a = room.rates[n - 1, piece.first_velocity + k] / n
                total += a * parameters[start + 6 * k + i]
            X[n, i] = total
    dexp_coefficients(X, room.scalars)
    for k in range(nv):
        y = room.more[1]
        z = room.more[2]
        clear(y)
        for i in range(6):
            y[0, i] = parameters[start + 6 * k + i]
        column = room.columns[first + k]
        clear(column)
        store(column[0], angular(y[0]), linear(y[0]))
        for power in range(4):
            if power % 2 == 0:
                bracket(X, y, z)
                add_product(1.0, room.scalars[power], z, column)
            else:
                bracket(X, z, y)
                add_product(1.0, room.scalars[power], y, column)


@helper
def absolute_columns(piece, first, room):
    """Columns of S at q carried along: by the twist on SE(3), its angular part on SO(3) x R^3.

    That twist is S v, which is carried along itself: each term of it follows from those before.
    Velocities that are angular and left-trivialised stay what they are.
    """
    parameters = pointer_at(piece.parameters)
    product = int(parameters[LIFT]) == PRODUCT
    fixed = 3 if product and int(parameters[SIDE]) == LEFT else 0
    own = room.own
    for n in range(own.shape[0]):
        w = _ZERO
        u = _ZERO
        for c in range(6):
            a = room.rates[n, piece.first_velocity + c]
            w = add(w, scale(a, angular(room.columns[first + c, 0])))
            u = add(u, scale(a, linear(room.columns[first + c, 0])))
        if fixed == 0:
            w, u = inward_term(own, room.triangle, n, w, u)
        store(own[n], w, _ZERO if product else u)
    for c in range(first + fixed, first + 6):
        carry_inward(own, room.triangle, room.columns[c])


@helper
def given_columns(piece, given, stage, first, room):
    """Take the pose and the columns of S of a joint from `given`, where rates are given."""
    at_pose = piece.given
    for j in range(9):
        stage[STAGE_R + j] = given[at_pose + j]
    for j in range(3):
        stage[STAGE_P + j] = given[at_pose + 9 + j]
    k = at_pose + GIVEN_POSE
    for c in range(first, first + piece.num_velocities):
        for n in range(room.own.shape[0]):
            for i in range(6):
                room.columns[c, n, i] = given[k]
                k += 1


@helper
def piece_columns(piece, q, given, stage, first, room):
    """Pose T' of a piece into the stage, and its columns from `first` on, in its own frame."""
    if piece.kind == SCREW:
        screw_columns(piece, q, stage, first, room)
        return OK
    if piece.kind == GIVEN:
        given_columns(piece, given, stage, first, room)
        return OK
    S = room.subspace
    status = call_address(
        piece.motion,
        (
            0,
            pointer_at(piece.parameters),
            at(q, piece.first_position),
            at(room.rates, piece.first_velocity),
            at(stage, STAGE_R),
            at(stage, STAGE_P),
            at(S, 0),
            at(S, 36),
        ),
    )
    if status != OK:
        return status
    if piece.kind == SUM:
        sum_columns(piece, q, first, room)
        return OK
    for c in range(piece.num_velocities):
        clear(room.columns[first + c])
        for i in range(6):
            room.columns[first + c, 0, i] = S[6 * c + i]
    if piece.kind == ABSOLUTE:
        absolute_columns(piece, first, room)
    return OK


@helper
def move_stage(piece, stage, pose):
    """From the stage with T' to one with K T' K^-1, which is multiplied to the pose."""
    R = stage[STAGE_R:STAGE_P].reshape((3, 3))
    p = stage[STAGE_P:STAGE_SIZE]
    K = load_matrix(piece.R)
    k = load(piece.p)
    C = matrix_product(matrix_product(K, load_matrix(R)), load_matrix(piece.R.T))
    r = add(matrix_times(K, load(p)), subtract(k, matrix_times(C, k)))
    write_pose(C, r, stage, stage[STAGE_P:])
    before = load_matrix(pose[:STAGE_P].reshape((3, 3)))
    r = add(load(pose[STAGE_P:]), matrix_times(before, r))
    write_pose(matrix_product(before, C), r, pose, pose[STAGE_P:])


@helper
def chain_columns(pieces, q, given, stage, pose, room):
    """S of a joint as series, in its successor's frame, and its pose."""
    for j in range(STAGE_SIZE):
        pose[j] = 1.0 if j < STAGE_P and j % 4 == 0 else 0.0
    first = 0
    R = stage[STAGE_R:STAGE_P].reshape((3, 3))
    p = stage[STAGE_P:STAGE_SIZE]
    for m in range(pieces.shape[0]):
        piece = pieces[m]
        end = first + piece.num_velocities
        status = piece_columns(piece, q, given, stage, first, room)
        if status != OK:
            return status
        move_stage(piece, stage, pose)
        for c in range(first, end):
            to_parent(piece.R, piece.p, room.columns[c])
        weighted_sum(room.columns, first, end, room.rates, piece.first_velocity, room.own)
        for c in range(first):
            to_child(R, p, room.columns[c])
            carry_inward(room.own, room.triangle, room.columns[c])
        first = end
    return OK


@helper
def turn_round(pose, row, room):
    """S becomes -Ad_T S."""
    nv = row.num_velocities
    columns = room.columns
    weighted_sum(columns, 0, nv, room.rates, row.first_velocity, room.own)
    R = pose[:STAGE_P].reshape((3, 3))
    for c in range(nv):
        carry_outward(room.own, room.triangle, columns[c])
        to_parent(R, pose[STAGE_P:], columns[c])
        for n in range(columns.shape[1]):
            y = columns[c, n]
            store(y, scale(-1.0, angular(y)), scale(-1.0, linear(y)))


@address_kernel("iiippp")
def joint_columns(space, option, i, q, given, memory):
    """S of a row as series into the memory of a room, in the frame of its body.

    option  address of a PLAN.
    """
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    row = model[i]
    q = positions(model, q)
    room = room_at(as_array(memory, room_size(model, plan)), model, plan.count, plan.num_pieces)
    stage = floats_at(scratch_of(space)[0].slot, STAGE_SIZE)
    pose = room.subspace[42:]
    status = chain_columns(pieces_of(plan, i), q, given, stage, pose, room)
    if status != OK:
        return status
    if row.reversed == 1:
        turn_round(pose, row, room)
    if row.own_frame != 0:
        own_frame = floats_at(row.own_frame, OWN_FRAME_SIZE)
        R = own_frame[:OWN_FRAME_P].reshape((3, 3))
        for c in range(row.num_velocities):
            to_child(R, own_frame[OWN_FRAME_P:], room.columns[c])
    return OK
