"""A function of a few numbers, called for the rows of an array, and storage of its values."""

from mbkit.kernels.compile import helper
from mbkit.kernels.lie.matrices import store_matrix


@helper
def each(function, load, store, x, out):
    """out = function(x), row by row; `load` makes a tuple of a row, `store` writes one into it."""
    for i in range(x.shape[0]):
        store(out[i], function(load(x[i])))
    return 0


@helper
def store_vector(target, x):
    """Write a tuple of three."""
    target[0], target[1], target[2] = x


@helper
def load_quaternion(a):
    """The array a as a tuple."""
    return a[0], a[1], a[2], a[3]


@helper
def store_quaternion(target, Q):
    """Write a tuple of four."""
    target[0], target[1], target[2], target[3] = Q


@helper
def store_rotation(target, R):
    """Write a matrix (3, 3)."""
    store_matrix(target, 0, 0, R)
