"""Joints whose positions depend on each other: q_b = f(q_a)."""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.constraints.kinds.form import (
    CONSTRAINT_FORM,
    bias,
    coefficients,
    joint,
    parameters,
    residual,
)
from mbkit.kernels.constraints.kinds.spline import curve_at, is_within
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import all_lanes
from mbkit.kernels.status import CALLBACK_FAILED, OK

RATIO = 0
OFFSET = 1


@helper
def couple(space, c, q, v, law):
    """g = q_b - f,  g' = v_b - f' v_a,  g'' = vdot_b - f' vdot_a - f'' v_a^2; law: (f, f', f'')."""
    f, slope, curvature = law
    _, velocity_a = joint(space, c, 0)
    position_b, _ = joint(space, c, 1)
    residual(space, c)[0] = q[position_b] - f
    coefficient = coefficients(space, c)
    coefficient[0, 0] = -slope
    coefficient[0, 1] = 1.0
    bias(space, c)[0] = -curvature * v[velocity_a] * v[velocity_a]


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def gear(space, c, _t, q, v):
    """f = i q_a + q_0."""
    p = parameters(space, c)
    position_a, _ = joint(space, c, 0)
    couple(space, c, q, v, (p[RATIO] * q[position_a] + p[OFFSET], p[RATIO], 0.0))
    return OK


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def polynomial(space, c, _t, q, v):
    """f = sum of p_k q_a^k, by Horner's scheme."""
    p = parameters(space, c)
    position_a, _ = joint(space, c, 0)
    x = q[position_a]
    f = 0.0
    slope = 0.0
    half_curvature = 0.0
    for k in range(p.shape[0] - 1, -1, -1):
        half_curvature = half_curvature * x + slope
        slope = slope * x + f
        f = f * x + p[k]
    couple(space, c, q, v, (f, slope, 2.0 * half_curvature))
    return OK


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def cam(space, c, _t, q, v):
    """f of a table, as `mbkit.kernels.constraints.kinds.spline` reads it."""
    p = parameters(space, c)
    position_a, _ = joint(space, c, 0)
    x = q[position_a]
    if not all_lanes(each_lane(is_within, (p, x))):
        return CALLBACK_FAILED
    couple(space, c, q, v, each_lane(curve_at, (p, 1, 0, x)))
    return OK
