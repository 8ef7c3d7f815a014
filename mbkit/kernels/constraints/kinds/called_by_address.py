"""Constraints that are called by address; see `mbkit.kernels.constraints.kinds.form`."""

from mbkit.kernels.compile import call_address, floats_at, helper, integers_at, records_at
from mbkit.kernels.constraints.kinds.form import bias, coefficients, rate, residual, wrenches
from mbkit.kernels.constraints.workspace import closure_of, constraints, rows_of, set_zero, sites
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import NOT_FINITE, OK


@helper
def clear(space, c):
    """Set all results of a constraint to zero."""
    set_zero(residual(space, c))
    set_zero(rate(space, c))
    set_zero(bias(space, c))
    set_zero(wrenches(space, c).reshape(-1))
    set_zero(coefficients(space, c).reshape(-1))


@helper
def table_rows(space, c, q, v, vdot):
    """g, A v + g_t, A v' + ... of one constraint, and its rows, all in metres."""
    closure = closure_of(space)
    constraint = constraints(closure)[c]
    time = floats_at(records_at(space, 1, SPACE)[0].time, 1)
    clear(space, c)
    status = call_address(constraint.function, (space, c, time[0], q, v))
    if status != OK:
        return status
    W = wrenches(space, c)
    coefficient = coefficients(space, c)
    table = sites(closure)
    places = integers_at(constraint.velocities, constraint.num_velocities)
    scales = floats_at(constraint.scales, constraint.num_rows)
    g = residual(space, c)
    g_dot = rate(space, c)
    g_ddot = bias(space, c)
    time_rate = rows_of(closure, closure.time_rate)
    for r in range(constraint.num_rows):
        first = g_dot[r]
        time_rate[constraint.first_row + r] = scales[r] * first
        second = g_ddot[r]
        for s in range(constraint.num_sites):
            site = table[constraint.first_site + s]
            row = W[r * constraint.num_sites + s]
            for j in range(6):
                first += row[j] * site.V[j]
                second += row[j] * site.A[j]
                row[j] *= scales[r]
        for k in range(constraint.num_velocities):
            first += coefficient[r, k] * v[places[k]]
            second += coefficient[r, k] * vdot[places[k]]
            coefficient[r, k] *= scales[r]
        g_dot[r] = scales[r] * first
        g_ddot[r] = scales[r] * second
        # a number less itself is not zero where it is none
        if any_lane(first - first != 0.0) or any_lane(second - second != 0.0):
            status = NOT_FINITE
    for r in range(constraint.num_position_rows):
        g[r] *= scales[r]
        if any_lane(g[r] - g[r] != 0.0):
            status = NOT_FINITE
    return status
