"""Vectors as tuples of scalars, and their change of frame.

A rotation R and a position p describe the pose of a child frame in its parent: x_parent = R x + p.
Arguments `R`, `p` are arrays, (3, 3) and (3,); every other vector is a tuple of three.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.simd.rows import plus_times, times


@helper
def load(a):
    """The array a as a tuple."""
    return a[0], a[1], a[2]


@helper
def angular(V):
    """The first three entries of a 6-vector array."""
    return V[0], V[1], V[2]


@helper
def linear(V):
    """The last three entries of a 6-vector array."""
    return V[3], V[4], V[5]


@helper
def store(V, w, v):
    """V = (w, v)."""
    V[0] = w[0]
    V[1] = w[1]
    V[2] = w[2]
    V[3] = v[0]
    V[4] = v[1]
    V[5] = v[2]


@helper
def accumulate(V, w, v):
    """V += (w, v)."""
    V[0] += w[0]
    V[1] += w[1]
    V[2] += w[2]
    V[3] += v[0]
    V[4] += v[1]
    V[5] += v[2]


@helper
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def subtract(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def scale(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@helper
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a, b):
    """a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@helper
def row_cross(a, b):
    """a x b, as `cross`, of rows that are in registers: `mbkit.kernels.simd.rows`."""
    x = times((a[1], a[2], a[0]), (b[2], b[0], b[1]))
    return plus_times(x, (-a[2], -a[0], -a[1]), (b[1], b[2], b[0]))


@helper
def plus_cross(x, a, b):
    """x + a x b, of rows that are in registers."""
    x = plus_times(x, (a[1], a[2], a[0]), (b[2], b[0], b[1]))
    return plus_times(x, (-a[2], -a[0], -a[1]), (b[1], b[2], b[0]))


@helper
def row_times(a, X):
    """a^T X, X by rows."""
    return plus_times(plus_times(times(a[0], X[0]), a[1], X[1]), a[2], X[2])


@helper
def columns(R):
    """R^T by rows."""
    return (
        (R[0, 0], R[1, 0], R[2, 0]),
        (R[0, 1], R[1, 1], R[2, 1]),
        (R[0, 2], R[1, 2], R[2, 2]),
    )


@helper
def rotate(R, a):
    """R a."""
    return row_times(a, columns(R))


@helper
def rotate_back(R, a):
    """R^T a."""
    return row_times(a, (load(R[0]), load(R[1]), load(R[2])))


@helper
def motion_to_child(R, p, w, v):
    """Ad_C^-1 (w, v) = (R^T w, R^T (v + w x p))."""
    return rotate_back(R, w), rotate_back(R, add(v, cross(w, p)))


@helper
def motion_to_parent(R, p, w, v):
    """Ad_C (w, v) = (R w, R v + p x R w)."""
    w_parent = rotate(R, w)
    return w_parent, add(rotate(R, v), cross(p, w_parent))


@helper
def force_to_parent(R, p, t, f):
    """Ad_C^-T (t, f) = (R t + p x R f, R f)."""
    f_parent = rotate(R, f)
    return add(rotate(R, t), cross(p, f_parent)), f_parent


@helper
def motion_bracket(w1, v1, w2, v2):
    """ad_1 (w2, v2) = (w1 x w2, v1 x w2 + w1 x v2)."""
    return cross(w1, w2), add(cross(v1, w2), cross(w1, v2))


@helper
def force_bracket(w, v, t, f):
    """-ad_V^T (t, f) = (w x t + v x f, w x f)."""
    return add(cross(w, t), cross(v, f)), cross(w, f)


@helper
def pairing(a, x, y):
    """The 6-vector array `a` times (x, y): two sums, which do not wait for each other."""
    return dot(angular(a), x) + dot(linear(a), y)
