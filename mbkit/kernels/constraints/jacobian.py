"""The constraint Jacobian A, A v + g_t = 0: what each row does along each velocity."""

from mbkit.kernels.compile import address_kernel, helper, integers_at
from mbkit.kernels.constraints.evaluate import constraint_rows, set_time
from mbkit.kernels.constraints.sites import move_sites
from mbkit.kernels.constraints.space import (
    closure_of,
    coefficients_of,
    constraints,
    sites,
    wrenches_of,
)
from mbkit.kernels.evaluation import EVALUATION, positions, rows
from mbkit.kernels.hybrid import recursion as hybrid
from mbkit.kernels.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.space import at_rest, bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, angular, cross, linear, load, pairing

_ZERO = (0.0, 0.0, 0.0)


@helper
def project_wrench(model, work, i, t, f, out):
    """out_k += S_k . (t, f) for each velocity k inward of row i; (t, f) is a wrench at its origin.

    In world axes. Needs S and p as `mbkit.kernels.hybrid` leaves them.
    """
    while i != 0:
        row = model[i]
        for c in range(row.num_velocities):
            out[row.first_velocity + c] += pairing(work[i].S[c], t, f)
        t, f = hybrid.to_parent(work[i], work[row.parent], t, f)
        i = row.parent


@helper
def rows_at_rest(space, q, t):
    """The rows as wrenches on the sites, and these in the world; the tree as `hybrid` leaves it."""
    set_time(space, t)
    model = bodies(space)
    work = scratch(space)
    rest = at_rest(space)
    q = positions(model, q)
    state = joint_pass(model, work, q, rest)
    if state != OK:
        return state
    start(work, _ZERO)
    for i in range(1, model.shape[0]):
        hybrid.twist(model, work, i, rest)
    move_sites(
        space, _ZERO, hybrid.place_for_forces, hybrid.twist_in_world, hybrid.acceleration_in_world
    )
    return constraint_rows(space, q, rest, rest)


@address_kernel(EVALUATION)
def constraint_jacobian(space, _option, q, _v, t, out):
    """A, out (num_rows, nv); t (1,)."""
    state = rows_at_rest(space, q, t[0])
    if state != OK:
        return state
    model = bodies(space)
    work = scratch(space)
    closure = closure_of(space)
    A = rows(out, closure.num_rows, model[0].num_velocities)
    A[:, :] = 0.0
    table = sites(closure)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        wrenches = wrenches_of(closure, constraint)
        coefficients = coefficients_of(closure, constraint)
        places = integers_at(constraint.velocities, constraint.num_velocities)
        for r in range(constraint.num_rows):
            row = A[constraint.first_row + r]
            for s in range(constraint.num_sites):
                site = table[constraint.first_site + s]
                W = wrenches[r * constraint.num_sites + s]
                f = linear(W)
                t = add(angular(W), cross(load(site.arm), f))
                project_wrench(model, work, site.row, t, f, row)
            for k in range(constraint.num_velocities):
                row[places[k]] += coefficients[r, k]
    return OK
