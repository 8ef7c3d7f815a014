"""Coefficients of the maps, as functions of z = x.x, to the last digit at every angle sqrt(z).

    a_k = sum_{j>=0} (-1)^j z^j / (2j + k)!     a_0 = cos phi, a_1 = sin phi / phi, ...
    b_k = a_k' / phi                            (' by phi)
    c_k = b_k' / phi
    e   = (1 - (phi/2) cot(phi/2)) / z
    f   = e' / phi

The closed forms cancel at small angles: that of a_3 has lost a digit at phi = 0.5 and half its
digits at 1e-3, that of f is good only beyond 3.85. So each series is used up to where its closed
form has all digits, with the number of terms that makes the truncation less than 2e-17 there.
Relative errors are below 1e-15 on [0, 2 pi), but next to a coefficient's own zero, where the
rounding of z shows and the absolute error stays at 1e-16.
"""

from fractions import Fraction
from math import factorial
from typing import Any

from mbkit.kernels.compile import UNCOMPILED, helper
from mbkit.kernels.elementary import all_lanes, any_lane, cos, grain, select, sin_cos, sqrt
from mbkit.kernels.lie.arbitrary_precision import endless_sum, rest_of_e
from mbkit.kernels.lie.exact_products import distance_from_pole

#: What the coefficients of all powers are, for numbers of more digits than doubles.
_ENDLESS: dict[Any, Any] = {}


def _series(coefficient, terms):
    """Coefficients, highest power first."""
    numbers = tuple(float(coefficient(j)) for j in reversed(range(terms)))
    _ENDLESS[numbers] = coefficient
    return numbers


def _a(k, terms):
    """Coefficients of a_k."""
    return _series(lambda j: Fraction((-1) ** j, factorial(2 * j + k)), terms)


def _b(k, terms):
    """Coefficients of b_k."""
    return _series(
        lambda j: Fraction((-1) ** (j + 1) * 2 * (j + 1), factorial(2 * j + 2 + k)), terms
    )


def _c(k, terms):
    """Coefficients of c_k."""
    return _series(
        lambda j: Fraction((-1) ** j * 4 * (j + 2) * (j + 1), factorial(2 * j + 4 + k)), terms
    )


# Up to phi = 1; beyond, the closed forms, which need no difference.
_A1 = _a(1, 9)
_A2 = _a(2, 9)

# Up to phi = 4: b_3 in closed form has all digits only from 2.93 on.
_SERIES_LIMIT = 16.0
_A3 = _a(3, 16)
_B2 = _b(2, 16)
_B3 = _b(3, 16)
_C2 = _c(2, 16)
_C3 = _c(3, 16)

# e = 2 / ((2 pi)^2 - z) + sum_j s_j z^j,  s_j = 2 (zeta(2j + 2) - 1) / (2 pi)^(2j + 2):
# the partial fractions of the cotangent, without the first. Only positive terms, no cancellation.
_S = (
    3.267274151216445e-02,
    1.05641107053347e-04,
    5.637370282876845e-07,
    3.357141926657451e-09,
    2.0742872904166045e-11,
    1.3000482138698975e-13,
    8.196052055691008e-16,
    5.180118196169724e-18,
    3.277539174701792e-20,
    2.0747401878593604e-22,
    1.3136241807166534e-24,
    8.318003195189264e-27,
    5.267262996834231e-29,
    3.3354842988221443e-31,
    2.1122063323183885e-33,
    1.3375664093215244e-35,
    8.470227328650247e-38,
    5.363831046655698e-40,
    3.3966848266497805e-42,
    2.1509755511832569e-44,
    1.3621211117593843e-46,
    8.625732514113179e-49,
    5.462308871489559e-51,
    3.4590474864883954e-53,
)
_E = tuple(reversed(_S))
_F = tuple(2 * j * _S[j] for j in reversed(range(1, len(_S))))
_ENDLESS[_E] = rest_of_e
_ENDLESS[_F] = lambda j: 2 * (j + 1) * rest_of_e(j + 1)

