"""Derivatives of traced functions against 40 digits, and against functions' own laws."""

from __future__ import annotations

import enum
import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.linalg import inv, norm
from scipy.interpolate import BSpline, CubicSpline, PchipInterpolator

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import differentiate, gradient, substitute
from mbkit.autodiff.tape import CannotTraceError, Tape, number_of
from mbkit.lie import SE3, SO3, SO3xR3, UnitQuaternion


def program(function, x):
    """Value, first and second derivative by x[0], compiled; traced at x."""
    tape = Tape()
    X = tape.inputs("x", x)
    values = Retargeting().convert(function)(X)
    values = [number_of(each) for each in np.asarray(values, dtype=object).ravel()]
    first = differentiate(values, {X[0]: 1.0})
    second = differentiate(first, {X[0]: 1.0})
    tape, outputs = substitute([*values, *first, *second], {})
    made = compile_tape(tape, outputs, ["x"])

    def call(x):
        found = made(list(x))
        return None if found is None else np.reshape(found, (3, -1))

    return call


def derivatives(function, *x):
    return program(function, x)(x)


# numpy's name, mpmath's, and a place.
FUNCTIONS = [
    (np.sin, mpmath.sin, 0.7), (np.cos, mpmath.cos, 0.7), (np.tan, mpmath.tan, 0.7),
    (np.arcsin, mpmath.asin, 0.3), (np.arccos, mpmath.acos, 0.3), (np.arctan, mpmath.atan, -2.3),
    (np.sinh, mpmath.sinh, 0.7), (np.cosh, mpmath.cosh, 0.7), (np.tanh, mpmath.tanh, 0.7),
    (np.arcsinh, mpmath.asinh, 0.7), (np.arccosh, mpmath.acosh, 1.7),
    (np.arctanh, mpmath.atanh, 0.4), (np.exp, mpmath.exp, 0.7), (np.expm1, mpmath.expm1, 1e-9),
    (np.log, mpmath.log, 0.7), (np.log1p, mpmath.log1p, 1e-9), (np.log2, lambda x: mpmath.log(x, 2),
    0.7), (np.log10, mpmath.log10, 0.7), (np.exp2, lambda x: mpmath.mpf(2) ** x, 0.7),
    (np.sqrt, mpmath.sqrt, 0.7), (np.cbrt, mpmath.cbrt, 0.7), (np.square, lambda x: x * x, 0.7),
    (np.reciprocal, lambda x: 1 / x, 0.7), (np.abs, abs, -0.7), (np.negative, lambda x: -x, 0.7),
    (np.sinc, lambda x: mpmath.sinc(mpmath.pi * x), 0.7), (np.deg2rad, mpmath.radians, 0.7),
    (np.rad2deg, mpmath.degrees, 0.7), (math.sin, mpmath.sin, 0.7), (math.atan, mpmath.atan, 0.7),
    (math.radians, mpmath.radians, 0.7), (math.log, mpmath.log, 0.7), (math.fabs, abs, -0.7),
    (lambda x: x**3, lambda x: x**3, 0.7), (lambda x: x**-2.5, lambda x: x**-2.5, 0.7),
    (lambda x: 2.0**x, lambda x: mpmath.mpf(2) ** x, 0.7), (lambda x: x**x, lambda x: x**x, 0.7),
    (lambda x: math.atan2(x, 0.3 - x), lambda x: mpmath.atan2(x, mpmath.mpf("0.3") - x), 0.7),
    (lambda x: np.arctan2(-2.0, x), lambda x: mpmath.atan2(-2, x), -0.7),
    (lambda x: np.hypot(x, 2.0), lambda x: mpmath.hypot(x, 2), 0.7),
    (lambda x: x % 0.25, lambda x: x % mpmath.mpf("0.25"), 0.7),
    (lambda x: (1.0 - x) / (2.0 + x), lambda x: (1 - x) / (2 + x), 0.7),
    (lambda x: np.maximum(x, x * x), lambda x: max(x, x * x), 0.7),
    (lambda x: float(x) * np.float64(3.0), lambda x: 3 * x, 0.7),
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(FUNCTIONS)))
def test_elementary_functions(index):
    """Value, first and second derivative have all digits."""
    function, exact, place = FUNCTIONS[index]
    found = derivatives(lambda x: function(x[0]), place).ravel()
    with mpmath.workdps(40):
        x = mpmath.mpf(place)
        expected = [float(exact(x)), *(float(mpmath.diff(exact, x, n)) for n in (1, 2))]
    np.testing.assert_allclose(found, expected, rtol=4e-15, atol=1e-15)


