"""Wrenches reciprocal to a motion subspace that depends on the configuration."""

import numpy as np

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import sqrt


@helper
def allocate_motion(n):
    """Memory for what `motion` writes, R, p, S, bias, and zero velocities."""
    return np.empty(9), np.empty(3), np.empty(6 * n), np.empty(6), np.zeros(n)


@helper
def reflect(h, x, first):
    """x - h (h.x), from an index on."""
    product = 0.0
    for j in range(6):
        product += h[j] * x[first + j]
    for j in range(6):
        x[first + j] -= product * h[j]


@helper
def complement(S, n, out):
    """Write an orthonormal basis of the vectors normal to the n columns of S, which it changes.

    Householder reflections H_k take S to a triangle; H_1 ... H_n takes the last 6 - n unit vectors
    to the complement. h is scaled so that H = I - h h^T. Source: Golub, Van Loan, Matrix
    Computations, 4th edition, 5.2.
    """
    reflections = np.zeros((n, 6))
    for k in range(n):
        h = reflections[k]
        square = 0.0
        for j in range(k, 6):
            h[j] = S[6 * k + j]
            square += h[j] * h[j]
        length = sqrt(square)
        h[k] += length if h[k] >= 0.0 else -length
        # I - 2 h h^T / |h|^2, and |h|^2 = 2 length |h_k|
        factor = 1.0 / sqrt(length * abs(h[k]))
        for j in range(k, 6):
            h[j] *= factor
        for i in range(k, n):
            reflect(h, S, 6 * i)
    for i in range(6 - n):
        for j in range(6):
            out[6 * i + j] = 1.0 if j == n + i else 0.0
        for k in range(n - 1, -1, -1):
            reflect(reflections[k], out, 6 * i)
