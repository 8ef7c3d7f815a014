"""The frames that constraints act on: where they are, how they move, how they are accelerated.

As for forces, all is in world axes, at the frame's own origin. What a representation adds are its
own functions from the twist and the acceleration of a row to the world's axes.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.constraints.workspace import closure_of, sites
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, load, rotate, store
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def move_sites(space, fall, recursion):
    """Pose, twist and acceleration of each site.

    Calls   place_for_forces, twist_in_world, acceleration_in_world.
    Reads   R, p, V, A of the bodies; fall: the acceleration of gravity that A is without.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    for i in range(1, model.shape[0]):
        recursion.place_for_forces(model, scratch, i)
    table = sites(closure_of(space))
    for s in range(table.shape[0]):
        site = table[s]
        body = scratch[site.row]
        arm = rotate(body.world_R, load(site.place_p))
        w, u = recursion.twist_in_world(body)
        compose(body.world_R, body.world_p, site.place_R, site.place_p, site.R, site.p)
        turned = cross(w, arm)
        store(site.V, w, add(u, turned))
        a, b = recursion.acceleration_in_world(body)
        b = add(add(b, fall), add(cross(a, arm), cross(w, turned)))
        if site.row == 0:
            b = (0.0, 0.0, 0.0)
        store(site.A, a, b)
        for j in range(3):
            site.arm[j] = arm[j]
    return OK
