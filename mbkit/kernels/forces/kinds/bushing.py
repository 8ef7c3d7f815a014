"""Six springs and dampers between frames of two bodies."""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.forces.bodies import apply, pose_of, velocity_of
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, parameters, site
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.lie.matrices import matrix_product, matrix_times, skew_polynomial_times
from mbkit.kernels.lie.quaternion import quaternion_from_rotation, quaternion_log
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, dot, scale, subtract

STIFFNESS = 0
DAMPING = 6
R_A = 12
P_A = 21
R_B = 24
P_B = 33


@helper
def triple(p, first):
    """Three entries of the parameters."""
    return p[first], p[first + 1], p[first + 2]


@helper
def matrix(p, first):
    """Nine entries of the parameters."""
    return (
        p[first], p[first + 1], p[first + 2], p[first + 3], p[first + 4], p[first + 5],
        p[first + 6], p[first + 7], p[first + 8],
    )  # fmt: skip


@helper
def transposed(A):
    """A^T."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@helper
def times(p, first, x):
    """Three entries of the parameters, each times one of x."""
    return p[first] * x[0], p[first + 1] * x[1], p[first + 2] * x[2]


@helper
def frame_of(space, body, R, p):
    """Of the frame (R, p) of a body: its rotation in the world, its way from the body's origin."""
    R_body, _ = pose_of(space, body)
    return matrix_product(R_body, R), matrix_times(R_body, p)


@helper
def offset(space, k, p):
    """R_a; the arms of both frames and the way between; d and the quaternion of b in frame a."""
    a = site(space, k, 0)
    b = site(space, k, 1)
    R_a, arm_a = frame_of(space, a, matrix(p, R_A), triple(p, P_A))
    R_b, arm_b = frame_of(space, b, matrix(p, R_B), triple(p, P_B))
    _, origin_a = pose_of(space, a)
    _, origin_b = pose_of(space, b)
    way = subtract(add(origin_b, arm_b), add(origin_a, arm_a))
    back = transposed(R_a)
    Q = quaternion_from_rotation(matrix_product(back, R_b))
    return R_a, arm_a, arm_b, way, matrix_times(back, way), Q


@helper
def dexp_inv_times(Q, x, m):
    """dexp_{-x}^-1 m = m + x x m / 2 + e x x (x x m), x the rotation vector of Q.

    e = (1 - (phi/2) cot(phi/2)) / phi^2, with the cotangent from the quaternion (cos, sin e): no
    series, as it is multiplied by phi^2 and need not be exact by itself. Mueller (39).
    """
    p = (Q[1], Q[2], Q[3])
    z = dot(x, x)
    e = 1.0 / 12.0
    far = z > 1e-10
    if any_lane(far):
        e = select(far, (1.0 - 0.5 * Q[0] * dot(x, p) / dot(p, p)) / z, e)
    return skew_polynomial_times(1.0, 0.5, e, x, m)


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, _q, _v, _tau, powers):
    """On b, in frame a: force -K_t d - C_t ddot, moment -dexp_{-x}^-1 K_r x - C_r w.

    The rotation vector x of R_a^T R_b has xdot = dexp_x^-1 w, with w the relative angular velocity
    in frame a; dexp_x^-T = dexp_{-x}^-1. On a acts the opposite wrench, at the point of b.
    """
    p = parameters(space, k)
    a = site(space, k, 0)
    b = site(space, k, 1)
    R_a, arm_a, arm_b, way, d, Q = offset(space, k, p)
    x = quaternion_log(Q)
    w_a, u_a = velocity_of(space, a)
    w_b, u_b = velocity_of(space, b)
    back = transposed(R_a)
    w = matrix_times(back, subtract(w_b, w_a))
    # ddot in frame a: the velocity of b's point against that of a's body there
    at_b = add(arm_a, way)
    ddot = subtract(add(u_b, cross(w_b, arm_b)), add(u_a, cross(w_a, at_b)))
    ddot = matrix_times(back, ddot)
    damping_moment = times(p, DAMPING, w)
    damping_force = times(p, DAMPING + 3, ddot)
    moment = add(dexp_inv_times(Q, x, times(p, STIFFNESS, x)), damping_moment)
    force = add(times(p, STIFFNESS + 3, d), damping_force)
    moment = matrix_times(R_a, moment)
    force = matrix_times(R_a, force)
    apply(space, b, scale(-1.0, add(moment, cross(arm_b, force))), scale(-1.0, force))
    apply(space, a, add(moment, cross(at_b, force)), force)
    powers[DISSIPATED] += dot(w, damping_moment) + dot(ddot, damping_force)
    return OK


@address_kernel(POTENTIAL_FORM, in_lanes=True)
def potential(space, k, _t, _q, out):
    """U = x.K_r x / 2 + d.K_t d / 2."""
    p = parameters(space, k)
    _, _, _, _, d, Q = offset(space, k, p)
    x = quaternion_log(Q)
    out[0] += 0.5 * (dot(x, times(p, STIFFNESS, x)) + dot(d, times(p, STIFFNESS + 3, d)))
    return OK
