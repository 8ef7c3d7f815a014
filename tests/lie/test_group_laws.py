"""The laws of a group, of its adjoint action, and of its exponential."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.lie import SE3, SO3, SO3xR3, UnitQuaternion

# Roundings of a few products of 4x4 or 6x6 matrices whose entries are below 10.
TOLERANCE = 1e-14


def assert_equal(result, expected):
    """Equal to a few roundings of the largest entry."""
    assert np.shape(result) == np.shape(expected)
    bound = TOLERANCE * max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound)


def pairs(elements):
    """All pairs (a, b), as arrays whose leading axes broadcast."""
    return elements[:, None], elements[None, :]


def test_identity_is_neutral(group, elements):
    assert_equal(group.compose(group.identity(), elements), elements)
    assert_equal(group.compose(elements, group.identity()), elements)


def test_inverse(group, elements):
    neutral = np.broadcast_to(group.identity(), elements.shape)
    assert_equal(group.compose(elements, group.inverse(elements)), neutral)
    assert_equal(group.compose(group.inverse(elements), elements), neutral)


def test_composition_is_associative(group, elements):
    a, b = pairs(elements)
    c = elements[5]
    assert_equal(
        group.compose(group.compose(a, b), c),
        group.compose(a, group.compose(b, c)),
    )


def test_inverse_of_a_product(group, elements):
    a, b = pairs(elements)
    assert_equal(
        group.inverse(group.compose(a, b)),
        group.compose(group.inverse(b), group.inverse(a)),
    )


def test_elements_are_of_the_group(group, elements, rng):
    """Rotations are orthonormal and right-handed, quaternions of length one."""
    for g in (elements, group.random(rng, (20,))):
        if group is UnitQuaternion:
            assert_equal(np.linalg.norm(g, axis=-1), np.ones(len(g)))
            continue
        R = g[..., :3, :3]
        assert_equal(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape))
        assert np.all(np.linalg.det(R) > 0)


def test_semidirect_and_direct_product_differ(rng):
    """SE3 and SO3xR3 share their storage, not their law."""
    a, b = SE3.random(rng), SE3.random(rng)
    np.testing.assert_allclose(SE3.compose(a, b)[:3, 3], a[:3, :3] @ b[:3, 3] + a[:3, 3])
    np.testing.assert_allclose(SO3xR3.compose(a, b)[:3, 3], a[:3, 3] + b[:3, 3])
    np.testing.assert_array_equal(SO3xR3.compose(a, b)[3], [0, 0, 0, 1])


def test_quaternions_cover_rotations(rng):
    """q -> R(q) respects products, q and -q are one rotation, from_rotation is the way back."""
    p, q = UnitQuaternion.random(rng, (50,)), UnitQuaternion.random(rng, (50,))
    R = UnitQuaternion.Ad
    assert_equal(R(UnitQuaternion.compose(p, q)), R(p) @ R(q))
    assert_equal(R(-q), R(q))
    assert_equal(UnitQuaternion.from_rotation(R(q)), q * np.where(q[:, :1] < 0, -1, 1))
    assert_equal(UnitQuaternion.log(-q), UnitQuaternion.log(q))
    assert_equal(UnitQuaternion.log(q), SO3.log(R(q)))


@pytest.mark.parametrize("largest", range(4))
def test_quaternion_of_a_rotation_in_every_branch(largest, rng):
    """Whichever component is largest, all digits are there."""
    q = 0.1 * rng.standard_normal((20, 4))
    q[:, largest] += 1.0
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    q *= np.where(q[:, :1] < 0, -1, 1)
    assert_equal(UnitQuaternion.from_rotation(UnitQuaternion.Ad(q)), q)


# ------------------------------------------------------------------------------------- adjoint


def test_adjoint_is_a_homomorphism(group, elements):
    a, b = pairs(elements)
    assert_equal(group.Ad(group.compose(a, b)), group.Ad(a) @ group.Ad(b))
    assert_equal(group.Ad(group.identity()), np.eye(group.dimension))


def test_adjoint_is_the_differential_of_conjugation(group, elements, vectors):
    """g exp(x) g^-1 = exp(Ad(g) x)."""
    g, x = elements[:, None], vectors[None, :]
    conjugate = group.compose(group.compose(g, group.exp(x)), group.inverse(g))
    assert_equal(conjugate, group.exp((group.Ad(g) @ x[..., None])[..., 0]))


def test_bracket_is_the_differential_of_the_adjoint(group, vectors):
    """Ad(exp x) = exp(ad x), the series of the matrix ad x."""
    ad = group.ad(vectors)
    term = np.broadcast_to(np.eye(group.dimension), ad.shape)
    series = term
    for k in range(1, 60):  # pi^60 / 60! < 1e-50
        term = term @ ad / k
        series = series + term
    # Terms grow to pi^3 / 3! before they fall.
    np.testing.assert_allclose(group.Ad(group.exp(vectors)), series, rtol=0, atol=1e-13)


def test_bracket_is_a_lie_bracket(group, vectors):
    """Antisymmetry, Jacobi's identity, and Ad respects it."""
    x, y, z = vectors[:, None], vectors[None, :], vectors[6]

    def bracket(a, b):
        return (group.ad(a) @ b[..., None])[..., 0]

    assert_equal(bracket(x, y), -bracket(y, x))
    jacobi = bracket(x, bracket(y, z)) + bracket(y, bracket(z, x)) + bracket(z, bracket(x, y))
    np.testing.assert_allclose(jacobi, 0.0, rtol=0, atol=1e-13)
    g = group.exp(z)
    Ad = group.Ad(g)
    transported = (Ad @ x[..., None])[..., 0]
    assert_equal(group.ad(transported), Ad @ group.ad(x) @ np.linalg.inv(Ad))


