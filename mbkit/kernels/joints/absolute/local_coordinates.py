"""Local coordinates of a step of a pose: psi(X) and its inverse, and the rate of X.

What they are is in the parameters (`mbkit.kernels.joints.absolute.kinds`): the map of the
rotation, and how it comes to poses.

    PRODUCT  psi(x, y) = (psi(x), y) on SO(3) x R^3
    DUAL     psi(x, y) = (psi(x), dpsi_x y) on SE(3), for
             dpsi^-1 = [[dpsi_x^-1, 0], [D dpsi_x^-1 [y], dpsi_x^-1]]
    MATRIX   the Cayley map of 4x4 matrices on SE(3), X = (2 c, 2 d):
             psi(X) = (cay c, (I + cay c) d),
             dpsi^-1 / 2 = [[1/2 (I - c~ + c c^T), 0], [-1/2 (I - c~) d~, 1/2 (I - c~)]]

Sources: Mueller, (40), (60)-(63), in (63) with d~ for the printed d; of DUAL the symmetry
D dpsi[a] b - D dpsi[b] a = dpsi a x dpsi b, by which it is a map to SE(3) for every psi.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.joints.absolute.kinds import DUAL, LIFT, MAP, PRODUCT
from mbkit.kernels.joints.absolute.rotation_maps import (
    map_differential,
    map_differential_inv,
    map_differential_inv_change,
    map_quaternion,
    map_vector,
)
from mbkit.kernels.lie.matrices import matrix_times
from mbkit.kernels.vectors import add, cross, dot, scale, subtract


@helper
def increment(parameters, x, y):
    """psi(X) as quaternion and translation."""
    kind = int(parameters[MAP])
    lift = int(parameters[LIFT])
    Q = map_quaternion(kind, x)
    if lift == PRODUCT:
        return Q, y
    if lift == DUAL:
        return Q, matrix_times(map_differential(kind, x), y)
    # (I + cay c) d = (I + c~ + c c^T) y / (1 + c.c)
    c = scale(0.5, x)
    t = add(add(y, cross(c, y)), scale(dot(c, y), c))
    return Q, scale(1.0 / (1.0 + dot(c, c)), t)


@helper
def coordinates(parameters, Q, t):
    """X of a pose."""
    kind = int(parameters[MAP])
    lift = int(parameters[LIFT])
    x = map_vector(kind, Q)
    if lift == PRODUCT:
        return x, t
    if lift == DUAL:
        return x, matrix_times(map_differential_inv(kind, x), t)
    return x, subtract(t, cross(scale(0.5, x), t))


@helper
def rate(parameters, x, y, w, u):
    """dpsi_X^-1 (w, u): Xdot of a right-trivialised velocity (w, u)."""
    kind = int(parameters[MAP])
    lift = int(parameters[LIFT])
    diagonal = map_differential_inv(kind, x)
    x_dot = matrix_times(diagonal, w)
    if lift == PRODUCT:
        return x_dot, u
    if lift == DUAL:
        change = matrix_times(map_differential_inv_change(kind, x, y), w)
        return x_dot, add(change, matrix_times(diagonal, u))
    # (I - c~) (u - d x w)
    left = subtract(u, cross(scale(0.5, y), w))
    return x_dot, subtract(left, cross(scale(0.5, x), left))
