"""Inverse dynamics with given multipliers: M vdot + b - A^T lambda.

A is not formed: the rows of a constraint are wrenches on its sites, and go inwards with all others.
"""

from mbkit.kernels.compile import helper, integers_at
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    rows_of,
    sites,
    wrenches_of,
)
from mbkit.kernels.vectors import accumulate, add, angular, cross, linear, load, scale
from mbkit.kernels.workspace import scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def subtract_multipliers(space, recursion):
    """F -= the wrenches of all multipliers, on the bodies of the tree that carry their sites.

    Calls   wrench_from_world.
    """
    scratch = scratch_of(space)
    closure = closure_of(space)
    multipliers = rows_of(closure, closure.multipliers)
    table = sites(closure)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        wrenches = wrenches_of(closure, constraint)
        for s in range(constraint.num_sites):
            site = table[constraint.first_site + s]
            if site.row == 0:
                continue
            body = scratch[site.row]
            t = _ZERO
            f = _ZERO
            for r in range(constraint.num_rows):
                W = wrenches[r * constraint.num_sites + s]
                x = -multipliers[constraint.first_row + r]
                t = add(t, scale(x, angular(W)))
                f = add(f, scale(x, linear(W)))
            t, f = recursion.wrench_from_world(body, add(t, cross(load(site.arm), f)), f)
            accumulate(body.F, t, f)


@helper
def subtract_efforts(space, tau):
    """tau -= efforts of the multipliers along velocities that constraints name."""
    closure = closure_of(space)
    multipliers = rows_of(closure, closure.multipliers)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        places = integers_at(constraint.velocities, constraint.num_velocities)
        coefficients = coefficients_of(closure, constraint)
        for k in range(places.shape[0]):
            for r in range(constraint.num_rows):
                tau[places[k]] -= coefficients[r, k] * multipliers[constraint.first_row + r]
