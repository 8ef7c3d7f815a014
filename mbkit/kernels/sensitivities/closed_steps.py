"""The adjoint of the dynamics of closed mechanisms, and of the way back to the constraints.

Accelerations of a closed mechanism solve

    e = M vdot + b - A^T lambda = tau,    r = A vdot + A-dot v = 0,

so that adjoints a of accelerations are weights x of e and y of r, from the same equations at rest,
without gravity and forces:

    x = -(M^-1 - M^-1 A^T (A M^-1 A^T)^-1 A M^-1) a,    y = -(A M^-1 A^T)^-1 A M^-1 a.

These are accelerations under efforts -a, and multipliers of another sign. What x . de + y . dr is
by q and v comes from one pass over the bodies (`mbkit.kernels.vector_jacobian_products.dynamics`)
that takes the loop joints along (`mbkit.kernels.vector_jacobian_products.loops`).

The end of a step is corrected as `mbkit.kernels.constraints.solve.projection` does, by D and by w:

    E1 = M D - A^T m = 0,   R1 = A D + g = 0   at q0;       g = 0   at q = retract(q0, D);
    E2 = M w - A^T n = 0,   R2 = A v = 0       at q, v = v0 + w,

whose derivatives are of the same form, with D and w for accelerations of a mechanism at rest.

Rows that depend on others are left out: those that the run has left out in the step. Where g
depends on time, r and R2 have terms g_t and so on, at the time of the stage and of the end.
Source: derived here; Griewank and Walther, Evaluating Derivatives, 2nd edition, section 15.2, for
adjoints of equations that are solved.
Cost: for each stage, and three times for the end of a step, what accelerations cost, and a pass.
"""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import call_address, helper, int64, matrix
from mbkit.kernels.configuration import difference_rows
from mbkit.kernels.constraints.evaluate import set_time
from mbkit.kernels.constraints.solve.response import subtract_response
from mbkit.kernels.constraints.workspace import chosen_rows, closure_of, rows_of, set_zero
from mbkit.kernels.explicit_integrators.uncounted_records import matrix_of
from mbkit.kernels.sensitivities.back_through_charts import back_through_map
from mbkit.kernels.sensitivities.charts import Step, set_differentials
from mbkit.kernels.sensitivities.closed_passes import CLOSED, OPEN, factors_at, passes_at
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.dynamics import State
from mbkit.kernels.workspace import bodies, scratch_of


class Loops(NamedTuple):
    """The loops of a closed mechanism, their results, and memory."""

    still: int64  # SPACE of the mechanism without gravity and forces; 0: loops take no part
    memory: int64  # PASSES of `mbkit.kernels.sensitivities.closed_passes`
    closes: int64  # whether steps are brought back to the constraints at their ends
    least: int64  # whether multipliers of the stages are those of least norm of all rows
    rows: matrix  # (N s, m), y of the stages
    motions: matrix  # (5, nv): zeros, efforts, x, D or w, and the adjoint of D


@helper
def loops_of(loops):
    """The same loops: see `mbkit.kernels.explicit_integrators.uncounted_records`."""
    still, memory, closes, least, rows, motions = loops
    return Loops(still, memory, closes, least, matrix_of(rows), matrix_of(motions))


@helper
def follow(still, kept):
    """Let those rows count that counted in a step."""
    closure = closure_of(still)
    chosen = chosen_rows(closure)
    for r in range(kept.shape[0]):
        chosen[r] = 1 if kept[r] != 0.0 else 0
    closure.follows = 1


@helper
def look_at(loops, t):
    """Let constraints that depend on time be those of a time."""
    passes_at(loops.memory).time = t
    set_time(loops.still, t)


@helper
def solve(loops, q, a, x, y):
    """x and y from the adjoints a of accelerations."""
    record = passes_at(loops.memory)
    given = loops.still, loops.memory, q, a, loops.motions[1], x, y
    return call_address(record.solve_adjoint, given)


@helper
def go_back(space, loops, state, x, out):
    """Add to `out`, a pair, by q and v, x . de and the rows times their factors."""
    q, v, vdot = state
    by_q, by_v = out
    record = passes_at(loops.memory)
    return call_address(
        record.back_through_equations, (space, loops.memory, q, v, vdot, x, by_q, by_v)
    )


