"""Forward dynamics with loops closed: M vdot + b = tau + A^T lambda,  A vdot + A' v + ... = 0."""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    floats_at,
    helper,
    of_one,
)
from mbkit.kernels.constraints.evaluate import rows_of_motion, set_time
from mbkit.kernels.constraints.layout import SUBTRACT_MOTION
from mbkit.kernels.constraints.solve.rank import judge, opened_part
from mbkit.kernels.constraints.solve.response import subtract_response
from mbkit.kernels.constraints.solve.strategy import nested
from mbkit.kernels.constraints.workspace import closure_of, constraints, kept_rows, rows_of
from mbkit.kernels.elementary import all_lanes, any_lane, sqrt
from mbkit.kernels.evaluation_form import EVALUATION
from mbkit.kernels.prescribed_motion import add_driving_efforts
from mbkit.kernels.status import NOT_FINITE, NOT_SOLVED, OK, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import dot, load
from mbkit.kernels.workspace import bodies, scratch_of

#: What rows that were left out may miss, in parts of what all would be violated by and of gravity:
#: the LEFT of `mbkit.systems.rank`. Accelerations below the other are rounding. [m/s^2]
SATISFIED = 4e-6
SMALLEST = 1e-3


@helper
def factorise_rows(space, option, q, v, tau, vdot):
    """The rows, and the factor of A M^-1 A^T, once the dynamics of the tree is computed."""
    closure = closure_of(space)
    status = rows_of_motion(space, option, q, v, vdot)
    if status == OK:
        status = judge(space, option, q, v, tau, vdot)
    if status == OK:
        status = call_address(closure.respond, (space, option, q, v, tau, vdot))
    if status == OK:
        status = call_address(closure.prepare, (space,))
    return status


@address_kernel(EVALUATION)
def free_motion_and_rows(space, option, q, v, tau, vdot):
    """Free motion under tau, the rows, and the factor of A M^-1 A^T."""
    status = call_address(closure_of(space).free_dynamics, (space, option, q, v, tau, vdot))
    return factorise_rows(space, option, q, v, tau, vdot) if status == OK else status


@helper
def linearise(space, option, q, v, tau, vdot):
    """The same, by address: it is long, and many kernels begin with it."""
    return call_address(closure_of(space).linearise, (space, option, q, v, tau, vdot))


@helper
def correct(space, target, multipliers, change):
    """change = -M^-1 A^T (A M^-1 A^T)^+ target; the multipliers are what is between, negative."""
    closure = closure_of(space)
    status = call_address(closure.resolve, (space, target, multipliers))
    if status != OK:
        return status
    return call_address(closure.spread, (space, 0, change, change, change, change))


@helper
def stabilise(closure, stiffness, damping, target):
    """target += 2 zeta omega (A v + g_t) + omega^2 g. Source: Baumgarte 1972."""
    if all_lanes((damping == 0.0) & (stiffness == 0.0)):
        return
    residual = floats_at(closure.residual, closure.num_position_rows)
    rate = rows_of(closure, closure.rate)
    every = constraints(closure)
    for c in range(every.shape[0]):
        for r in range(every[c].num_rows):
            target[every[c].first_row + r] += damping * rate[every[c].first_row + r]
        for r in range(every[c].num_position_rows):
            target[every[c].first_row + r] += stiffness * residual[every[c].first_position_row + r]


@helper
def look_at_left_out(space, target):
    """Whether the motion that was just spread satisfies the rows that were left out, too.

    They depend on the others, or on a body so light that it looks like that. Only where inertias
    differ by so much: at singular postures, too, rows are left out that nothing satisfies.
    """
    closure = closure_of(space)
    if closure.watched == 0:
        return OK
    m = closure.num_rows
    rest = floats_at(closure.unknowns, m)
    g = load(bodies(space)[0].gravity)
    most = SMALLEST + sqrt(dot(g, g))
    for r in range(m):
        rest[r] = -target[r]
        most = max(most, abs(target[r]))
    if closure.solve_nested != 0:
        nested(space, SUBTRACT_MOTION, rest)
    else:
        subtract_response(space, rest)
    limit = (SATISFIED + opened_part(closure)) * most
    for r in range(m):
        if any_lane(abs(rest[r]) > limit):
            return failure(NOT_SOLVED, r)
    return OK


