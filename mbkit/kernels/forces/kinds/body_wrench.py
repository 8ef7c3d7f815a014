"""A wrench on a body that is known over time."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.forces.bodies import apply, pose_of, velocity_of
from mbkit.kernels.forces.form import FORCE_FORM, parameters, site
from mbkit.kernels.forces.time_table import piece_at, value_at
from mbkit.kernels.layout import SUPPLIED
from mbkit.kernels.lie.matrices import matrix_times
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, dot

POINT = 0
IN_WORLD = 3
TABLE = 4


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, t, _q, _v, _tau, powers):
    """Moment and force at a point of the body, in its axes or in those of the world."""
    p = parameters(space, k)
    body = site(space, k, 0)
    table = p[TABLE:]
    piece, s = piece_at(table, t)
    moment = (
        value_at(table, 6, 0, piece, s),
        value_at(table, 6, 1, piece, s),
        value_at(table, 6, 2, piece, s),
    )
    force = (
        value_at(table, 6, 3, piece, s),
        value_at(table, 6, 4, piece, s),
        value_at(table, 6, 5, piece, s),
    )
    r = (p[POINT], p[POINT + 1], p[POINT + 2])
    R, _ = pose_of(space, body)
    if any_lane(p[IN_WORLD] == 0.0):
        moment = matrix_times(R, moment)
        force = matrix_times(R, force)
    moment = add(moment, cross(matrix_times(R, r), force))
    w, u = velocity_of(space, body)
    apply(space, body, moment, force)
    powers[SUPPLIED] += dot(moment, w) + dot(force, u)
    return OK
