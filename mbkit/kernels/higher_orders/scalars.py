"""Series of numbers, and those of the coefficients of dexp along x(t), as functions of z = x.x.

With the a_k and b_k of `mbkit.kernels.lie.series`,

    dexp_-X = 1 - (a_2 - z b_2 / 2) ad + (a_3 - z b_3 / 2) ad^2 + b_2 / 2 ad^3 - b_3 / 2 ad^4,

as ad_X (ad_X^2 + z)^2 = 0. Up to z = 16 they are power series around z(0), whose coefficients are

    1/m! d^m a_k / dz^m = sum_{j >= m} (-1)^j binomial(j, m) z^(j - m) / (2j + k)!,

and b_k = 2 da_k/dz. Beyond, they are computed from sine and cosine by arithmetic of series.
Sources: Mueller 2021 (Review of the exponential and Cayley map on SE(3)), for dexp; derived.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import all_lanes, any_lane, select, sin_cos, sqrt
from mbkit.kernels.vectors import angular, dot

#: Up to where power series have all digits.
LIMIT = 16.0

#: Terms of the sums, beyond m: 16^j / (2j)! is below 1e-20 there.
TERMS = 24


@helper
def product(a, b, out):
    """out = a b; out is none of them."""
    for n in range(out.shape[0]):
        total = 0.0
        for j in range(n + 1):
            total += a[j] * b[n - j]
        out[n] = total


@helper
def divide(a, z):
    """a = a / z."""
    for n in range(a.shape[0]):
        total = a[n]
        for j in range(1, n + 1):
            total -= z[j] * a[n - j]
        a[n] = total / z[0]


@helper
def root(z, out):
    """out = sqrt(z)."""
    out[0] = sqrt(z[0])
    for n in range(1, z.shape[0]):
        total = z[n]
        for j in range(1, n):
            total -= out[j] * out[n - j]
        out[n] = total / (2.0 * out[0])


@helper
def sine_cosine(x, s, c):
    """s = sin(x), c = cos(x): s' = c x', c' = -s x'."""
    s[0], c[0] = sin_cos(x[0])
    for n in range(1, x.shape[0]):
        s[n] = 0.0
        c[n] = 0.0
        for j in range(1, n + 1):
            s[n] += j * x[j] * c[n - j] / n
            c[n] -= j * x[j] * s[n - j] / n


@helper
def power_coefficient(k, m, z):
    """1/m! d^m a_k / dz^m at z."""
    # the first term: (-1)^m / (2m + k)!
    term = 1.0
    for j in range(2, 2 * m + k + 1):
        term /= j
    if m % 2 == 1:
        term = -term
    total = term
    for j in range(m + 1, m + TERMS):
        term *= -z * j / ((j - m) * (2.0 * j + k) * (2.0 * j + k - 1.0))
        total += term
    return total


@helper
def composed(k, of_b, z, scratch, out):
    """out = a_k(z(t)), or b_k where `of_b`, by Horner's scheme in z(t) - z(0)."""
    count = z.shape[0]
    for n in range(count):
        out[n] = 0.0
    for m in range(count - 1, -1, -1):
        for n in range(count):
            total = 0.0
            for j in range(1, n + 1):
                total += z[j] * out[n - j]
            scratch[n] = total
        for n in range(count):
            out[n] = scratch[n]
        if of_b:
            out[0] += 2.0 * (m + 1.0) * power_coefficient(k, m + 1, z[0])
        else:
            out[0] += power_coefficient(k, m, z[0])


@helper
def far_coefficients(z, scratch, a2, a3, b2, b3):
    """Those of z(0) > 16: a_2 = (1 - cos) / z, a_3 = (1 - a_1) / z, b_k = (a_(k-1) - k a_k) / z."""
    root(z, scratch)
    sine_cosine(scratch, a3, a2)
    divide(a3, scratch)  # a_1
    for n in range(z.shape[0]):
        one = 1.0 if n == 0 else 0.0
        a2[n] = one - a2[n]
        scratch[n] = a3[n]
        a3[n] = one - a3[n]
    divide(a2, z)
    divide(a3, z)
    for n in range(z.shape[0]):
        b2[n] = scratch[n] - 2.0 * a2[n]
        b3[n] = a2[n] - 3.0 * a3[n]
    divide(b2, z)
    divide(b3, z)


@helper
def dexp_coefficients(X, scalars):
    """Series of the factors of ad, ad^2, ad^3, ad^4 in dexp_-X, into the rows 0 to 3 of scalars.

    Needs ten rows.
    """
    count = X.shape[0]
    z = scalars[4]
    scratch = scalars[5]
    for n in range(count):
        z[n] = 0.0
        for j in range(n + 1):
            z[n] += dot(angular(X[j]), angular(X[n - j]))
    near = z[0] < LIMIT
    if any_lane(near):
        composed(2, False, z, scratch, scalars[0])
        composed(3, False, z, scratch, scalars[1])
        composed(2, True, z, scratch, scalars[2])
        composed(3, True, z, scratch, scalars[3])
    if not all_lanes(near):
        far_coefficients(z, scratch, scalars[6], scalars[7], scalars[8], scalars[9])
        for k in range(4):
            for n in range(count):
                scalars[k, n] = select(near, scalars[k, n], scalars[6 + k, n])
    for k in range(2):
        product(z, scalars[2 + k], scratch)
        sign = -1.0 if k == 0 else 1.0
        for n in range(count):
            scalars[k, n] = sign * (scalars[k, n] - 0.5 * scratch[n])
            scalars[2 + k, n] *= -0.5 * sign
