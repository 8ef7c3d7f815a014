"""Unit quaternions (n, 4) and rotation vectors (n, 3), row by row.

The differentials are those of SO(3): 2 Qdot o Q* = (0, w^s), 2 Q* o Qdot = (0, w^b).
"""

from mbkit.kernels.compile import float64, helper, int64, kernel, matrix, stack
from mbkit.kernels.lie.cayley import quaternion_cay, quaternion_cay_inv
from mbkit.kernels.lie.matrices import load_matrix, store_matrix
from mbkit.kernels.lie.quaternion import (
    quaternion_exp,
    quaternion_from_rotation,
    quaternion_log,
    quaternion_product,
    quaternion_rotation,
)
from mbkit.kernels.lie.so3_arrays import dcay, dcay_inv, dexp, dexp_inv  # noqa: F401 - shared
from mbkit.kernels.vectors import load


@helper
def load_quaternion(a):
    """The array a as a tuple."""
    return a[0], a[1], a[2], a[3]


@kernel(int64(matrix, matrix))
def exp(x, out):
    """out = quaternion of the rotation vector x."""
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = quaternion_exp(load(x[i]))
    return 0


@kernel(int64(matrix, matrix))
def log(q, out):
    """out = principal rotation vector of q."""
    for i in range(q.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = quaternion_log(load_quaternion(q[i]))
    return 0


@kernel(int64(matrix, matrix))
def cay(c, out):
    """out = quaternion of the Rodrigues parameters c."""
    for i in range(c.shape[0]):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = quaternion_cay(load(c[i]))
    return 0


@kernel(int64(matrix, matrix))
def cay_inv(q, out):
    """out = Rodrigues parameters of q."""
    for i in range(q.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = quaternion_cay_inv(load_quaternion(q[i]))
    return 0


@kernel(int64(matrix, matrix, matrix))
def product(a, b, out):
    """out = a o b."""
    for i in range(a.shape[0]):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = quaternion_product(
            load_quaternion(a[i]), load_quaternion(b[i])
        )
    return 0


@kernel(int64(matrix, stack))
def rotation(q, out):
    """out = R(q)."""
    for i in range(q.shape[0]):
        store_matrix(out[i], 0, 0, quaternion_rotation(load_quaternion(q[i])))
    return 0


@kernel(int64(stack, matrix))
def from_rotation(R, out):
    """out = q with R = R(q), q0 >= 0."""
    for i in range(R.shape[0]):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = quaternion_from_rotation(load_matrix(R[i]))
    return 0


@kernel(int64(matrix, float64))
def first_non_unit(q, tolerance):
    """Row of the first quaternion with | |q|^2 - 1 | above the tolerance; n if there is none."""
    for i in range(q.shape[0]):
        square = q[i, 0] ** 2 + q[i, 1] ** 2 + q[i, 2] ** 2 + q[i, 3] ** 2
        if not abs(square - 1.0) <= tolerance:
            return i
    return q.shape[0]
