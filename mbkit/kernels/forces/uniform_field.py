"""A uniform field of acceleration, such as gravity."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.energy import moment_of_mass
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, parameters
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import accumulate, cross, dot, load, rotate_back, scale


@address_kernel(FORCE_FORM)
def evaluate(space, k, _t, _q, _v, _tau, _powers):
    """Force m g in the centre of mass of every body: moment m c x g about its frame."""
    model = bodies(space)
    work = scratch(space)
    g = load(parameters(space, k))
    for i in range(1, model.shape[0]):
        g_i = rotate_back(work[i].world_R, g)
        moment = cross(load(model[i].first_moment), g_i)
        accumulate(work[i].wrench, moment, scale(model[i].mass, g_i))
    return OK


@address_kernel(POTENTIAL_FORM)
def potential(space, k, _t, _q, out):
    """U = -sum m g.c."""
    model = bodies(space)
    work = scratch(space)
    g = load(parameters(space, k))
    for i in range(model.shape[0]):
        out[0] -= dot(g, moment_of_mass(model[i], work[i]))
    return OK
