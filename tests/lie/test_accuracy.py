"""All maps against 50 digits, computed from power series and linear solves."""

from __future__ import annotations

import functools
import json
import pathlib

import numpy as np
import pytest
from mpmath import mp, mpf

from mbkit.lie import SE3, SO3, SO3xR3, UnitQuaternion
from tests.at_each import at_each

TOLERANCE = 1e-14  # of the largest entry

ANGLES = {
    "0": 0.0,
    "1e-12": 1e-12,
    "1e-8": 1e-8,
    "1e-4": 1e-4,
    "1": 1.0,
    "3": 3.0,
    "pi-1e-6": np.pi - 1e-6,
    "4": 4.0,
    "5.5": 5.5,
    "2pi-1e-3": 2 * np.pi - 1e-3,
}

STORED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "lie_maps.json").read_text(encoding="utf-8")
)["points"]

each_angle = at_each("angle", ANGLES)
each_point = at_each("point", {point["name"]: point for point in STORED})


def error(result, reference):
    """Largest deviation from an mpmath matrix, as a part of its largest entry."""
    result = np.atleast_2d(result)
    assert result.shape == (reference.rows, reference.cols)
    deviation = max(
        abs(mpf(float(result[i, j])) - reference[i, j])
        for i in range(reference.rows)
        for j in range(reference.cols)
    )
    return float(deviation / max(abs(entry) for entry in reference))


# ------------------------------------------------------------- the maps, by their definitions


