"""A uniform field of acceleration, such as gravity."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.bodies import apply
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, force_rows, parameters, site
from mbkit.kernels.recursions.energy import moment_of_mass
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import accumulate, add, cross, dot, load, rotate, rotate_back, scale
from mbkit.kernels.workspace import bodies, frames, scratch_of, sites


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, _q, _v, _tau, _powers):
    """Force m g in the centre of mass of chosen bodies: moment R m c x g about a body's frame."""
    table = sites(space)
    g = load(parameters(space, k))
    for j in range(force_rows(space)[k].num_bodies):
        b = site(space, k, j)
        body = frames(space)[table[b].frame]
        arm = rotate(table[b].R, load(body.first_moment))
        apply(space, b, cross(arm, g), scale(body.mass, g))
    return OK


@address_kernel(POTENTIAL_FORM, in_lanes=True)
def potential(space, k, _t, _q, out):
    """U = -sum m g.c."""
    table = sites(space)
    g = load(parameters(space, k))
    for j in range(force_rows(space)[k].num_bodies):
        place = table[site(space, k, j)]
        body = frames(space)[place.frame]
        arm = rotate(place.R, load(body.first_moment))
        out[0] -= dot(g, add(arm, scale(body.mass, load(place.p))))
    return OK


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate_everywhere(space, k, _t, _q, _v, _tau, _powers):
    """The same on all bodies, row by row."""
    model = bodies(space)
    scratch = scratch_of(space)
    g = load(parameters(space, k))
    for i in range(1, model.shape[0]):
        g_i = rotate_back(scratch[i].world_R, g)
        moment = cross(load(model[i].first_moment), g_i)
        accumulate(scratch[i].wrench, moment, scale(model[i].mass, g_i))
    return OK


@address_kernel(POTENTIAL_FORM, in_lanes=True)
def potential_everywhere(space, k, _t, _q, out):
    """U = -sum m g.c."""
    model = bodies(space)
    scratch = scratch_of(space)
    g = load(parameters(space, k))
    for i in range(model.shape[0]):
        out[0] -= dot(g, moment_of_mass(model[i], scratch[i]))
    return OK