def fills_an_array(x):
    T = np.eye(4)
    T[0, 3] = x[0] ** 2
    T[:3, :3] *= x[0]
    T[1, :2] = [x[0], np.sin(x[0])]
    return T


def uses_linear_algebra(x):
    A = np.array([[0.0, 2.0, x[0]], [x[0] ** 2, 1.0, 0.5], [1.0, x[0], 3.0]])
    b = np.array([x[0], 1.0, -x[0]])
    return np.concatenate(
        [
            np.linalg.inv(A).ravel(),
            np.linalg.solve(A, b),
            [np.linalg.det(A), np.linalg.norm(b), np.trace(A), b @ A @ b],
            np.cross(b, [1.0, x[0], 3.0]),
            np.outer(b, b)[0],
            np.einsum("ij,j->i", A, b),
            np.kron(np.eye(2), b)[0],
        ]
    )


def uses_shapes(x):
    q = np.asarray(x, dtype=float)
    stacked = np.vstack([q, 2.0 * q[::-1]])
    blocks = np.block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 2)) * q[0], 3.0]])
    return np.concatenate(
        [stacked.T.ravel(), blocks.ravel(), np.roll(q, 1), np.cumsum(q), [q.sum()]]
    )


def branches(x):
    return np.where(x > 0.5, x**3, -x) + (np.sin(x[0]) if x[0] > 0.5 else 0.0) + np.clip(x, 0, 1)


