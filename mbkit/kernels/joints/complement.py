"""Wrenches reciprocal to a motion subspace that depends on the configuration."""

import numpy as np

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import sqrt

#: Squares of lengths that count as zero: below, they have lost their digits.
NOTHING = 1e-280


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
def tilt(x, first):
    """Both halves of x in the axes (2, 3, 6) / 7, (3, -6, 2) / 7, (6, 2, -3) / 7; its own inverse.

    Axes of joints stand in these directions, or turn into them, by chance alone.
    """
    for j in (first, first + 3):
        a = x[j]
        b = x[j + 1]
        c = x[j + 2]
        x[j] = (2.0 * a + 3.0 * b + 6.0 * c) / 7.0
        x[j + 1] = (3.0 * a - 6.0 * b + 2.0 * c) / 7.0
        x[j + 2] = (6.0 * a + 2.0 * b - 3.0 * c) / 7.0


@helper
def reflection(x, first, k, h):
    """Write the h with x - h (h.x) = -|x| e_k, x from entry k on.

    h is along x + |x| e_k, which has no direction where x is -|x| e_k or zero: there, any normal
    to e_k will do. x_k + |x| is (|x|^2 - x_k^2) / (|x| - x_k).
    """
    tail = 0.0
    for j in range(k + 1, 6):
        h[j] = x[first + j]
        tail += h[j] * h[j]
    h[k] = x[first + k]
    size = sqrt(h[k] * h[k] + tail)
    h[k] = tail / (size - h[k]) if h[k] < 0.0 else h[k] + size
    square = h[k] * h[k] + tail
    if square < NOTHING:
        h[k + 1] = 1.0
        square = 1.0
    factor = sqrt(2.0 / square)
    for j in range(k, 6):
        h[j] *= factor


@helper
def complement(S, n, out):
    """Write an orthonormal basis of the vectors normal to the n columns of S, which it changes.

    Householder reflections H_k take S to a triangle; H_1 ... H_n takes the last 6 - n unit vectors
    to the complement. The sign of the diagonal is always the same, so that the basis changes
    smoothly with S but where a column comes to point along -e_k: of column k in six dimensions that
    is 6 - k conditions, and for the fifth, where one vector is left, the limit is taken. Of columns
    that depend on each other it gives as many vectors, normal to all of them.
    Source: Golub, Van Loan, Matrix Computations, 4th edition, 5.1, 5.2.
    """
    complement_in(S, n, out, np.zeros((n, 6)))


@helper
def complement_in(S, n, out, reflections):
    """The same with memory (n, 6) for the reflections, all zero."""
    last = min(n, 4)
    for k in range(n):
        tilt(S, 6 * k)
    for k in range(last):
        reflection(S, 6 * k, k, reflections[k])
        for i in range(k + 1, n):
            reflect(reflections[k], S, 6 * i)
    for i in range(6 - n):
        for j in range(6):
            out[6 * i + j] = 1.0 if j == n + i else 0.0
        if n == 5:
            x = S[28]
            y = S[29]
            size = sqrt(x * x + y * y)
            if size == 0.0:
                x = 1.0
                size = 1.0
            out[4] = -y / size
            out[5] = x / size
        for k in range(last - 1, -1, -1):
            reflect(reflections[k], out, 6 * i)
        tilt(out, 6 * i)
