"""A point of a body that follows a table over time."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.constraints.kinds.form import (
    CONSTRAINT_FORM,
    bias,
    body,
    parameters,
    rate,
    residual,
    wrenches,
)
from mbkit.kernels.constraints.kinds.points import point_of, put_force
from mbkit.kernels.constraints.kinds.spline import curve_at, is_within
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import all_lanes
from mbkit.kernels.status import CALLBACK_FAILED, OK

POINT = 0
CURVE = 3


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def evaluate(space, c, t, _q, _v):
    """g = x - f(t), in world axes."""
    p = parameters(space, c)
    curve = p[CURVE:]
    if not all_lanes(each_lane(is_within, (curve, t))):
        return CALLBACK_FAILED
    arm, x, _, centripetal = point_of(body(space, c, 0), (p[POINT], p[POINT + 1], p[POINT + 2]))
    g = residual(space, c)
    first = rate(space, c)
    second = bias(space, c)
    W = wrenches(space, c)
    for r in range(3):
        e = (1.0 if r == 0 else 0.0, 1.0 if r == 1 else 0.0, 1.0 if r == 2 else 0.0)
        f, f_dot, f_ddot = each_lane(curve_at, (curve, 3, r, t))
        put_force(W[r], arm, e)
        g[r] = x[r] - f
        first[r] = -f_dot
        second[r] = centripetal[r] - f_ddot
    return OK
