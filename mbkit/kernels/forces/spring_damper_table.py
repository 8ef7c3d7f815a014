"""Springs and dampers between points of bodies, as time loops evaluate them: in place, by a table.

A single spring that is called by its address, for example for its power alone, is computed by
`mbkit.kernels.forces.kinds.spring_damper`.

The length l of a spring changes by ldot = V_b . W_b - V_a . W_a, with W the wrench of the unit
force e = (x_b - x_a) / l at a point: power is twist times wrench in every representation. So a
point needs a position and W, but no velocity, and a representation adds one step, from a force at a
point to its wrench.
"""

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.forces.kinds.spring_damper import direction
from mbkit.kernels.layout import DISSIPATED, SPACE, SPRING
from mbkit.kernels.vectors import accumulate, add, load, pairing, rotate, scale
from mbkit.kernels.workspace import powers_of, scratch_of


@helper
def pull_springs(space, point_wrench):
    """F -= W of the bodies between which springs are;  powers += d ldot^2.

    Calls   point_wrench: of a force at the point r of a body, which is at x in the world.
    Reads   poses in the world and twists of the bodies.
    """
    record = records_at(space, 1, SPACE)[0]
    table = records_at(record.springs, record.num_springs, SPRING)
    scratch = scratch_of(space)
    dissipated = 0.0
    for k in range(table.shape[0]):
        spring = table[k]
        a = scratch[spring.row_a]
        b = scratch[spring.row_b]
        r_a = load(spring.point_a)
        r_b = load(spring.point_b)
        x_a = add(load(a.world_p), rotate(a.world_R, r_a))
        x_b = add(load(b.world_p), rotate(b.world_R, r_b))
        e, length = direction(x_a, x_b)
        t_a, f_a = point_wrench(a, r_a, x_a, e)
        t_b, f_b = point_wrench(b, r_b, x_b, e)
        rate = pairing(b.V, t_b, f_b) - pairing(a.V, t_a, f_a)
        damping = spring.damping * rate
        tension = spring.stiffness * (length - spring.rest) + damping
        dissipated += damping * rate
        if spring.row_a != 0:
            accumulate(a.F, scale(-tension, t_a), scale(-tension, f_a))
        if spring.row_b != 0:
            accumulate(b.F, scale(tension, t_b), scale(tension, f_b))
    powers_of(space)[DISSIPATED] += dissipated
