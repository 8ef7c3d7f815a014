"""Wrenches reciprocal to a motion subspace that depends on the configuration."""

import numpy as np

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import sqrt

#: Squares of lengths that count as zero: below, they have lost their digits.
NOTHING = 1e-280


def _cosine_transform():
    """The matrix of the discrete cosine transform of three numbers (DCT-II), which is orthogonal.

    C_kj = sqrt(2/3) cos(pi (2 j + 1) k / 6), the first row divided by sqrt(2).
    """
    j, k = np.arange(3), np.arange(3)[:, None]
    C = np.sqrt(2.0 / 3.0) * np.cos(np.pi * (2 * j + 1) * k / 6.0)
    C[0] /= np.sqrt(2.0)
    return C


#: Screws are transformed before they are reflected, both halves of each alone, and then two numbers
#: of the first half come first, two of the second, and the third ones. Rotations and translations
#: along the axes of a frame, up to four in any order and direction, are reflected to columns x with
#: |x + |x| e_k| >= 0.22 |x|; without the transform, or with halves one after the other, some
#: would be columns along -e_k. Of rotations alone, up to three, each vector of the basis is a
#: moment or a force: vectors of both would have other directions in another unit of length.
TRANSFORM = np.kron(np.eye(2), _cosine_transform())[[0, 1, 3, 4, 2, 5]]
BACK = np.ascontiguousarray(TRANSFORM.T)


@helper
def allocate_motion(n):
    """Memory for the results of `motion`, R, p, S, bias, and zero velocities."""
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
def transform(C, x, first):
    """C x in the place of the six numbers x from an index on."""
    a = x[first]
    b = x[first + 1]
    c = x[first + 2]
    d = x[first + 3]
    e = x[first + 4]
    f = x[first + 5]
    for k in range(6):
        upper = C[k, 0] * a + C[k, 1] * b + C[k, 2] * c
        x[first + k] = upper + C[k, 3] * d + C[k, 4] * e + C[k, 5] * f


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

    The columns are transformed by `TRANSFORM`, and the basis is transformed back. In between,
    Householder reflections H_k take the columns to a triangle; H_1 ... H_n takes the last 6 - n
    unit vectors to the complement. The sign of the diagonal is always the same, so that the basis
    changes smoothly with S but where a column comes to point along -e_k: of column k in six
    dimensions that is 6 - k conditions, and for the fifth, where one vector is left, the limit is
    taken. Of columns that depend on each other it gives as many vectors, normal to all of them.
    Source: Golub, Van Loan, Matrix Computations, 4th edition, 5.1, 5.2.
    """
    complement_in(S, n, out, np.zeros((n, 6)))


@helper
def complement_in(S, n, out, reflections):
    """The same with memory (n, 6) for the reflections, all zero."""
    last = min(n, 4)
    for k in range(n):
        transform(TRANSFORM, S, 6 * k)
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
        transform(BACK, out, 6 * i)
