"""3x3 matrices as tuples of nine, row by row, and quadratic polynomials in a skew matrix.

Every map of SO(3) here, exponential or Cayley, differential or inverse, is p0 I + p1 x~ + p2 x~^2
with its own coefficients p(z), z = x.x; x~ u = x cross u. Where the squares would cancel, it is
written with x x^T = x~^2 + z I instead.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.vectors import cross


@helper
def hat(x):
    """x~, the matrix of u -> x cross u."""
    return 0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0


@helper
def matrix_times(A, u):
    """A u."""
    return (
        A[0] * u[0] + A[1] * u[1] + A[2] * u[2],
        A[3] * u[0] + A[4] * u[1] + A[5] * u[2],
        A[6] * u[0] + A[7] * u[1] + A[8] * u[2],
    )


@helper
def transposed_times(A, u):
    """A^T u."""
    return (
        A[0] * u[0] + A[3] * u[1] + A[6] * u[2],
        A[1] * u[0] + A[4] * u[1] + A[7] * u[2],
        A[2] * u[0] + A[5] * u[1] + A[8] * u[2],
    )


@helper
def matrix_product(A, B):
    """A B."""
    c0 = matrix_times(A, (B[0], B[3], B[6]))
    c1 = matrix_times(A, (B[1], B[4], B[7]))
    c2 = matrix_times(A, (B[2], B[5], B[8]))
    return c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2]


@helper
def skew_polynomial(p0, p1, p2, x):
    """p0 I + p1 x~ + p2 x~^2."""
    return (
        p0 - p2 * (x[1] * x[1] + x[2] * x[2]),
        p2 * x[0] * x[1] - p1 * x[2],
        p2 * x[0] * x[2] + p1 * x[1],
        p2 * x[0] * x[1] + p1 * x[2],
        p0 - p2 * (x[0] * x[0] + x[2] * x[2]),
        p2 * x[1] * x[2] - p1 * x[0],
        p2 * x[0] * x[2] - p1 * x[1],
        p2 * x[1] * x[2] + p1 * x[0],
        p0 - p2 * (x[0] * x[0] + x[1] * x[1]),
    )


@helper
def skew_polynomial_times(p0, p1, p2, x, u):
    """(p0 I + p1 x~ + p2 x~^2) u."""
    xu = cross(x, u)
    xxu = cross(x, xu)
    return (
        p0 * u[0] + p1 * xu[0] + p2 * xxu[0],
        p0 * u[1] + p1 * xu[1] + p2 * xxu[1],
        p0 * u[2] + p1 * xu[2] + p2 * xxu[2],
    )


@helper
def skew_plus_outer(p0, p1, p2, x):
    """p0 I + p1 x~ + p2 x x^T."""
    return (
        p0 + p2 * x[0] * x[0],
        p2 * x[0] * x[1] - p1 * x[2],
        p2 * x[0] * x[2] + p1 * x[1],
        p2 * x[0] * x[1] + p1 * x[2],
        p0 + p2 * x[1] * x[1],
        p2 * x[1] * x[2] - p1 * x[0],
        p2 * x[0] * x[2] - p1 * x[1],
        p2 * x[1] * x[2] + p1 * x[0],
        p0 + p2 * x[2] * x[2],
    )


@helper
def skew_polynomial_derivative(p1, p2, q1, q2, x, y, xy):
    """Derivative of p0 I + p1 x~ + p2 x~^2 along y, for a constant p0.

    With q = p' / phi it is p1 y~ + p2 (x~ y~ + y~ x~) + (x.y) (q1 x~ + q2 x~^2);
    xy is x.y.
    """
    polar = skew_polynomial(0.0, xy * q1, xy * q2, x)
    skew = (p1 * y[0], p1 * y[1], p1 * y[2])
    # x~ y~ + y~ x~ = x y^T + y x^T - 2 (x.y) I; its diagonal without the difference.
    m01 = p2 * (x[0] * y[1] + x[1] * y[0])
    m02 = p2 * (x[0] * y[2] + x[2] * y[0])
    m12 = p2 * (x[1] * y[2] + x[2] * y[1])
    return (
        polar[0] - 2.0 * p2 * (x[1] * y[1] + x[2] * y[2]),
        polar[1] + m01 - skew[2],
        polar[2] + m02 + skew[1],
        polar[3] + m01 + skew[2],
        polar[4] - 2.0 * p2 * (x[0] * y[0] + x[2] * y[2]),
        polar[5] + m12 - skew[0],
        polar[6] + m02 - skew[1],
        polar[7] + m12 + skew[0],
        polar[8] - 2.0 * p2 * (x[0] * y[0] + x[1] * y[1]),
    )


@helper
def store_matrix(target, row, column, A):
    """Write A into a 2-d array, its first entry at (row, column)."""
    target[row, column] = A[0]
    target[row, column + 1] = A[1]
    target[row, column + 2] = A[2]
    target[row + 1, column] = A[3]
    target[row + 1, column + 1] = A[4]
    target[row + 1, column + 2] = A[5]
    target[row + 2, column] = A[6]
    target[row + 2, column + 1] = A[7]
    target[row + 2, column + 2] = A[8]


@helper
def load_matrix(source):
    """The upper left 3x3 block of a 2-d array."""
    return (
        source[0, 0],
        source[0, 1],
        source[0, 2],
        source[1, 0],
        source[1, 1],
        source[1, 2],
        source[2, 0],
        source[2, 1],
        source[2, 2],
    )
