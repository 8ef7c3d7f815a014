"""Parts of the adjoint of closed mechanisms that are called by address.

Each is compiled once, in half a minute for the pass over the bodies: compiled into all of their
callers they took more than four.
"""

import numpy as np

from mbkit.kernels.compile import address_kernel, at, call_address, floats_at, helper, records_at
from mbkit.kernels.constraints.evaluate import rows_of_motion
from mbkit.kernels.constraints.solve.dynamics import correct, linearise
from mbkit.kernels.constraints.workspace import closure_of, rows_of
from mbkit.kernels.evaluation_form import positions, tangent, velocities
from mbkit.kernels.implicit_integrators.step_memory import matrix_at
from mbkit.kernels.layout import KINEMATICS
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.bushings import SIZE as BUSHING_SIZE
from mbkit.kernels.vector_jacobian_products.bushings import add_bushings
from mbkit.kernels.vector_jacobian_products.called_loop_joints import CALLED_LOOPS
from mbkit.kernels.vector_jacobian_products.constraints import add_constraints
from mbkit.kernels.vector_jacobian_products.drags import SIZE as DRAG_SIZE
from mbkit.kernels.vector_jacobian_products.drags import add_drags
from mbkit.kernels.vector_jacobian_products.dynamics import (
    State,
    Sums,
    add_inertias,
    add_joints,
    place_bodies,
    set_own,
)
from mbkit.kernels.vector_jacobian_products.forces import add_called_forces
from mbkit.kernels.vector_jacobian_products.loops import Factors, add_loops, place_sites
from mbkit.kernels.vector_jacobian_products.springs import add_springs
from mbkit.kernels.vectors import add, angular, linear, store
from mbkit.kernels.workspace import at_rest, bodies, scratch_of

_i8 = np.int64
_f8 = np.float64

#: Residuals that are not zero, and those of loops that are closed.
OPEN = 1
CLOSED = 2

#: What the passes share: `Sums` by address, and the factors of the rows of constraints.
PASSES = np.dtype(
    [
        ("bodies", _i8),  # and the world
        ("rows", _i8),  # m
        ("frames", _i8),  # rows of the regressor, or 0
        ("springs", _i8),  # or 0
        ("bushings", _i8),
        ("drags", _i8),
        ("with_residuals", _i8),  # whether factors of residuals count: OPEN, CLOSED, or 0
        ("closes", _i8),  # whether it is the end of a step that is closed
        ("moves", _i8),  # whether constraints depend on time
        ("time", _f8),
        ("loops", _i8),  # CALLED_LOOPS of `called_loop_joints` there, or 0
        ("constraints", _i8),  # ROWS of `mbkit.kernels.vector_jacobian_products.constraints`, or 0
        ("twists", _i8),
        ("momenta", _i8),
        ("turns", _i8),
        ("pushes", _i8),
        ("origins", _i8),
        ("regressor", _i8),
        ("by_springs", _i8),
        ("table_of_bushings", _i8),
        ("table_of_drags", _i8),
        ("places", _i8),  # rows of these, or 0
        ("sites", _i8),
        ("by_places", _i8),
        ("by_sites", _i8),
        ("numbers", _i8),  # of joints: NUMBERS, or 0
        ("called", _i8),  # forces, or 0
        ("factors", _i8),  # (5, m): L, Y, Z, G as in `loops.Factors`, and memory
        ("solve_adjoint", _i8),  # functions by address
        ("multipliers_of", _i8),
        ("back_through_equations", _i8),
    ],
    align=True,
)


@helper
def passes_at(memory):
    """The record at an address."""
    return records_at(memory, 1, PASSES)[0]


@helper
def factors_at(record):
    """Factors of the rows of constraints, (5, m)."""
    return matrix_at(record.factors, 5, record.rows)


@helper
def sums_at(record):
    """The sums."""
    n = record.bodies
    return Sums(
        matrix_at(record.twists, n, 6), matrix_at(record.momenta, n, 6),
        matrix_at(record.turns, n, 6), matrix_at(record.pushes, n, 6),
        matrix_at(record.origins, n, 3), matrix_at(record.regressor, record.frames, 10),
        matrix_at(record.by_springs, record.springs, 9),
        matrix_at(record.table_of_bushings, record.bushings, BUSHING_SIZE),
        matrix_at(record.table_of_drags, record.drags, DRAG_SIZE),
        matrix_at(record.by_places, record.places, 12),
        matrix_at(record.by_sites, record.sites, 6), record.numbers, record.called,
    )  # fmt: skip