@helper
def close_dynamics(space, stiffness, damping, vdot):
    """vdot and the multipliers of the closed mechanism, whose rows are pulled back by that much.

    vdot is before what `linearise` leaves there.
    """
    closure = closure_of(space)
    nv = bodies(space)[0].num_velocities
    target = rows_of(closure, closure.bias)
    stabilise(closure, stiffness, damping, target)
    multipliers = rows_of(closure, closure.multipliers)
    change = floats_at(closure.change, nv)
    status = correct(space, target, multipliers, change)
    if status == OK:
        status = look_at_left_out(space, target)
    if status != OK:
        return status
    for k in range(nv):
        vdot[k] += change[k]
    of_one(add_driving_efforts, (space,))
    return OK if all_finite(as_array(vdot, nv)) else failure(NOT_FINITE, 0)


@address_kernel(EVALUATION)
def constrained_dynamics(space, option, q, v, tau, vdot):
    """The accelerations under tau, out (nv,)."""
    status = linearise(space, option, q, v, tau, vdot)
    if status != OK:
        return status
    closure = closure_of(space)
    return close_dynamics(space, closure.stiffness, closure.damping, vdot)


@address_kernel(EVALUATION)
def solved_dynamics(space, option, q, v, given, out):
    """The same, given tau (nv,), t, stiffness and damping of the pull back.

    out: vdot (nv,), minimum-norm multipliers, 1 by independent row.
    """
    nv = bodies(space)[0].num_velocities
    set_time(space, given[nv])
    status = linearise(space, option, q, v, given, out)
    if status == OK:
        status = close_dynamics(space, given[nv + 1], given[nv + 2], out)
    if status != OK:
        return status
    closure = closure_of(space)
    multipliers = rows_of(closure, closure.multipliers)
    if closure.reduce != 0:
        status = call_address(closure.reduce, (space, multipliers))
    kept = kept_rows(closure)
    for r in range(closure.num_rows):
        out[nv + r] = multipliers[r]
        out[nv + closure.num_rows + r] = kept[r]
    return status


@address_kernel(EVALUATION)
def closed_hybrid_dynamics(space, option, q, v, given, out):
    """The same where some vdot are given.

    given: tau, vdot, prescribed (3 nv), t, stiffness and damping of the pull back.
    out: tau, vdot (2 nv), multipliers of least norm, 1 for each row that is independent of those
    before it where what is prescribed stands still.
    """
    closure = closure_of(space)
    nv = bodies(space)[0].num_velocities
    set_time(space, given[3 * nv])
    status = call_address(closure.hybrid_dynamics, (space, option, q, v, given, out))
    if status == OK:
        status = factorise_rows(space, option, q, v, given, out)
    if status != OK:
        return status
    multipliers = rows_of(closure, closure.multipliers)
    change = floats_at(closure.change, nv)
    target = rows_of(closure, closure.bias)
    stabilise(closure, given[3 * nv + 1], given[3 * nv + 2], target)
    status = correct(space, target, multipliers, change)
    if status == OK:
        status = look_at_left_out(space, target)
    if status != OK:
        return status
    prescribed = as_array(given, 3 * nv)[2 * nv :]
    found = as_array(out, 2 * nv)
    for k in range(nv):
        if all_lanes(prescribed[k] == 0.0):
            found[nv + k] += change[k]
    if closure.reduce != 0:  # and what holds the prescribed joints against them
        status = call_address(closure.reduce, (space, multipliers))
        if status == OK:
            status = call_address(closure.gather, (space, multipliers))
        if status == OK:
            status = call_address(closure.spread, (space, 0, change, change, change, change))
    if status != OK:
        return status
    scratch = scratch_of(space)
    for k in range(nv):
        if any_lane(prescribed[k] != 0.0):  # the same of all samples side by side
            found[k] += scratch[k].u
    kept = kept_rows(closure)
    for r in range(closure.num_rows):
        out[2 * nv + r] = multipliers[r]
        out[2 * nv + closure.num_rows + r] = kept[r]
    return OK if all_finite(found) else failure(NOT_FINITE, 0)
