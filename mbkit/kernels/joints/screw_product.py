"""Coordinates of the second kind: T = exp(X_1 q_1) ... exp(X_n q_n), X_k constant screws.

With T_k = exp(X_k q_k), going outwards,

    S_j = Ad_T_k^-1 S_j for j < k,   S_k = X_k,
    c = Ad_T_k^-1 c + [V, X_k v_k],   V = Ad_T_k^-1 V before, + X_k v_k after it,

ends in the columns of S and in c = S-dot v. Sources: Mueller 2018 (Screw and Lie group theory in
multibody kinematics), (3) and remark 4; S-dot_a = sum over b > a of [S_a, S_b] v_b.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.elementary import sin, sin_cos
from mbkit.kernels.joints.parameter_header import count_of, rest_of, write_pose, write_twist
from mbkit.kernels.joints.reciprocal_wrenches import allocate_motion, complement
from mbkit.kernels.lie.matrices import (
    matrix_product,
    matrix_times,
    skew_plus_outer,
    transposed_times,
)
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, motion_bracket, scale, subtract

#: Numbers a screw X = (r e, a + r b) has: r, e, then a along e (or any where r = 0), and b.
SCREW_SIZE = 10

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)


@helper
def vector_at(parameters, first):
    """Three numbers from an index on."""
    return parameters[first], parameters[first + 1], parameters[first + 2]


@helper
def rotation_at(T):
    """The first nine numbers."""
    return T[0], T[1], T[2], T[3], T[4], T[5], T[6], T[7], T[8]


@helper
def screw_at(parameters, first):
    """X = (r e, a + r b)."""
    r = parameters[first]
    e = vector_at(parameters, first + 1)
    a = vector_at(parameters, first + 4)
    return scale(r, e), add(a, scale(r, vector_at(parameters, first + 7)))


@helper
def screw_exp(parameters, first, x):
    """exp(X x) = (I + s e~ + (1 - c) e~^2, x a + s b + (1 - c) e x b), s, c of the angle r x."""
    r = parameters[first]
    a = vector_at(parameters, first + 4)
    if r == 0.0:
        return IDENTITY, scale(x, a)
    e = vector_at(parameters, first + 1)
    b = vector_at(parameters, first + 7)
    s, c = sin_cos(r * x)
    half = sin(0.5 * r * x)
    d = 2.0 * half * half  # 1 - c without cancellation
    p = add(scale(x, a), add(scale(s, b), scale(d, cross(e, b))))
    return skew_plus_outer(c, s, d, e), p


@helper
def twist_at(S, k):
    """Column k."""
    return vector_at(S, 6 * k), vector_at(S, 6 * k + 3)


@helper
def to_successor(C, r, w, u):
    """Ad_T^-1 (w, u), T = (C, r)."""
    return transposed_times(C, w), transposed_times(C, subtract(u, cross(r, w)))


@helper
def product_motion(parameters, q, v, out):
    """Pose R, p, motion subspace and S-dot v into the four of `out`."""
    R, p, S, bias = out
    n = count_of(parameters)
    first = rest_of(parameters)
    C = IDENTITY
    r = ZERO
    w = ZERO
    u = ZERO
    cw = ZERO
    cu = ZERO
    for k in range(n):
        Ck, rk = screw_exp(parameters, first, q[k])
        xw, xu = screw_at(parameters, first)
        for j in range(k):
            sw, su = twist_at(S, j)
            sw, su = to_successor(Ck, rk, sw, su)
            write_twist(sw, su, S, 6 * j)
        write_twist(xw, xu, S, 6 * k)
        w, u = to_successor(Ck, rk, w, u)
        cw, cu = to_successor(Ck, rk, cw, cu)
        xw = scale(v[k], xw)
        xu = scale(v[k], xu)
        bw, bu = motion_bracket(w, u, xw, xu)
        cw = add(cw, bw)
        cu = add(cu, bu)
        w = add(w, xw)
        u = add(u, xu)
        r = add(r, matrix_times(C, rk))
        C = matrix_product(C, Ck)
        first += SCREW_SIZE
    write_pose(C, r, R, p)
    write_twist(cw, cu, bias, 0)


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """Pose, motion subspace and S-dot v."""
    product_motion(parameters, q, v, (R, p, S, bias))
    return OK


@address_kernel("ippp")
def constraint_wrenches(slot, parameters, q, out):
    """An orthonormal basis of the wrenches reciprocal to S."""
    n = count_of(parameters)
    R, p, S, bias, v = allocate_motion(n)
    product_motion(parameters, q, v, (R, p, S, bias))
    complement(S, n, out)
    return OK