@address_kernel("iippppp")
def solve_adjoint(still, memory, q, a, efforts, x, y):
    """x (nv,) and y (m,) from the adjoints a (nv,) of accelerations; `efforts` (nv,) is memory."""
    closure = closure_of(still)
    bias = rows_of(closure, closure.bias)
    nv = bodies(still)[0].num_velocities
    for k in range(nv):
        efforts[k] = -a[k]
    rest = at(at_rest(still), 0)
    moves = passes_at(memory).moves != 0
    status = OK
    if moves:
        status = rows_of_motion(still, KINEMATICS, q, rest, rest)
        for r in range(closure.num_rows):
            y[r] = bias[r]  # what the time alone does
    if status == OK:
        status = linearise(still, 0, q, rest, efforts, x)
    if status != OK:
        return status
    if moves:
        for r in range(closure.num_rows):
            bias[r] -= y[r]
    multipliers = rows_of(closure, closure.multipliers)
    change = floats_at(closure.change, nv)
    status = correct(still, bias, multipliers, change)
    for k in range(nv):
        x[k] += change[k]
    for r in range(closure.num_rows):
        y[r] = -multipliers[r]
    return status


@address_kernel("iippp")
def multipliers_of(still, memory, q, change, out):
    """out (m,) = (A M^-1 A^T)^-1 A change, by the factor that `solve_adjoint` has left."""
    closure = closure_of(still)
    room = floats_at(closure.change, bodies(still)[0].num_velocities)
    status = rows_of_motion(still, KINEMATICS, q, change, at(room, 0))
    if status != OK:
        return status
    multipliers = rows_of(closure, closure.multipliers)
    rate = rows_of(closure, closure.rate)
    if passes_at(memory).moves != 0:
        time_rate = rows_of(closure, closure.time_rate)
        for r in range(closure.num_rows):
            rate[r] -= time_rate[r]
    status = call_address(closure.resolve, (still, rate, multipliers))
    for r in range(closure.num_rows):
        out[r] = -multipliers[r]
    return status


@helper
def set_twists(model, scratch, weights, twists):
    """W of all bodies, where velocities are the weights; needs S."""
    twists[0, :] = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        w, u = joint_sum(row, scratch[i], weights)
        parent = twists[row.parent]
        store(twists[i], add(angular(parent), w), add(linear(parent), u))


@address_kernel("iipppppp")
def back_through_equations(space, memory, q, v, vdot, x, by_q, by_v):
    """x . de + y . dr by q and v is added to by_q (ndx,) and by_v (nv,).

    With the factors of the record, L to G: x = 0, L = Y = 0 leaves z . d(A v) + G . dg.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    record = passes_at(memory)
    sums = sums_at(record)
    state = State(positions(model, q), velocities(model, v), velocities(model, vdot))
    x = velocities(model, x)
    table = factors_at(record)
    status = place_bodies(space, state, sums.origins)
    if status != OK:
        return status
    set_twists(model, scratch, x, sums.twists)
    set_own(model, scratch, state, sums)
    add_springs(space, sums)
    add_bushings(space, sums)
    add_drags(space, sums)
    residuals = table[3] if record.with_residuals == OPEN else table[3, :0]
    closed = table[3] if record.with_residuals == CLOSED else table[3, :0]
    factors = Factors(table[0], table[1], table[2], residuals, closed, record.loops)
    if record.loops != 0:
        records_at(record.loops, 1, CALLED_LOOPS)[0].factors = record.factors
    out = tangent(model, by_q), velocities(model, by_v)
    status = add_called_forces(space, state, x, sums, out)
    if status == OK and record.rows != 0:
        place_sites(space, sums.origins)
        status = add_loops(space, factors, sums)
    if status == OK:
        told = record.constraints, record.with_residuals, record.closes, record.time
        status = add_constraints(space, told, state, (x, table), sums, out)
    if status == OK:
        add_joints(space, state, x, sums, out)
        add_inertias(space, sums)
    return status