def imports_inside(x):
    import math as m

    import numpy as n  # noqa: ICN001 - any name will do
    from numpy import cos

    T = n.zeros(2)
    T[0] = m.sin(x[0]) * cos(x[1])
    return T


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Vector:
    """Numbers in a class of somebody's own, with operators."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers)
        self.frame = np.eye(3)

    def __matmul__(self, x):
        frame = self.frame.copy()
        frame[0, 1] = x[0]
        return frame @ (self.numbers * x)

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, k):
        return self.numbers[k]


class Longer(Vector):
    mode = Mode.SLOW
    scale = 1.0

    def __init__(self, scale, *numbers):
        super().__init__(*numbers)
        self.scale = scale

    def __matmul__(self, x):
        if self.mode is Mode.FAST or not isinstance(self, Longer):
            return x
        return self.scale * super().__matmul__(x)

    @staticmethod
    def twice(x):
        return np.full(2, x) * 2.0

    @classmethod
    def mixed(cls, x):
        return cls.twice(x) + cls.scale

    @property
    def total(self):
        return self.numbers.sum()


VECTOR = Longer(3.0, 1.0, 2.0, 0.5)


@functools.lru_cache
def cached(x):
    return np.sin(x)


def uses_objects(x):
    return np.concatenate(
        [VECTOR @ x[:3], VECTOR.mixed(x[0]), [len(VECTOR) * x[0] * VECTOR[1] * VECTOR.total]]
    )


def closes_over(x):
    def inner(y):
        T = np.zeros(2)
        T[0] = y * x[0]
        return T

    return np.array([inner(each)[0] for each in x] + [cached(x[0])])


def recursive(x, n=4):
    return x[0] if n == 0 else np.sin(recursive(x, n - 1) * 1.3)


def polynomial(x):
    return np.polyval([1.0, -2.0, 0.5], x[0]) + np.polynomial.Polynomial([1.0, 2.0, 3.0])(x[0])


VECTORS = [
    fills_an_array, uses_linear_algebra, uses_shapes, branches, imports_inside, recursive,
    uses_objects, closes_over,
    polynomial,
    lambda x: norm(x) * inv(np.diag(x)), SE3.exp,
    lambda x: SE3.log(SE3.exp(x)), lambda x: SO3.log(SO3.exp(x[:3])),
    lambda x: SO3.cay(x[:3]), SE3.cay, SO3xR3.exp,
    lambda x: UnitQuaternion.compose(UnitQuaternion.exp(x[:3]), UnitQuaternion.exp(x[3:])),
    lambda x: SE3.Ad(SE3.exp(x)), SE3.ad, lambda x: SE3.inverse(SE3.exp(x)),
    SE3.dexp_body, SE3.dexp_spatial_inv,
    lambda x: SO3.dexp_body_inv(4.0 * x[:3]),
    lambda x: UnitQuaternion.log(UnitQuaternion.exp(x[:3])),
]  # fmt: skip


def differences(function, x, h=1e-2):
    """First and second derivative by x[0], extrapolated: good to 1e-9 here."""

    def shifted(e):
        return np.ravel(function(np.array([x[0] + e, *x[1:]])))

    first = [(shifted(e) - shifted(-e)) / (2 * e) for e in (h, h / 2, h / 4)]
    second = [(shifted(e) - 2 * shifted(0) + shifted(-e)) / e**2 for e in (h, h / 2, h / 4)]
    for table in (first, second):
        table[:] = [(4 * b - a) / 3 for a, b in itertools.pairwise(table)]
        table[:] = [(16 * table[1] - table[0]) / 15]
    return first[0], second[0]


@pytest.mark.parametrize("function", VECTORS)
def test_functions_of_vectors(function):
    """Arrays, linear algebra, branches, imports and the maps of mbkit.lie."""
    x = np.array([0.7, 0.4, -0.5, 1.0, 0.2, 0.3])
    value, first, second = derivatives(function, *x)
    np.testing.assert_allclose(value, np.ravel(function(x)), rtol=1e-14, atol=1e-15)
    expected = differences(function, x)
    np.testing.assert_allclose(first, expected[0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(second, expected[1], rtol=1e-6, atol=1e-6)


def slopes_both_ways(function, x):
    """Return the slopes of a sum of results by all inputs, forward and from the result back."""
    tape = Tape()
    X = tape.inputs("x", x)
    values = Retargeting().convert(function)(X)
    values = [number_of(each) for each in np.asarray(values, dtype=object).ravel()]
    total = sum((math.cos(k) * each for k, each in enumerate(values)), 0.0)
    forward = [differentiate([total], {each: 1.0})[0] for each in X]
    tape, outputs = substitute([*forward, *gradient(total, [*X])], {})
    return np.reshape(compile_tape(tape, outputs, ["x"])(list(x)), (2, -1))


@pytest.mark.parametrize("index", range(len(FUNCTIONS)))
def test_gradients_of_elementary_functions(index):
    function, _, x = FUNCTIONS[index]
    forward, back = slopes_both_ways(lambda x: function(x[0]) * x[1] - x[1] / x[0], [x, 0.3])
    np.testing.assert_allclose(back, forward, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("function", VECTORS)
def test_gradients_of_functions_of_vectors(function):
    forward, back = slopes_both_ways(function, [0.7, 0.4, -0.5, 1.0, 0.2, 0.3])
    np.testing.assert_allclose(back, forward, rtol=1e-11, atol=1e-12)


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_laws_of_derivatives(a, b):
    """Product and chain rule, to second order, for whatever numbers."""
    f = derivatives(lambda x: np.sin(x[0] + b), a).ravel()
    g = derivatives(lambda x: np.exp(-x[0] * b), a).ravel()
    product = derivatives(lambda x: np.sin(x[0] + b) * np.exp(-x[0] * b), a).ravel()
    expected = [f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2 * f[1] * g[1] + f[0] * g[2]]
    scale = 1e-13 * (1.0 + np.abs(g).max() * np.abs(f).max())
    np.testing.assert_allclose(product, expected, rtol=1e-12, atol=scale)


X = np.linspace(0.0, 1.0, 8)
CURVES = [
    CubicSpline(X, np.sin(5 * X)),
    CubicSpline(X, np.column_stack([np.sin(5 * X), X**2, np.exp(X)])),
    PchipInterpolator(X, np.sin(5 * X)),
    BSpline(np.r_[[0.0] * 4, 0.3, 0.6, [1.0] * 4], np.array([1.0, 2, -1, 0, 3, 1]), 3),
]


@pytest.mark.parametrize("curve", CURVES)
def test_splines_of_scipy(curve):
    """They are differentiated by their own derivatives."""
    value, first, second = derivatives(lambda x: curve(2.0 * x[0]), 0.21)
    for found, order in ((value, 0), (first, 1), (second, 2)):
        np.testing.assert_allclose(found, 2.0**order * np.ravel(curve(0.42, order)), rtol=1e-14)


def test_another_branch_is_noticed():
    """A program of one branch says that another belongs to the numbers it is given."""
    call = program(lambda x: x[0] ** 2 if x[0] < 1.0 else 5.0 * x[0], [0.5])
    np.testing.assert_array_equal(call([0.7]).ravel(), [0.7**2, 1.4, 2.0])
    assert call([1.0]) is None
    assert call([float("nan")]) is None


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.interp(x[0], [0, 1], [0, 1]), "np.interp has no derivative here"),
        (lambda x: math.gamma(x[0]), "math.gamma has no derivative here"),
        (lambda x: int(x[0]), r"int\(\) has no derivative"),
        (lambda x: np.linalg.eigvalsh(np.diag(x))[0], "np.linalg.eigvalsh has no derivative"),
    ],
)
def test_what_has_no_derivative_is_named(function, message):
    """Rather than being differentiated wrongly."""
    with pytest.raises(CannotTraceError, match=message):
        derivatives(function, 0.5, 0.3)


def test_infinite_slopes_are_not_numbers():
    """The root at zero: zero times infinity must not become zero."""
    tape = Tape()
    X = tape.inputs("x", [0.0])
    [rate] = differentiate([np.cos(np.sqrt(X[0] * X[0]))], {X[0]: 1.0})
    [second] = differentiate([rate], {X[0]: 1.0})
    _, (constant,) = substitute([second], {X[0]: 0.0})
    assert math.isnan(constant)


def test_the_function_itself_is_not_changed():
    """The copy has other globals; the original has its own."""
    before = dict(fills_an_array.__globals__)
    derivatives(fills_an_array, 0.3)
    assert fills_an_array.__globals__["np"] is np
    assert fills_an_array.__globals__.keys() == before.keys()
    assert fills_an_array(np.array([0.5])).dtype == np.float64


@pytest.mark.parametrize(
    ("order", "size"), [(2, (2, 2)), ("fro", (2,)), (1, (2,)), ("nuc", (2, 2)), (-2, (2, 2))]
)
def test_norms_that_are_no_root_of_a_sum_are_refused(order, size):
    """The 2-norm of a matrix is its largest singular value."""
    with pytest.raises((CannotTraceError, ValueError)):
        derivatives(lambda x: np.linalg.norm(np.full(size, x[0] * 1.0), ord=order), 0.7)


def test_norms_of_vectors_and_matrices():
    expected = [[2 * 0.7], [2.0], [0.0]]
    found = derivatives(lambda x: np.linalg.norm(np.full(4, x[0]), ord=2), 0.7)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    found = derivatives(lambda x: np.linalg.norm(np.full((2, 2), x[0]), ord="fro"), 0.7)
    np.testing.assert_allclose(found, expected, atol=1e-15)
