"""Series of twists: y(t) = y_0 + y_1 t + ... + y_(count-1) t^(count-1), one twist a row.

A twist that is carried along a motion has, with T(t) moving with the body-fixed twist x(t),

    d/dt (Ad_T y)    = Ad_T (dy/dt + [x, y]),
    d/dt (Ad_T^-1 y) = Ad_T^-1 (dy/dt) - [x, Ad_T^-1 y].

So the n-th derivative of Ad_T y is Ad_T D^n y, D = d/dt + ad_x; and b_m = Ad_T^-1 d^m y / m! has
db_m/dt = (m + 1) b_(m+1) - [x, b_m]. Both fill a triangle of series, with D^m y or b_m in row m,
one diagonal after another: the term n of the result needs x_0 ... x_(n-1) alone, so that x may be
the result. What is in the triangle has been moved by the constant Ad_T(0), or will be.
Source: Mueller 2018, (12) to (24), of which these are the generating recursions.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.vectors import (
    add,
    angular,
    force_bracket,
    linear,
    motion_bracket,
    motion_to_child,
    motion_to_parent,
    scale,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def add_brackets(x, y, k, sign, w, u):
    """(w, u) + sign times the term k of [x, y]."""
    for j in range(k + 1):
        a, b = motion_bracket(angular(x[j]), linear(x[j]), angular(y[k - j]), linear(y[k - j]))
        w = add(w, scale(sign, a))
        u = add(u, scale(sign, b))
    return w, u


@helper
def add_force_brackets(x, y, k, t, f):
    """(t, f) + the term k of -ad_x^T y, of wrenches y."""
    for j in range(k + 1):
        a, b = force_bracket(angular(x[j]), linear(x[j]), angular(y[k - j]), linear(y[k - j]))
        t = add(t, a)
        f = add(f, b)
    return t, f


@helper
def factorial(n):
    """The product of 1 to n."""
    value = 1.0
    for k in range(2, n + 1):
        value *= k
    return value


@helper
def outward_derivative(x, triangle, n, w, u):
    """The n-th derivative of Ad_T y, less the constant Ad_T, for y_n = (w, u)."""
    store(triangle[0, n], w, u)
    for m in range(1, n + 1):
        k = n - m
        y = triangle[m - 1]
        w = scale(k + 1.0, angular(y[k + 1]))
        u = scale(k + 1.0, linear(y[k + 1]))
        w, u = add_brackets(x, y, k, 1.0, w, u)
        store(triangle[m, k], w, u)
    return w, u


@helper
def inward_term(x, triangle, n, w, u):
    """The term n of Ad_T^-1 y, for (w, u) = Ad_T(0)^-1 y_n."""
    store(triangle[n, 0], w, u)
    for k in range(1, n + 1):
        m = n - k
        w = scale(m + 1.0, w)
        u = scale(m + 1.0, u)
        w, u = add_brackets(x, triangle[m], k - 1, -1.0, w, u)
        w = scale(1.0 / k, w)
        u = scale(1.0 / k, u)
        store(triangle[m, k], w, u)
    return w, u


@helper
def carry_outward(x, triangle, y):
    """y = Ad_T y, less the constant Ad_T(0); x may be y."""
    factor = 1.0
    for n in range(y.shape[0]):
        if n > 1:
            factor /= n
        w, u = outward_derivative(x, triangle, n, angular(y[n]), linear(y[n]))
        store(y[n], scale(factor, w), scale(factor, u))


@helper
def carry_inward(x, triangle, y):
    """y = Ad_T^-1 y, where Ad_T(0)^-1 was done."""
    for n in range(y.shape[0]):
        w, u = inward_term(x, triangle, n, angular(y[n]), linear(y[n]))
        store(y[n], w, u)


@helper
def clear(y):
    """y = 0."""
    for n in range(y.shape[0]):
        store(y[n], _ZERO, _ZERO)


@helper
def copy(y, out):
    """out = y."""
    for n in range(y.shape[0]):
        store(out[n], angular(y[n]), linear(y[n]))


@helper
def only_angular(x):
    """The twist of a rotation of axes alone."""
    for n in range(x.shape[0]):
        store(x[n], angular(x[n]), _ZERO)


@helper
def to_child(R, p, y):
    """y = Ad_T^-1 y with a constant T."""
    for n in range(y.shape[0]):
        w, u = motion_to_child(R, p, angular(y[n]), linear(y[n]))
        store(y[n], w, u)


@helper
def to_parent(R, p, y):
    """y = Ad_T y with a constant T."""
    for n in range(y.shape[0]):
        w, u = motion_to_parent(R, p, angular(y[n]), linear(y[n]))
        store(y[n], w, u)


@helper
def bracket(x, y, out):
    """out = [x, y]."""
    for n in range(y.shape[0]):
        w, u = add_brackets(x, y, n, 1.0, _ZERO, _ZERO)
        store(out[n], w, u)


@helper
def add_product(factor, s, y, out):
    """Add factor s y, s a series of numbers, y one of twists."""
    for n in range(y.shape[0]):
        for j in range(n + 1):
            for i in range(6):
                out[n, i] += factor * s[j] * y[n - j, i]


@helper
def weighted_sum(columns, first, end, v, first_velocity, out):
    """out = the sum of S_c v_c, c from first to end; v (count, nv), columns (6, count, 6)."""
    for n in range(out.shape[0]):
        for i in range(6):
            out[n, i] = 0.0
        for c in range(first, end):
            for j in range(n + 1):
                rate = v[n - j, first_velocity + c - first]
                for i in range(6):
                    out[n, i] += rate * columns[c, j, i]