def hat3(x):
    return mp.matrix([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def hat(X):
    """4x4 matrix of a twist."""
    matrix = mp.zeros(4, 4)
    matrix[:3, :3] = hat3(X[:3])
    matrix[:3, 3] = mp.matrix(X[3:])
    return matrix


def vee(matrix):
    return [matrix[2, 1], matrix[0, 2], matrix[1, 0], matrix[0, 3], matrix[1, 3], matrix[2, 3]]


def ad(X):
    matrix = mp.zeros(6, 6)
    matrix[:3, :3] = matrix[3:, 3:] = hat3(X[:3])
    matrix[3:, :3] = hat3(X[3:])
    return matrix


def series(matrix, shift):
    """Sum of A^k / (k + shift)! over all k."""
    term = mp.eye(matrix.rows) / mp.factorial(shift)
    total = term
    k = 0
    while mp.mnorm(term, 1) > mpf(10) ** -55:
        k += 1
        term = term * matrix / (k + shift)
        total += term
    return total


def cayley_differential(X, cay):
    left = (mp.eye(4) - hat(X)) ** -1
    dcay = mp.zeros(6, 6)
    for k in range(6):
        direction = [mpf(int(i == k)) for i in range(6)]
        # d/de (I - A - e B)^-1 (I + A + e B) = (I - A)^-1 B (cay + I)
        change = left * hat(direction) * (cay + mp.eye(4)) * cay**-1
        dcay[:, k] = mp.matrix(vee(change))
    return dcay


@functools.cache
def definition(name, X):
    """A map of SE(3) at X: series of hat X and ad X; the Cayley map by inverse matrices."""
    with mp.workdps(60):
        if name.endswith("_inv"):
            return definition(name.removesuffix("_inv"), X) ** -1
        X, numbers = [mpf(entry) for entry in X], X
        half = mp.sqrt(sum(entry**2 for entry in X[:3])) / 2
        sinc = mp.sin(half) / half if half else mpf(1)
        scale = 1 / mp.sqrt(1 + 4 * half**2)
        maps = {
            "exp": lambda: series(hat(X), 0),
            "dexp_spatial": lambda: series(ad(X), 1),
            "cay": lambda: (mp.eye(4) - hat(X)) ** -1 * (mp.eye(4) + hat(X)),
            "dcay_spatial": lambda: cayley_differential(X, definition("cay", numbers)),
            "quaternion exp": lambda: mp.matrix([[mp.cos(half), *(sinc * x / 2 for x in X[:3])]]),
            "quaternion cay": lambda: mp.matrix([[scale, *(scale * x for x in X[:3])]]),
        }
        return maps[name]()


def direct_product(rotation, translation):
    matrix = mp.eye(6)
    matrix[:3, :3] = rotation
    matrix[3:, 3:] = translation
    return matrix


def reference(group, name, X):
    """What `group` must give at X, by the maps of SE(3)."""
    quaternion = group is UnitQuaternion and name in ("exp", "cay")
    numbers = tuple(float(entry) for entry in X)
    found = definition(f"quaternion {name}" if quaternion else name, numbers)
    if quaternion or group is SE3:
        return found
    rotation = found[:3, :3]
    if group is not SO3xR3:
        return rotation
    if name not in ("exp", "cay"):
        return direct_product(rotation, mp.eye(3))
    pose = mp.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = mp.matrix([mpf(float(entry)) for entry in X[3:]])
    return pose


def points(angle):
    """X of this angle: about z; about a generic axis; the same with a translation across it."""
    rng = np.random.default_rng(7)
    axis = rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    y = rng.standard_normal(3)
    yield np.array([0.0, 0.0, angle, *y])
    yield np.array([*(angle * axis), *y])
    yield np.array([*(angle * axis), *np.cross(axis, y)])


MAPS = ["exp", "dexp_spatial", "dexp_spatial_inv", "cay", "dcay_spatial", "dcay_spatial_inv"]


@pytest.mark.some(4)
@pytest.mark.parametrize("name", MAPS)
@each_angle
def test_maps_equal_their_definitions(group, name, angle):
    """Every map has all its digits, from the identity to next to the pole at 2 pi."""
    for X in points(angle):
        result = getattr(group, name)(X[: group.dimension])
        assert error(result, reference(group, name, X)) <= TOLERANCE


@pytest.mark.parametrize("distance", [1e-3, 1e-6])
def test_inverse_differential_keeps_its_digits_beside_the_pole(distance):
    """Near 2 pi the digits lost in x.x and x.y alone would be an error of 1e-16 over distance."""
    for X in points(2 * np.pi - distance):
        result = SE3.dexp_spatial_inv(X)
        assert error(result, reference(SE3, "dexp_spatial_inv", X)) <= TOLERANCE


@pytest.mark.some(3)
@pytest.mark.parametrize("angle", [6.5, 9.0, 20.0])
@pytest.mark.parametrize("name", ["exp", "dexp_spatial", "dexp_spatial_inv"])
def test_maps_beyond_two_pi(name, angle):
    """Beyond 2 pi the closed forms take over; z = x.x is then known to 1e-16 z only."""
    for X in points(angle):
        result = getattr(SE3, name)(X)
        assert error(result, reference(SE3, name, X)) <= 2 * TOLERANCE


STORED_MAPS = {
    "exp": SE3.exp,
    "quat": lambda X: UnitQuaternion.exp(X[:3]),
    "dexp": SE3.dexp_spatial,
    "dexpinv": SE3.dexp_spatial_inv,
    "cay": SE3.cay,
    "dcay": SE3.dcay_spatial,
    "dcayinv": SE3.dcay_spatial_inv,
}


@pytest.mark.parametrize("key", STORED_MAPS)
@each_point
def test_stored_points(point, key):
    """The maps equal those of another program, at 30 points with |y| from 1e-6 to 1e3."""
    expected = np.array(point[key])
    deviation = np.max(np.abs(STORED_MAPS[key](point["X"]) - expected))
    assert deviation <= TOLERANCE * np.max(np.abs(expected))


@each_point
def test_logarithm_and_inverse_cayley_of_stored_points(point):
    """The inverse maps find X again: log where it is principal, cay_inv everywhere."""
    X = np.array(point["X"])
    scale = max(np.max(np.abs(X)), 1e-300)
    assert np.max(np.abs(SE3.cay_inv(point["cay"]) - X)) <= TOLERANCE * scale
    if np.linalg.norm(X[:3]) < np.pi - 1e-10:
        assert np.max(np.abs(SE3.log(point["exp"]) - X)) <= TOLERANCE * scale
        assert np.max(np.abs(UnitQuaternion.log(point["quat"]) - X[:3])) <= TOLERANCE * scale


@each_angle
def test_logarithm_of_exponential(group, angle):
    """log exp x is x up to pi; beyond, the other way round: x (phi - 2 pi) / phi."""
    for X in points(angle):
        x = X[: group.dimension].copy()
        result = group.log(group.exp(x))
        if angle > np.pi:
            assert np.linalg.norm(result[:3]) <= np.pi
            again = group.exp(result)
            again = again * np.sign(again.flat[0] * group.exp(x).flat[0])  # q and -q
            assert np.max(np.abs(np.abs(again) - np.abs(group.exp(x)))) <= TOLERANCE * 4
            x[:3] *= (angle - 2 * np.pi) / angle
            assert np.max(np.abs(result[:3] - x[:3])) <= TOLERANCE
        else:
            assert np.max(np.abs(result - x)) <= TOLERANCE * np.max(np.abs(x))


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-20, 1e-8, 1e-6, 1e-4])
def test_logarithm_keeps_relative_digits_of_small_rotations(size):
    """The relative error stays at 1e-15, however small the rotation: no threshold, no arccos."""
    x = size * np.array([3.0, -1.0, 2.0])
    for group in (SO3, UnitQuaternion):
        np.testing.assert_allclose(group.log(group.exp(x)), x, rtol=1e-15, atol=0)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.0, -0.8), (1, 1, 1)])
def test_logarithm_of_half_turns(axis):
    """At pi both signs are logarithms, and one of them comes."""
    axis = np.array(axis) / np.linalg.norm(axis)
    half_turn = 2 * np.outer(axis, axis) - np.eye(3)
    x = SO3.log(half_turn)
    sign = np.sign(x @ axis)
    np.testing.assert_allclose(x, sign * np.pi * axis, rtol=0, atol=4e-15)