# The pole form serves a little beyond the pole.
_POLE_FORM_LIMIT = 40.0


if UNCOMPILED:

    def polynomial(coefficients, z):
        """Horner's scheme, highest power first; of numbers with more digits the whole series."""
        if grain(z) < 1.0:
            return endless_sum(_ENDLESS[coefficients], z)
        value = 0.0
        for coefficient in coefficients:
            value = value * z + coefficient
        return value

else:

    @helper
    def polynomial(coefficients, z):
        """Horner's scheme, highest power first."""
        value = 0.0
        for coefficient in coefficients:
            value = value * z + coefficient
        return value


@helper
def a1_a2(z):
    """sin phi / phi and (1 - cos phi) / z = 1/2 (sin(phi/2) / (phi/2))^2."""
    near = z < 1.0
    if all_lanes(near):
        return polynomial(_A1, z), polynomial(_A2, z)
    half = 0.5 * sqrt(z)
    sine, cosine = sin_cos(half)
    sinc = sine / half
    a1, a2 = sinc * cosine, 0.5 * sinc * sinc
    if any_lane(near):
        return select(near, polynomial(_A1, z), a1), select(near, polynomial(_A2, z), a2)
    return a1, a2


@helper
def a2_a3(z):
    """(1 - cos phi) / z and (phi - sin phi) / phi^3."""
    a1, a2 = a1_a2(z)
    near = z < _SERIES_LIMIT
    if all_lanes(near):
        return a2, polynomial(_A3, z)
    a3 = (1.0 - a1) / z
    if any_lane(near):
        return a2, select(near, polynomial(_A3, z), a3)
    return a2, a3


@helper
def b2_b3(z):
    """a_2' / phi and a_3' / phi."""
    near = z < _SERIES_LIMIT
    if all_lanes(near):
        return polynomial(_B2, z), polynomial(_B3, z)
    a1, a2 = a1_a2(z)
    a3 = (1.0 - a1) / z
    b2, b3 = (a1 - 2.0 * a2) / z, (a2 - 3.0 * a3) / z
    if any_lane(near):
        return select(near, polynomial(_B2, z), b2), select(near, polynomial(_B3, z), b3)
    return b2, b3


@helper
def c2_c3(z):
    """b_2' / phi and b_3' / phi."""
    near = z < _SERIES_LIMIT
    if all_lanes(near):
        return polynomial(_C2, z), polynomial(_C3, z)
    b2, b3 = b2_b3(z)
    a1, _ = a1_a2(z)
    b1 = (cos(sqrt(z)) - a1) / z
    c2, c3 = (b1 - 4.0 * b2) / z, (b2 - 5.0 * b3) / z
    if any_lane(near):
        return select(near, polynomial(_C2, z), c2), select(near, polynomial(_C3, z), c3)
    return c2, c3


@helper
def e_of(x, z):
    """(1 - (phi/2) cot(phi/2)) / z; infinite at phi = 2 pi."""
    if z < _POLE_FORM_LIMIT:
        return 2.0 / distance_from_pole(x, z) + polynomial(_E, z)
    half = 0.5 * sqrt(z)
    sine, cosine = sin_cos(half)
    return (1.0 - half * cosine / sine) / z


@helper
def e_f_of(x, z):
    """e and e' / phi; infinite at phi = 2 pi."""
    if z < _POLE_FORM_LIMIT:
        distance = distance_from_pole(x, z)
        e = 2.0 / distance + polynomial(_E, z)
        return e, 4.0 / (distance * distance) + polynomial(_F, z)
    # With beta = (sin(phi/2) / (phi/2))^2 and gamma = (phi/2) cot(phi/2), Mueller (61).
    half = 0.5 * sqrt(z)
    sine, cosine = sin_cos(half)
    sinc = sine / half
    gamma = cosine / sinc
    return (1.0 - gamma) / z, (1.0 / (sinc * sinc) + gamma - 2.0) / (z * z)
