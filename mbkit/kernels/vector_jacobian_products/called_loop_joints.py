"""Vector-Jacobian products of joints that close loops, by their functions on dual numbers.

These give exactly what `slopes_of_loop_joints` in this package finds by differences: kappa, the
derivative of psi by the pose, and beta, that of Y . b_J by the twist. They also give the partial
derivatives of psi by numbers of the joint, such as its pitch or its axes. See `loops`, and for the
functions `exact_slopes_of_loop_joints`.
"""

import numpy as np

from mbkit.kernels.compile import call_address, floats_at, helper, integers_at, records_at
from mbkit.kernels.duals import DIRECTIONS
from mbkit.kernels.status import CONSTRAINT_FAILED, OK, failure
from mbkit.kernels.vectors import store

_i8 = np.int64
_f8 = np.float64

#: A dual number: its value, and its derivatives.
WIDTH = 1 + DIRECTIONS

#: Derivatives of loop joints for the adjoint; of the current joint the pose T and the motion of its
#: bodies, X, V, R = A - [V_a, V]; and the results.
CALLED_LOOPS = np.dtype(
    [
        ("space", _i8),  # SPACE of dual numbers
        ("slopes", _i8),  # functions by address: see `exact_slopes_of_loop_joints`
        ("slopes_by_numbers", _i8),
        ("moved", _i8),  # MOVED_LOOP entries, by loop joint
        ("count", _i8),
        ("factors", _i8),  # (5, m)
        ("with_residuals", _i8),  # whether factors of residuals count
        ("opens", _i8),  # whether residuals are not zero
        ("has_bias", _i8),  # whether Y . b_J is there, and changes
        ("T_R", _f8, (3, 3)),
        ("T_p", _f8, (3,)),
        ("X", _f8, (6,)),
        ("V", _f8, (6,)),
        ("R", _f8, (6,)),
        ("by_pose", _f8, (6,)),
        ("by_twist", _f8, (6,)),
    ],
    align=True,
)

#: A loop joint some of whose numbers move: where these are as dual numbers, by address; sets of
#: `DIRECTIONS` directions each of these numbers; the sums of derivatives by directions.
MOVED_LOOP = np.dtype(
    [
        ("places", _i8),
        ("count", _i8),
        ("seeds", _i8),
        ("num_seeds", _i8),
        ("size", _i8),  # bytes of one set
        ("sums", _i8),
    ],
    align=True,
)


@helper
def tell(record, body, motion):
    """Write the pose of a loop joint and the motion of its bodies into the record."""
    for j in range(3):
        record.T_p[j] = body.p[j]
        for k in range(3):
            record.T_R[j, k] = body.R[j, k]
    store(record.X, motion.X[0], motion.X[1])
    store(record.V, motion.V[0], motion.V[1])
    store(record.R, motion.R[0], motion.R[1])
    record.has_bias = 1 if motion.has_bias else 0


@helper
def add_by_numbers(record, memory, own, c):
    """Add the derivatives by the numbers of a loop joint, one set of dual numbers after another."""
    places = integers_at(own.places, own.count)
    size = own.count * WIDTH
    seeds = floats_at(own.seeds, own.num_seeds * size)
    sums = floats_at(own.sums, DIRECTIONS * own.num_seeds)
    status = OK
    for part in range(own.num_seeds):
        for k in range(own.count):
            number = floats_at(places[k], WIDTH)
            number[:] = seeds[part * size + k * WIDTH : part * size + (k + 1) * WIDTH]
        out = sums[DIRECTIONS * part : DIRECTIONS * (part + 1)]
        if call_address(record.slopes_by_numbers, (record.space, memory, c, out)) != OK:
            status = failure(CONSTRAINT_FAILED, c)
    for k in range(own.count):
        floats_at(places[k], WIDTH)[1:] = 0.0
    return status


@helper
def add_called_slopes(memory, loop, factors, motion):
    """Write kappa into F and beta into A of the joint's memory; add derivatives by its numbers.

    memory: the address of `CALLED_LOOPS`. The pose of the joint is in R, p of its memory.
    """
    record = records_at(memory, 1, CALLED_LOOPS)[0]
    body = loop.body
    c = loop.constraint.joint - 1
    tell(record, body, motion)
    record.opens = factors.residuals.shape[0]
    record.with_residuals = factors.residuals.shape[0] + factors.closed.shape[0]
    for j in range(6):
        body.F[j] = body.A[j] = 0.0
    status = OK
    if loop.joint.constant == 0 or record.opens != 0:
        status = call_address(record.slopes, (record.space, memory, c))
        for j in range(6):
            body.F[j] = record.by_pose[j]
            body.A[j] = record.by_twist[j]
    own = records_at(record.moved, record.count, MOVED_LOOP)[c]
    if status == OK and own.num_seeds != 0:
        status = add_by_numbers(record, memory, own, c)
    return status
