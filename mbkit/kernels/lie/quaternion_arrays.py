"""Unit quaternions (n, 4) and rotation vectors (n, 3), row by row.

The differentials are those of SO(3): 2 Qdot o Q* = (0, w^s), 2 Q* o Qdot = (0, w^b).
"""

from mbkit.kernels.compile import float64, int64, kernel, matrix, stack
from mbkit.kernels.lie.arrays import (
    each,
    load_quaternion,
    store_quaternion,
    store_rotation,
    store_vector,
)
from mbkit.kernels.lie.cayley import quaternion_cay, quaternion_cay_inv
from mbkit.kernels.lie.matrices import load_matrix
from mbkit.kernels.lie.quaternion import (
    quaternion_exp,
    quaternion_from_rotation,
    quaternion_log,
    quaternion_product,
    quaternion_rotation,
)
from mbkit.kernels.lie.so3_arrays import dcay, dcay_inv, dexp, dexp_inv  # noqa: F401 - shared
from mbkit.kernels.vectors import load


@kernel(int64(matrix, matrix))
def exp(x, out):
    """out = quaternion of the rotation vector x."""
    return each(quaternion_exp, load, store_quaternion, x, out)


@kernel(int64(matrix, matrix))
def log(q, out):
    """out = principal rotation vector of q."""
    return each(quaternion_log, load_quaternion, store_vector, q, out)


@kernel(int64(matrix, matrix))
def cay(c, out):
    """out = quaternion of the Rodrigues parameters c."""
    return each(quaternion_cay, load, store_quaternion, c, out)


@kernel(int64(matrix, matrix))
def cay_inv(q, out):
    """out = Rodrigues parameters of q."""
    return each(quaternion_cay_inv, load_quaternion, store_vector, q, out)


@kernel(int64(matrix, matrix, matrix))
def product(a, b, out):
    """out = a o b."""
    for i in range(a.shape[0]):
        store_quaternion(out[i], quaternion_product(load_quaternion(a[i]), load_quaternion(b[i])))
    return 0


@kernel(int64(matrix, stack))
def rotation(q, out):
    """out = R(q)."""
    return each(quaternion_rotation, load_quaternion, store_rotation, q, out)


@kernel(int64(stack, matrix))
def from_rotation(R, out):
    """out = q with R = R(q), q0 >= 0."""
    return each(quaternion_from_rotation, load_matrix, store_quaternion, R, out)


@kernel(int64(matrix, float64))
def first_non_unit(q, tolerance):
    """Row of the first quaternion with | |q|^2 - 1 | above the tolerance; n if there is none."""
    for i in range(q.shape[0]):
        square = q[i, 0] ** 2 + q[i, 1] ** 2 + q[i, 2] ** 2 + q[i, 3] ** 2
        if not abs(square - 1.0) <= tolerance:
            return i
    return q.shape[0]
