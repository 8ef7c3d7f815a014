"""Energy, momentum and centre of mass, which do not depend on the representation."""

from mbkit.kernels.body_fixed.operators import twist
from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.evaluation_form import EVALUATION, positions, velocities
from mbkit.kernels.recursions.inertias import rigid_times, twice_kinetic_energy
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import world_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    add,
    angular,
    dot,
    force_to_parent,
    linear,
    load,
    rotate,
    scale,
)
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def motion_pass(model, scratch, q, v):
    """Poses in the world and body-fixed twists of all bodies of the tree."""
    v = velocities(model, v)
    status = joint_pass(model, scratch, positions(model, q), v)
    if status != OK:
        return status
    world_pass(model, scratch)
    start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        twist(model, scratch, i, v)
    return OK


@helper
def moment_of_mass(row, body):
    """Sum of m x over the body, x in the world: R h + m p."""
    return add(rotate(body.world_R, load(row.first_moment)), scale(row.mass, load(body.world_p)))


@address_kernel(EVALUATION)
def energies(space, _option, q, v, _x, out):
    """T = 1/2 sum V.M V and U = -sum m g.c, out (2,)."""
    model = bodies(space)
    scratch = scratch_of(space)
    status = motion_pass(model, scratch, q, v)
    if status != OK:
        return status
    g = load(model[0].gravity)
    T = 0.0
    U = 0.0
    for i in range(model.shape[0]):
        V = scratch[i].V
        T += 0.5 * twice_kinetic_energy(model[i], angular(V), linear(V))
        U -= dot(g, moment_of_mass(model[i], scratch[i]))
    out[0] = T
    out[1] = U
    return OK


@address_kernel(EVALUATION)
def momentum(space, _option, q, v, _x, out):
    """Momentum about the world's origin, then the sum of m x, out (9,).

    Source: Mueller 2018, (79): sum Ad_C^-T M V, with V body-fixed.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    status = motion_pass(model, scratch, q, v)
    if status != OK:
        return status
    angle = _ZERO
    line = _ZERO
    moment = _ZERO
    for i in range(model.shape[0]):
        body = scratch[i]
        t, f = rigid_times(model[i], angular(body.V), linear(body.V))
        t, f = force_to_parent(body.world_R, body.world_p, t, f)
        angle = add(angle, t)
        line = add(line, f)
        moment = add(moment, moment_of_mass(model[i], body))
    for j in range(3):
        out[j] = angle[j]
        out[3 + j] = line[j]
        out[6 + j] = moment[j]
    return OK