# --------------------------------------------------------------------------------- exponential


def test_exponential_of_parallel_vectors_adds(group, vectors):
    """exp(s x) exp(t x) = exp((s + t) x)."""
    assert_equal(
        group.compose(group.exp(0.3 * vectors), group.exp(0.5 * vectors)),
        group.exp(0.8 * vectors),
    )


def test_exponential_and_cayley_of_the_negative_are_inverses(group, vectors):
    assert_equal(group.exp(-vectors), group.inverse(group.exp(vectors)))
    assert_equal(group.cay(-vectors), group.inverse(group.cay(vectors)))


def test_cayley_of_half_angle_tangent_is_the_exponential():
    """cay(n tan(phi/2)) = exp(n phi)."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    phi = np.array([0.0, 1e-8, 0.5, 2.0, 3.0])[:, None]
    for rotations in (SO3, UnitQuaternion):
        assert_equal(rotations.cay(np.tan(phi / 2) * axis), rotations.exp(phi * axis))


def test_inverse_cayley_near_half_turns():
    """At pi - 1e-6, c is about 2e6; the rounding of R leaves c a relative error of 1e-16 c."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    c = axis / np.tan(0.5e-6)
    result = SO3.cay_inv(SO3.exp((np.pi - 1e-6) * axis))
    np.testing.assert_allclose(result, c, rtol=1e-9)


def test_random_rotations_are_uniform():
    """The mean of a uniform rotation is zero, of its angle pi/2 + 2/pi."""
    rng = np.random.default_rng(3)
    R = SO3.random(rng, (20_000,))
    # Entries have variance 1/3; five standard deviations of the mean.
    np.testing.assert_allclose(R.mean(axis=0), 0.0, atol=5 * (1 / 3 / 20_000) ** 0.5)
    angles = np.linalg.norm(SO3.log(R), axis=-1)
    assert angles.mean() == pytest.approx(np.pi / 2 + 2 / np.pi, abs=0.02)
