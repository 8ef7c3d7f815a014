"""The maps of SO(3) down the rows of arrays: vectors (n, 3), matrices (n, 3, 3)."""

from mbkit.kernels.compile import float64, helper, int64, kernel, matrix, stack
from mbkit.kernels.lie.arrays import each, store_rotation, store_vector
from mbkit.kernels.lie.cayley import quaternion_cay_inv, so3_cay, so3_dcay, so3_dcay_inv
from mbkit.kernels.lie.matrices import load_matrix
from mbkit.kernels.lie.quaternion import quaternion_from_rotation
from mbkit.kernels.lie.so3 import rotation_error, so3_dexp, so3_dexp_inv, so3_exp, so3_log
from mbkit.kernels.vectors import load


@helper
def so3_cay_inv(R):
    """c with R = cay c.

    By way of the quaternion: 2 vee(R) / (1 + tr R) is the quotient of two differences near pi.
    """
    return quaternion_cay_inv(quaternion_from_rotation(R))


@kernel(int64(matrix, stack))
def exp(x, out):
    """out = exp x~."""
    return each(so3_exp, load, store_rotation, x, out)


@kernel(int64(stack, matrix))
def log(R, out):
    """out = x, |x| <= pi, with R = exp x~."""
    return each(so3_log, load_matrix, store_vector, R, out)


@kernel(int64(matrix, stack))
def dexp(x, out):
    """out = dexp_x."""
    return each(so3_dexp, load, store_rotation, x, out)


@kernel(int64(matrix, stack))
def dexp_inv(x, out):
    """out = dexp_x^-1."""
    return each(so3_dexp_inv, load, store_rotation, x, out)


@kernel(int64(matrix, stack))
def cay(c, out):
    """out = cay c."""
    return each(so3_cay, load, store_rotation, c, out)


@kernel(int64(stack, matrix))
def cay_inv(R, out):
    """out = c with R = cay c."""
    return each(so3_cay_inv, load_matrix, store_vector, R, out)


@kernel(int64(matrix, stack))
def dcay(c, out):
    """out = dcay_c."""
    return each(so3_dcay, load, store_rotation, c, out)


@kernel(int64(matrix, stack))
def dcay_inv(c, out):
    """out = dcay_c^-1."""
    return each(so3_dcay_inv, load, store_rotation, c, out)


@kernel(int64(stack, float64))
def first_non_rotation(R, tolerance):
    """Row of the first matrix whose upper left block is no rotation; n if all are."""
    for i in range(R.shape[0]):
        if not rotation_error(load_matrix(R[i])) <= tolerance:
            return i
    return R.shape[0]
