"""The maps of SE(3) down the rows of arrays: X (n, 6), poses (n, 4, 4), matrices (n, 6, 6)."""

from mbkit.kernels.compile import float64, helper, int64, kernel, matrix, stack
from mbkit.kernels.lie.cayley import se3_cay, se3_cay_inv, se3_dcay, se3_dcay_inv
from mbkit.kernels.lie.matrices import load_matrix, store_matrix
from mbkit.kernels.lie.quaternion import quaternion_from_rotation
from mbkit.kernels.lie.se3 import se3_dexp_block, se3_dexp_inv_block, se3_log
from mbkit.kernels.lie.so3 import (
    rotation_error,
    so3_dexp,
    so3_dexp_inv,
    so3_dexp_spatial,
    so3_exp,
)
from mbkit.kernels.vectors import angular, linear, store


@helper
def load_translation(C):
    """The last column of a pose."""
    return C[0, 3], C[1, 3], C[2, 3]


@helper
def store_pose(C, R, r):
    """C = [[R, r], [0, 1]]."""
    store_matrix(C, 0, 0, R)
    C[0, 3], C[1, 3], C[2, 3] = r
    C[3, 0] = 0.0
    C[3, 1] = 0.0
    C[3, 2] = 0.0
    C[3, 3] = 1.0


@helper
def store_blocks(M, upper, lower_left, lower):
    """M = [[upper, 0], [lower_left, lower]]."""
    store_matrix(M, 0, 0, upper)
    store_matrix(M, 0, 3, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store_matrix(M, 3, 0, lower_left)
    store_matrix(M, 3, 3, lower)


@kernel(int64(matrix, stack))
def exp(X, out):
    """out = exp X = (exp x~, dexp_x y)."""
    for i in range(X.shape[0]):
        x = angular(X[i])
        store_pose(out[i], so3_exp(x), so3_dexp_spatial(x, linear(X[i])))
    return 0


@kernel(int64(stack, matrix))
def log(C, out):
    """out = X, |x| <= pi, with C = exp X."""
    for i in range(C.shape[0]):
        quaternion = quaternion_from_rotation(load_matrix(C[i]))
        x, y = se3_log(quaternion, load_translation(C[i]))
        store(out[i], x, y)
    return 0


@kernel(int64(matrix, stack))
def dexp(X, out):
    """out = dexp_X = [[dexp_x, 0], [D dexp(x)[y], dexp_x]]."""
    for i in range(X.shape[0]):
        x = angular(X[i])
        diagonal = so3_dexp(x)
        store_blocks(out[i], diagonal, se3_dexp_block(x, linear(X[i])), diagonal)
    return 0


@kernel(int64(matrix, stack))
def dexp_inv(X, out):
    """out = dexp_X^-1 = [[dexp_x^-1, 0], [D dexp^-1(x)[y], dexp_x^-1]]."""
    for i in range(X.shape[0]):
        x = angular(X[i])
        diagonal = so3_dexp_inv(x)
        store_blocks(out[i], diagonal, se3_dexp_inv_block(x, linear(X[i])), diagonal)
    return 0


@kernel(int64(matrix, stack))
def cay(X, out):
    """out = cay X."""
    for i in range(X.shape[0]):
        R, r = se3_cay(angular(X[i]), linear(X[i]))
        store_pose(out[i], R, r)
    return 0


@kernel(int64(stack, matrix))
def cay_inv(C, out):
    """out = X with C = cay X."""
    for i in range(C.shape[0]):
        quaternion = quaternion_from_rotation(load_matrix(C[i]))
        c, d = se3_cay_inv(quaternion, load_translation(C[i]))
        store(out[i], c, d)
    return 0


@kernel(int64(matrix, stack))
def dcay(X, out):
    """out = dcay_X."""
    for i in range(X.shape[0]):
        upper, lower_left, lower = se3_dcay(angular(X[i]), linear(X[i]))
        store_blocks(out[i], upper, lower_left, lower)
    return 0


@kernel(int64(matrix, stack))
def dcay_inv(X, out):
    """out = dcay_X^-1."""
    for i in range(X.shape[0]):
        upper, lower_left, lower = se3_dcay_inv(angular(X[i]), linear(X[i]))
        store_blocks(out[i], upper, lower_left, lower)
    return 0


@kernel(int64(stack, float64))
def first_non_pose(C, tolerance):
    """Row of the first matrix that is not [[R, r], [0, 1]] with a rotation R; n if all are."""
    for i in range(C.shape[0]):
        last = abs(C[i, 3, 0]) + abs(C[i, 3, 1]) + abs(C[i, 3, 2]) + abs(C[i, 3, 3] - 1.0)
        if not (rotation_error(load_matrix(C[i])) <= tolerance and last <= tolerance):
            return i
    return C.shape[0]
