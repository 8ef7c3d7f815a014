"""Wrenches of multipliers: those of each constraint on each of its sites."""

from mbkit.kernels.compile import address_kernel, as_array
from mbkit.kernels.constraints.jacobian import rows_at_rest
from mbkit.kernels.constraints.workspace import closure_of, constraints, sites, wrenches_of
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix
from mbkit.kernels.status import OK

#: Numbers a site: moment, force, and the point that they are at.
SITE_SIZE = 9


@address_kernel(EVALUATION)
def constraint_wrenches(space, _option, q, _v, given, out):
    """The wrench on each site, and the site's origin, in world axes, out (sites, SITE_SIZE).

    given: multipliers (num_rows,), t.
    """
    closure = closure_of(space)
    multipliers = as_array(given, closure.num_rows + 1)
    status = rows_at_rest(space, q, multipliers[closure.num_rows])
    if status != OK:
        return status
    table = sites(closure)
    found = as_matrix(out, table.shape[0], SITE_SIZE)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        wrenches = wrenches_of(closure, constraint)
        for s in range(constraint.num_sites):
            site = found[constraint.first_site + s]
            for j in range(6):
                site[j] = 0.0
                for r in range(constraint.num_rows):
                    W = wrenches[r * constraint.num_sites + s]
                    site[j] += multipliers[constraint.first_row + r] * W[j]
            for j in range(3):
                site[6 + j] = table[constraint.first_site + s].p[j]
    return OK
