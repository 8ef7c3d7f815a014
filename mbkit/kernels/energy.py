"""Energy, momentum and centre of mass: what no choice of representation changes."""

from mbkit.kernels.body_fixed.outward import twist_pass
from mbkit.kernels.compile import floats, helper, int64, kernel, matrix
from mbkit.kernels.inertias import rigid_times, twice_kinetic_energy
from mbkit.kernels.joint_pass import checked_joint_pass
from mbkit.kernels.poses import world_pass
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK, WRONG_LENGTH
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    dot,
    force_to_parent,
    linear,
    load,
    rotate,
    scale,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def motion_pass(space, q, v):
    """Poses in the world and body-fixed twists of all rows."""
    model = bodies(space)
    work = scratch(space)
    state = checked_joint_pass(model, work, q, v)
    if state == OK:
        world_pass(model, work)
        twist_pass(model, work, v)
    return state


@helper
def moment_of_mass(row, body):
    """Sum of m x over the body, x in the world: R h + m p."""
    return add(rotate(body.world_R, load(row.first_moment)), scale(row.mass, load(body.world_p)))


@kernel(int64(int64, matrix, matrix, floats, floats))
def energies(space, q, v, kinetic, potential):
    """T = 1/2 sum V.M V and U = -sum m g.c of many states, q (k, nq), v (k, nv)."""
    model = bodies(space)
    work = scratch(space)
    g = load(model[0].gravity)
    count = q.shape[0]
    if v.shape[0] != count or kinetic.shape[0] != count or potential.shape[0] != count:
        return WRONG_LENGTH
    for sample in range(q.shape[0]):
        state = motion_pass(space, q[sample], v[sample])
        if state != OK:
            return state
        T = 0.0
        U = 0.0
        for i in range(model.shape[0]):
            V = work[i].V
            T += 0.5 * twice_kinetic_energy(model[i], angular(V), linear(V))
            U -= dot(g, moment_of_mass(model[i], work[i]))
        kinetic[sample] = T
        potential[sample] = U
    return OK


@kernel(int64(int64, floats, floats, floats, floats))
def momentum(space, q, v, out, centre):
    """Momentum about the world's origin, out (6,), and the sum of m x, centre (3,).

    Source: Mueller 2018, (79): sum Ad_C^-T M V, with V body-fixed.
    """
    state = motion_pass(space, q, v)
    if state != OK:
        return state
    model = bodies(space)
    work = scratch(space)
    store(out, _ZERO, _ZERO)
    centre[:] = 0.0
    for i in range(model.shape[0]):
        body = work[i]
        t, f = rigid_times(model[i], angular(body.V), linear(body.V))
        t, f = force_to_parent(body.world_R, body.world_p, t, f)
        accumulate(out, t, f)
        m = moment_of_mass(model[i], body)
        for j in range(3):
            centre[j] += m[j]
    return OK
