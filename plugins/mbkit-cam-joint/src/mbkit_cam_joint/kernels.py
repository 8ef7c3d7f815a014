"""The compiled form of the joint."""

import math

import mbkit as mb
from mbkit.kernels.compile import helper


@helper
def polynomial(parameters, first, u):
    """Value and three derivatives of the polynomial of degree 5 whose coefficients are there."""
    value = 0.0
    rate = 0.0
    half_second = 0.0
    sixth_third = 0.0
    for j in range(6):
        sixth_third = sixth_third * u + half_second
        half_second = half_second * u + rate
        rate = rate * u + value
        value = value * u + parameters[first + j]
    return value, rate, 2.0 * half_second, 6.0 * sixth_third


@helper
def piece_at(parameters, count, q):
    """The piece of the curve at q, by halving; the first and the last go on beyond the ends."""
    low = 0
    high = count
    while high - low > 1:
        middle = (low + high) // 2
        if parameters[3 + middle] <= q:
            low = middle
        else:
            high = middle
    return low


@mb.joint_kernel("motion")
def motion(slot, parameters, q, v, R, p, S, bias):
    """T(q), S(q) and S-dot v.

    With (c, s) the direction of the tangent r' and k = (x' y'' - y' x'') / |r'|^2 its rate of
    turning, S = (0, 0, k, |r'|, 0, 0) and S-dot v = (0, 0, k', |r'|', 0, 0) v^2. Of a body that
    does not turn it is S = (0, 0, 0, x', y', 0).
    """
    follow = parameters[0] != 0.0
    count = int(parameters[2])
    place = q[0]
    length = parameters[3 + count]
    if parameters[1] != 0.0:
        place -= length * math.floor(place / length)
    piece = piece_at(parameters, count, place)
    u = place - parameters[3 + piece]
    first = 4 + count + 12 * piece
    x, dx, ddx, dddx = polynomial(parameters, first, u)
    y, dy, ddy, dddy = polynomial(parameters, first + 6, u)
    for j in range(9):
        R[j] = 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    p[0] = x
    p[1] = y
    p[2] = 0.0
    R[8] = 1.0
    square = v[0] * v[0]
    if not follow:
        R[0] = 1.0
        R[4] = 1.0
        S[3] = dx
        S[4] = dy
        bias[3] = ddx * square
        bias[4] = ddy * square
        return 0
    speed = math.sqrt(dx * dx + dy * dy)
    if not speed > 0.0:
        return 1  # the curve has a cusp
    c = dx / speed
    s = dy / speed
    R[0] = c
    R[1] = -s
    R[3] = s
    R[4] = c
    turning = (dx * ddy - dy * ddx) / (speed * speed)
    change = c * ddx + s * ddy
    S[2] = turning
    S[3] = speed
    bias[2] = ((dx * dddy - dy * dddx) / (speed * speed) - 2.0 * turning * change / speed) * square
    bias[3] = change * square
    return 0
