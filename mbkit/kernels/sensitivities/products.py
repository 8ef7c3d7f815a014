"""Products of matrices and adjoints."""

from mbkit.kernels.compile import helper


@helper
def add_transposed(A, x, out):
    """out += A^T x."""
    for i in range(A.shape[0]):
        weight = x[i]
        if weight != 0.0:
            for j in range(A.shape[1]):
                out[j] += weight * A[i, j]
