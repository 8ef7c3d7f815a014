"""Turning about z and shifting in the plane, q = (angle, x, y) or (angle, x, y, z), as a group.

T = (Rz(angle), (x, y, pitch angle + z)), v the rates of angle and position in the axes of the
successor: S is constant. A step dx = (a, d) is half its turn, its shift, and the other half,

    angle + a,   p + Rz(angle + a/2) d,

which inverts without a singularity at any angle and counts turns. From
Rz(a) u = Rz(a/2) (ddot + adot/2 z x d), u the velocity in the successor's axes, follows
ddot = Rz(a/2) u - adot/2 z x d.
"""

from mbkit.kernels.compile import address_kernel, helper, pointer_after
from mbkit.kernels.elementary import sin_cos
from mbkit.kernels.joints.parameter_header import count_of, rest_of
from mbkit.kernels.joints.revolute_prismatic_screw import locate_screw
from mbkit.kernels.status import OK


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """T(q); S = (z, pitch z), (0, x), (0, y), and (0, z) where there are four; S-dot = 0."""
    n = count_of(parameters)
    pitch = parameters[rest_of(parameters)]
    s, c = sin_cos(q[0])
    for j in range(9):
        R[j] = 0.0
    R[0] = c
    R[1] = -s
    R[3] = s
    R[4] = c
    R[8] = 1.0
    p[0] = q[1]
    p[1] = q[2]
    p[2] = pitch * q[0]
    for j in range(6 * n):
        S[j] = 0.0
    S[2] = 1.0
    S[5] = pitch
    S[9] = 1.0
    S[16] = 1.0
    if n == 4:
        p[2] += q[3]
        S[23] = 1.0
    for j in range(6):
        bias[j] = 0.0
    return OK


@helper
def turned(angle, x, y):
    """Rz(angle) (x, y)."""
    s, c = sin_cos(angle)
    return c * x - s * y, s * x + c * y


@address_kernel("ipppp")
def retract(slot, parameters, q, dx, out):
    """Half of the turn, the shift, the other half."""
    x, y = turned(q[0] + 0.5 * dx[0], dx[1], dx[2])
    if count_of(parameters) == 4:
        out[3] = q[3] + dx[3]
    out[1] = q[1] + x
    out[2] = q[2] + y
    out[0] = q[0] + dx[0]
    return OK


@address_kernel("ipppp")
def difference(slot, parameters, q0, q1, out):
    """The turn, and the shift seen from half of it."""
    x, y = turned(-0.5 * (q0[0] + q1[0]), q1[1] - q0[1], q1[2] - q0[2])
    if count_of(parameters) == 4:
        out[3] = q1[3] - q0[3]
    out[0] = q1[0] - q0[0]
    out[1] = x
    out[2] = y
    return OK


@address_kernel("ipppp")
def dexp_inv(slot, parameters, x, v, out):
    """adot, and ddot = Rz(a/2) u - adot/2 z x d."""
    dx, dy = turned(0.5 * x[0], v[1], v[2])
    if count_of(parameters) == 4:
        out[3] = v[3]
    half = 0.5 * v[0]
    dx += half * x[2]
    dy -= half * x[1]
    out[0] = v[0]
    out[1] = dx
    out[2] = dy
    return OK


@address_kernel("ippp")
def configuration_from_pose(slot, parameters, T, out):
    """The angle of the nearest rotation about z, plus the turns by the pitch; p."""
    pitch = parameters[rest_of(parameters)]
    out[0] = locate_screw(1.0, pitch, T, pointer_after(T, 9))
    out[1] = T[9]
    out[2] = T[10]
    if count_of(parameters) == 4:
        out[3] = T[11]
    return OK
