"""Derivatives of constraints by dual numbers, exact: see `mbkit.kernels.duals`."""

import math
from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    as_array,
    call_address,
    floats_at,
    helper,
    int64,
    integers_at,
    kernel,
    matrix,
    records_at,
    stack,
    typed,
)
from mbkit.kernels.constraints.evaluate import rows_at_state
from mbkit.kernels.constraints.jacobian import project_wrench
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    sites,
    wrenches_of,
)
from mbkit.kernels.derivatives.exact_forces import Numbers, move_along, write_along
from mbkit.kernels.duals import DIRECTIONS
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, angular, cross, linear, load, scale
from mbkit.kernels.workspace import bodies, columns_of, scratch_of, trials

#: The form of `constraints_along`.
FORM = "siccccpc"

_ZERO = (0.0, 0.0, 0.0)


@helper
def multiplied(space, multipliers, out):
    """out (nv,) = A^T multipliers, of the rows that are in the memory."""
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    column_of = columns_of(space)
    table = sites(closure)
    every = constraints(closure)
    out[:] = 0.0
    for c in range(every.shape[0]):
        constraint = every[c]
        wrenches = wrenches_of(closure, constraint)
        coefficients = coefficients_of(closure, constraint)
        named = integers_at(constraint.velocities, constraint.num_velocities)
        own = multipliers[constraint.first_row : constraint.first_row + constraint.num_rows]
        for s in range(constraint.num_sites):
            site = table[constraint.first_site + s]
            t = _ZERO
            f = _ZERO
            for r in range(constraint.num_rows):
                W = wrenches[r * constraint.num_sites + s]
                t = add(t, scale(own[r], angular(W)))
                f = add(f, scale(own[r], linear(W)))
            t = add(t, cross(load(site.arm), f))
            project_wrench(model, scratch, site.row, (t, f), column_of, out)
        for r in range(constraint.num_rows):
            for k in range(constraint.num_velocities):
                out[named[k]] += own[r] * coefficients[r, k]


@helper
def as_said(moves, j):
    """The direction of an entry, by a table."""
    return int(moves[j])


def constraints_along(space, count, moves, q, v, given, t, out):
    """Derivatives of g, A v + g_t, A vdot + A' v + ... and A^T multipliers, in a row.

    Along `count` directions: `moves` (ndx + nv,) has the direction of each entry of (dx, v), or -1;
    numbers of the constraints and t have theirs as dual numbers. given: vdot (nv,),
    multipliers (num_rows,). out (count, num_position_rows + 2 num_rows + nv).
    """
    model = bodies(space)
    nv = model[0].num_velocities
    ndx = trials(space)[2].shape[0]
    q = as_array(q, model[0].num_positions)
    status = move_along(space, as_said, as_array(moves, ndx + nv), q, as_array(v, nv))
    if status != OK:
        return status
    closure = closure_of(space)
    m = closure.num_rows
    p = closure.num_position_rows
    record = records_at(space, 1, SPACE)[0]
    time = floats_at(record.time, 1)
    time[0] = t[0]
    values = as_array(given, nv + m)
    vdot = floats_at(closure.change, nv)  # of the numbers that rows are computed in
    assign(vdot, values[:nv])
    trial, speed, _ = trials(space)
    status = rows_at_state(space, trial, speed, vdot)
    if status != OK:
        return status
    size = p + 2 * m + nv
    write_along(floats_at(closure.residual, p), count, out, 0, size)
    write_along(floats_at(closure.rate, m), count, out, p, size)
    write_along(floats_at(closure.bias, m), count, out, p + m, size)
    forces = floats_at(closure.efforts, nv)
    multiplied(space, values[nv:], forces)
    write_along(forces, count, out, p + 2 * m, size)
    return status


class States(NamedTuple):
    """N states, one in each row, with accelerations and multipliers."""

    q: matrix  # (N, nq)
    v: matrix  # (N, nv)
    t: matrix  # (N, 1)
    given: matrix  # (N, nv + num_rows), vdot and multipliers


@kernel(int64(int64, int64, matrix, typed(Numbers), typed(States), stack))
def constraints_along_all(function, space, moves, numbers, states, out):
    """The same, by address, of N states, out (N, k, ...).

    `numbers` are the time and what constraints read; those of the last seed are left in memory.
    Each DIRECTIONS of the k have a row of `moves`, and a seed, or all the same one. States at which
    a constraint fails have derivatives that are not numbers. Returns OK.
    """
    q, v, t, given = states
    memory, seeds = numbers
    for first in range(0, out.shape[1], DIRECTIONS):
        k = first // DIRECTIONS
        memory[:, :] = seeds[min(k, seeds.shape[0] - 1)]
        own = moves[min(k, moves.shape[0] - 1)]
        count = min(DIRECTIONS, out.shape[1] - first)
        for n in range(out.shape[0]):
            memory[0, 0] = t[n, 0]
            rates = out[n, first : first + count]
            status = call_address(
                function, (space, count, own, q[n], v[n], given[n], memory, rates)
            )
            if status != OK:
                rates[:] = math.nan
    return OK
