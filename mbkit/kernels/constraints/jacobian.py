"""The constraint Jacobian A, A v + g_t = 0, by rows and velocities.

Rows of a loop joint are made in `mbkit.kernels.constraints.kinds.loop_joint`.
"""

from mbkit.kernels.compile import address_kernel, floats_at, helper, integers_at
from mbkit.kernels.constraints.evaluate import rows_at_sites, set_time
from mbkit.kernels.constraints.layout import PATH_BEGINS, PATH_ON, PATH_OWN, PATH_SIZE
from mbkit.kernels.constraints.sites import move_sites
from mbkit.kernels.constraints.solve.response import applied_by, load_wrenches, pass_on
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    set_zero,
    sites,
    wrenches_of,
)
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions, velocities
from mbkit.kernels.hybrid import operators as hybrid
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, angular, cross, linear, load, pairing
from mbkit.kernels.workspace import at_rest, bodies, columns_of, num_columns, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def project_wrench(model, scratch, i, wrench, column_of, out):
    """out_k += S_k . (t, f) for each velocity k inward of row i; wrench: (t, f) at its origin.

    Each in its column. In world axes. Needs S and p as `mbkit.kernels.hybrid` leaves them.
    """
    t, f = wrench
    while i != 0:
        row = model[i]
        for c in range(row.num_velocities):
            out[column_of[row.first_velocity + c]] += pairing(scratch[i].S[c], t, f)
        t, f = hybrid.to_parent(scratch[i], scratch[row.parent], t, f)
        i = row.parent


@helper
def rows_at_rest(space, q, t):
    """The rows as wrenches on the sites, and these in the world; the tree as `hybrid` leaves it."""
    set_time(space, t)
    model = bodies(space)
    scratch = scratch_of(space)
    rest = at_rest(space)
    q = positions(model, q)
    status = joint_pass(model, scratch, q, rest)
    if status != OK:
        return status
    start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        hybrid.twist(model, scratch, i, rest)
    move_sites(space, _ZERO, hybrid.RECURSION)
    return rows_at_sites(space, q, rest, rest)


@address_kernel(EVALUATION)
def constraint_jacobian(space, _option, q, _v, t, out):
    """A, out (num_rows, nv), or as many columns as velocities share; t (1,)."""
    status = rows_at_rest(space, q, t[0])
    if status != OK:
        return status
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    column_of = columns_of(space)
    A = as_matrix(out, closure.num_rows, num_columns(space, model[0].num_velocities))
    set_zero(A.reshape(-1))
    table = sites(closure)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        wrenches = wrenches_of(closure, constraint)
        coefficients = coefficients_of(closure, constraint)
        named = integers_at(constraint.velocities, constraint.num_velocities)
        for r in range(constraint.num_rows):
            row = A[constraint.first_row + r]
            for s in range(constraint.num_sites):
                site = table[constraint.first_site + s]
                W = wrenches[r * constraint.num_sites + s]
                f = linear(W)
                t = add(angular(W), cross(load(site.arm), f))
                project_wrench(model, scratch, site.row, (t, f), column_of, row)
            for k in range(constraint.num_velocities):
                row[column_of[named[k]]] += coefficients[r, k]
    return OK


@helper
def add_sizes(row, body, F, named, x, sizes):
    """sizes += |A_k| |x_k| for the velocities k of a row; named: velocities, and coefficients."""
    velocities, coefficients = named
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        for r in range(F.shape[0]):
            power = pairing(body.S[c], angular(F[r]), linear(F[r]))
            for j in range(velocities.shape[0]):
                if velocities[j] == k:
                    power += coefficients[r, j]
            sizes[r] += abs(power) * abs(x[k])


@address_kernel(EVALUATION)
def constraint_sizes(space, _option, q, x, t, out):
    """|A| |x|, out (num_rows,), of which A x is the sum; t (1,). A is not formed.

    Cost: O(length of the path to the world) a row.
    """
    status = rows_at_rest(space, q, t[0])
    if status != OK:
        return status
    model = bodies(space)
    scratch = scratch_of(space)
    x = velocities(model, x)
    closure = closure_of(space)
    propagated = floats_at(closure.propagated, closure.num_propagated)
    sizes = as_matrix(out, 1, closure.num_rows)[0]
    set_zero(sizes)
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        m = constraint.num_rows
        n = constraint.num_support
        support = integers_at(constraint.support, n)
        paths = integers_at(constraint.paths, PATH_SIZE * n)
        named = integers_at(constraint.velocities, constraint.num_velocities)
        coefficients = coefficients_of(closure, constraint)
        own_sizes = sizes[constraint.first_row : constraint.first_row + m]
        applied = applied_by(closure, constraint)
        for s in range(n):
            i = support[s]
            own = paths[PATH_SIZE * s + PATH_OWN]
            F = propagated[6 * m * own : 6 * m * (own + 1)].reshape((m, 6))
            if paths[PATH_SIZE * s + PATH_BEGINS] != 0:
                set_zero(F.reshape(-1))
            load_wrenches(applied, i, scratch[i], F, hybrid.RECURSION)
            add_sizes(model[i], scratch[i], F, (named, coefficients), x, own_sizes)
            if model[i].parent != 0:
                on = paths[PATH_SIZE * s + PATH_ON]
                there = propagated[6 * m * on : 6 * m * (on + 1)].reshape((m, 6))
                parent = scratch[model[i].parent]
                pass_on(scratch[i], parent, F, there, on != own, hybrid.RECURSION)
    return OK
