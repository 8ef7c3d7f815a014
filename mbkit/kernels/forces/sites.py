"""The bodies that forces act on, before the forces and after them.

Forces know of no representation: they read and write the world's axes. What a representation adds
are two functions, from the twist of a body to (angular velocity, velocity of its origin) in the
world's axes, and back from such a wrench to its own.
"""

from mbkit.kernels.compile import call_address, helper, pointer_at, records_at
from mbkit.kernels.forces.linear import add_linear
from mbkit.kernels.forces.spring_damper_table import pull_springs
from mbkit.kernels.layout import DISSIPATED, SPACE, SUPPLIED
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    rotate,
    scale,
    store,
)
from mbkit.kernels.workspace import frames, powers_of, scratch_of, sites

_ZERO = (0.0, 0.0, 0.0)


@helper
def clear_sites(space):
    """No wrench on any site."""
    table = sites(space)
    for s in range(table.shape[0]):
        store(table[s].W, _ZERO, _ZERO)


@helper
def move_sites(space, count, twist_in_world):
    """Pose, arm and twist of the first `count` sites, and no wrench on them. Cost: O(count).

    Needs poses and twists of the bodies.
    """
    table = sites(space)
    own_frames = frames(space)
    scratch = scratch_of(space)
    for s in range(count):
        site = table[s]
        own_frame = own_frames[site.frame]
        body = scratch[site.row]
        arm = rotate(body.world_R, load(own_frame.p))
        w, u = twist_in_world(body)
        compose(body.world_R, body.world_p, own_frame.R, own_frame.p, site.R, site.p)
        store(site.V, w, add(u, cross(w, arm)))
        store(site.W, _ZERO, _ZERO)
        for j in range(3):
            site.arm[j] = arm[j]


@helper
def carried(site):
    """The wrench on a site, at the frame of the body that carries it, in the world's axes."""
    f = linear(site.W)
    return add(angular(site.W), cross(load(site.arm), f)), f


@helper
def subtract_wrenches(space, count, wrench_from_world):
    """F -= W of the bodies of the first `count` sites."""
    scratch = scratch_of(space)
    table = sites(space)
    for s in range(count):
        body = scratch[table[s].row]
        if table[s].row != 0:
            t, f = carried(table[s])
            t, f = wrench_from_world(body, t, f)
            accumulate(body.F, scale(-1.0, t), scale(-1.0, f))


@helper
def act(space, q, v, tau, recursion):
    """tau += efforts of forces along joints,  F -= W of the bodies that they act on.

    Calls   twist_in_world, wrench_from_world, point_wrench.
    Reads   time of SPACE; poses in the world and twists of the bodies, F.
    Writes  tau (nv,), powers of SPACE, sites, F.
    """
    record = records_at(space, 1, SPACE)[0]
    powers = powers_of(space)
    powers[DISSIPATED] = add_linear(space, q, v, tau)
    powers[SUPPLIED] = 0.0
    if record.num_called > record.num_fields:
        move_sites(space, record.num_moved, recursion.twist_in_world)
        status = call_address(record.force_pass, (space, 0, q, v, pointer_at(record.time), tau))
        if status != OK:
            return status
        subtract_wrenches(space, record.num_moved, recursion.wrench_from_world)
    pull_springs(space, recursion.point_wrench)
    return OK