@helper
def of_counted_rows(still, kept, multipliers, room):
    """Multipliers become those of the rows that count which do what all do together, in place."""
    every = 1
    for r in range(kept.shape[0]):
        room[r] = 0.0
        every = every if kept[r] != 0.0 else 0
    if every != 0:
        return OK
    closure = closure_of(still)
    status = call_address(closure.gather, (still, multipliers))
    if status != OK:
        return status
    subtract_response(still, room)
    found = rows_of(closure, closure.multipliers)
    status = call_address(closure.resolve, (still, room, found))
    assign(multipliers, found)
    return status


@helper
def back_through_closed_dynamics(space, state, adjoint, rows, place, out):
    """Weights of e and r of a stage by adjoints of accelerations; adds their terms by q and v."""
    row, i = place
    multipliers, kept = rows
    loops = adjoint.loops
    factors = factors_at(passes_at(loops.memory))
    x, y = adjoint.efforts[row], loops.rows[row]
    status = solve(loops, state.q, adjoint.accelerations[i], x, y)
    assign(factors[0], multipliers)
    if status == OK and loops.least != 0:
        status = of_counted_rows(loops.still, kept, factors[0], factors[4])
    if status != OK:
        return status
    assign(factors[1], y)
    set_zero(factors[2])
    return go_back(space, loops, state, x, out)


@helper
def back_through_velocities(history, adjoint, n, by_q, by_v):
    """From v = v0 + w and q to v0 and q, in place."""
    loops = adjoint.loops
    record = passes_at(loops.memory)
    factors = factors_at(record)
    rest, x, w, unused = loops.motions[0], loops.motions[2], loops.motions[3], loops.motions[4]
    q, v = history.end_q[n], history.end_v[n]
    for k in range(w.shape[0]):
        w[k] = v[k] - history.open_v[n, k]
    status = solve(loops, q, by_v, x, factors[2])
    if status == OK:
        status = call_address(record.multipliers_of, (loops.still, loops.memory, q, w, factors[0]))
    if status != OK:
        return status
    y = factors[4]
    assign(y, factors[2])
    set_zero(factors[1])
    set_zero(factors[2])
    status = go_back(loops.still, loops, State(q, rest, w), x, (by_q, unused))
    if status != OK:
        return status
    set_zero(factors[0])
    assign(factors[2], y)
    return go_back(loops.still, loops, State(q, v, rest), rest, (by_q, by_v))


@helper
def back_through_positions(history, adjoint, n, by_q, out):
    """From q to q0, out (d,); by_q is overwritten."""
    loops = adjoint.loops
    still = loops.still
    record = passes_at(loops.memory)
    factors = factors_at(record)
    rest, x, D, a = loops.motions[0], loops.motions[2], loops.motions[3], loops.motions[4]
    q = history.end_q[n]
    status = solve(loops, q, by_q, x, factors[2])
    if status != OK:
        return status
    set_zero(factors[0])
    set_zero(factors[1])
    assign(factors[3], factors[2])
    set_zero(factors[2])
    record.with_residuals = CLOSED
    status = go_back(still, loops, State(q, rest, rest), rest, (by_q, a))
    if status != OK:
        return status
    model = bodies(still)
    q0 = history.open_q[n]
    status = difference_rows(model, scratch_of(still), q0, q, D)
    if status == OK:
        status = set_differentials(still, Step(D, q0, rest), 0, adjoint.chart, adjoint.maps)
    if status != OK:
        return status
    out[:] = 0.0
    back_through_map(model, adjoint.maps, 0, by_q, out, a)
    status = solve(loops, q0, a, x, factors[1])
    if status == OK:
        status = call_address(record.multipliers_of, (still, loops.memory, q0, D, factors[0]))
    if status != OK:
        return status
    set_zero(factors[2])
    assign(factors[3], factors[1])
    record.with_residuals = OPEN
    status = go_back(still, loops, State(q0, rest, D), x, (out, a))
    record.with_residuals = 0
    return status


@helper
def back_through_closing(history, adjoint, n):
    """The adjoint of the end of step n, in row 0 of the memory, becomes that of the open end."""
    d = adjoint.rates.shape[1]
    end = adjoint.memory[0]
    closed = adjoint.memory[2]
    assign(closed, end)
    by_q, by_v = closed[:d], closed[d:]
    look_at(adjoint.loops, history.t[n])
    record = passes_at(adjoint.loops.memory)
    record.closes = 1
    status = back_through_velocities(history, adjoint, n, by_q, by_v)
    if status == OK:
        status = back_through_positions(history, adjoint, n, by_q, end[:d])
    record.closes = 0
    assign(end[d:], by_v)
    return status
