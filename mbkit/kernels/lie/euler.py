"""Angles about three axes among x, y and z, each where the turns before have left it.

Axes are numbers, 0 for x; neighbours of a sequence differ.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import arctan2, sin_cos, sqrt
from mbkit.kernels.lie.quaternion import quaternion_product

#: Entries of quaternions below it are rounding.
ROUNDING = 1e-15


@helper
def turn_about(axis, angle):
    """Quaternion of a turn about one of the axes."""
    s, c = sin_cos(0.5 * angle)
    x = s if axis == 0 else 0.0 * s
    y = s if axis == 1 else 0.0 * s
    z = s if axis == 2 else 0.0 * s
    return c, x, y, z


@helper
def quaternion_from_angles(angles, first, second, third):
    """Product of the three turns."""
    turned = quaternion_product(turn_about(first, angles[0]), turn_about(second, angles[1]))
    return quaternion_product(turned, turn_about(third, angles[2]))


@helper
def direction(x, y):
    """The angle of (x, y), zero where they are but rounding."""
    if abs(x) + abs(y) < ROUNDING:
        return 0.0
    return arctan2(y, x)


@helper
def angles_from_quaternion(Q, first, second, third):
    """The three angles of a unit quaternion.

    Where the middle angle determines only the sum or the difference of the others (gimbal lock),
    the undetermined one is set to zero. Source: Bernardes, Viollet, Quaternion to Euler angles
    conversion, PLoS ONE 17 (2022).
    """
    i = third
    j = second
    k = first
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = 0.5 * ((i - j) * (j - k) * (k - i))
    x = (Q[1], Q[2], Q[3])
    a = Q[0]
    b = x[i]
    c = x[j]
    d = sign * x[k]
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    half_sum = direction(a, b)
    half_difference = direction(c, d)
    outer = half_sum + half_difference
    middle = 2.0 * arctan2(sqrt(c * c + d * d), sqrt(a * a + b * b))
    inner = half_sum - half_difference
    if not proper:
        outer *= sign
        middle -= 0.5 * 3.141592653589793
    return outer, middle, inner
