"""From the address of a step's memory to its arrays."""

from mbkit.kernels.compile import floats_at, helper, integers_at, records_at
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.implicit_integrators.layout import IMPLICIT


@helper
def memory_of(step):
    """The record of a step."""
    return records_at(step, 1, IMPLICIT)[0]


@helper
def square(address, n):
    """A matrix (n, n)."""
    return floats_at(address, n * n).reshape((n, n))


@helper
def matrix_at(address, m, n):
    """A matrix (m, n)."""
    return floats_at(address, m * n).reshape((m, n))


@helper
def flags_at(address, n):
    """Integers (n,)."""
    return integers_at(address, n)


@helper
def fails(condition):
    """Where a condition does not hold."""
    return select(condition, 0.0, 1.0) != 0.0


@helper
def add_transposed_product(A, x, factor, y):
    """y += factor A^T x."""
    for i in range(A.shape[0]):
        weight = factor * x[i]
        if any_lane(weight != 0.0):
            row = A[i]
            for j in range(A.shape[1]):
                y[j] += weight * row[j]


@helper
def largest(x):
    """max |x|, zero of nothing."""
    most = 0.0
    for j in range(x.shape[0]):
        most = max(most, abs(x[j]))
    return most
