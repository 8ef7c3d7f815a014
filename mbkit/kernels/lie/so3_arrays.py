"""The maps of SO(3) down the rows of arrays: vectors (n, 3), matrices (n, 3, 3)."""

from mbkit.kernels.compile import float64, int64, kernel, matrix, stack
from mbkit.kernels.lie.cayley import quaternion_cay_inv, so3_cay, so3_dcay, so3_dcay_inv
from mbkit.kernels.lie.matrices import load_matrix, store_matrix
from mbkit.kernels.lie.quaternion import quaternion_from_rotation
from mbkit.kernels.lie.so3 import rotation_error, so3_dexp, so3_dexp_inv, so3_exp, so3_log
from mbkit.kernels.vectors import load


@kernel(int64(matrix, stack))
def exp(x, out):
    """out = exp x~."""
    for i in range(x.shape[0]):
        store_matrix(out[i], 0, 0, so3_exp(load(x[i])))
    return 0


@kernel(int64(stack, matrix))
def log(R, out):
    """out = x, |x| <= pi, with R = exp x~."""
    for i in range(R.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = so3_log(load_matrix(R[i]))
    return 0


@kernel(int64(matrix, stack))
def dexp(x, out):
    """out = dexp_x."""
    for i in range(x.shape[0]):
        store_matrix(out[i], 0, 0, so3_dexp(load(x[i])))
    return 0


@kernel(int64(matrix, stack))
def dexp_inv(x, out):
    """out = dexp_x^-1."""
    for i in range(x.shape[0]):
        store_matrix(out[i], 0, 0, so3_dexp_inv(load(x[i])))
    return 0


@kernel(int64(matrix, stack))
def cay(c, out):
    """out = cay c."""
    for i in range(c.shape[0]):
        store_matrix(out[i], 0, 0, so3_cay(load(c[i])))
    return 0


@kernel(int64(stack, matrix))
def cay_inv(R, out):
    """out = c with R = cay c.

    By way of the quaternion: 2 vee(R) / (1 + tr R) is the quotient of two differences near pi.
    """
    for i in range(R.shape[0]):
        quaternion = quaternion_from_rotation(load_matrix(R[i]))
        out[i, 0], out[i, 1], out[i, 2] = quaternion_cay_inv(quaternion)
    return 0


@kernel(int64(matrix, stack))
def dcay(c, out):
    """out = dcay_c."""
    for i in range(c.shape[0]):
        store_matrix(out[i], 0, 0, so3_dcay(load(c[i])))
    return 0


@kernel(int64(matrix, stack))
def dcay_inv(c, out):
    """out = dcay_c^-1."""
    for i in range(c.shape[0]):
        store_matrix(out[i], 0, 0, so3_dcay_inv(load(c[i])))
    return 0


@kernel(int64(stack, float64))
def first_non_rotation(R, tolerance):
    """Row of the first matrix whose upper left block is no rotation; n if all are."""
    for i in range(R.shape[0]):
        if not rotation_error(load_matrix(R[i])) <= tolerance:
            return i
    return R.shape[0]
