"""Inertias: shapes, sums, frames, and what no body can have."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import mbkit as mb
from mbkit import SpatialInertia
from mbkit.lie import SE3
from mbkit.spatial import rotation, translation

numbers = st.floats(-3.0, 3.0)
vectors = st.tuples(numbers, numbers, numbers)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 0.1)
poses = st.builds(rotation, directions, numbers, vectors).flatmap(
    lambda C: vectors.map(lambda p: translation(p) @ C)
)


@st.composite
def inertias(draw):
    """Inertias of bodies that are there: boxes, thin ones too, anywhere in any position."""
    size = draw(st.tuples(*[st.floats(1e-3, 2.0)] * 3))
    box = SpatialInertia.box(draw(st.floats(1e-3, 1e3)), size=size)
    return box.transformed(draw(poses))


def integrate(density, inside, half_sizes, n=120):
    """Mass, first moment and moment about the origin by the midpoint rule on a grid."""
    axes = [h * (2.0 * (np.arange(n) + 0.5) / n - 1.0) for h in half_sizes]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    dm = density * inside(x, y, z) * np.prod([2.0 * h / n for h in half_sizes])
    p = np.stack([x, y, z])
    moment = np.einsum("aijk,aijk,ijk->", p, p, dm) * np.eye(3)
    return dm.sum(), moment - np.einsum("aijk,bijk,ijk->ab", p, p, dm)


def in_capsule(radius, length):
    return lambda x, y, z: x**2 + y**2 + np.maximum(np.abs(z) - length / 2.0, 0.0) ** 2 < radius**2


@pytest.mark.parametrize(
    ("inertia", "inside", "half_sizes"),
    [
        (
            SpatialInertia.box(size=(1.0, 2.0, 3.0), density=7.0),
            lambda x, y, z: x == x,
            (0.5, 1, 1.5),
        ),
        (
            SpatialInertia.cylinder(radius=0.7, length=2.4, density=7.0),
            lambda x, y, z: x**2 + y**2 < 0.49,
            (0.7, 0.7, 1.2),
        ),
        (
            SpatialInertia.sphere(radius=0.7, density=7.0),
            lambda x, y, z: x**2 + y**2 + z**2 < 0.49,
            (0.7, 0.7, 0.7),
        ),
        (
            SpatialInertia.capsule(radius=0.7, length=1.1, density=7.0),
            in_capsule(0.7, 1.1),
            (0.7, 0.7, 1.25),
        ),
    ],
    ids=["box", "cylinder", "sphere", "capsule"],
)
def test_shape_is_the_integral_over_its_volume(inertia, inside, half_sizes):
    """Mass and moment are those of small cubes summed up, within the error of the grid."""
    mass, moment = integrate(7.0, inside, half_sizes)
    assert inertia.mass == pytest.approx(mass, rel=2e-3)
    np.testing.assert_allclose(inertia.moment_about_com, moment, atol=2e-3 * moment.max())
    assert not inertia.com.any()


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        (SpatialInertia.box, {"size": (0.3, 0.4, 0.5)}),
        (SpatialInertia.cylinder, {"radius": 0.2, "length": 0.9}),
        (SpatialInertia.sphere, {"radius": 0.3}),
        (SpatialInertia.capsule, {"radius": 0.2, "length": 0.4}),
    ],
)
def test_mass_and_density_agree(shape, sizes):
    """A density gives the mass that gives the same inertia."""
    by_density = shape(density=2700.0, **sizes)
    by_mass = shape(by_density.mass, **sizes)
    assert by_mass == by_density


def test_capsule_is_its_parts():
    """A capsule is a cylinder and two half balls, each moved to its end."""
    r, length, density = 0.3, 0.8, 1000.0
    tube = SpatialInertia.cylinder(radius=r, length=length, density=density)
    mass = 2.0 / 3.0 * np.pi * r**3 * density
    # half a ball on z >= 0: centre of mass at 3 r / 8, moment 2 m r^2 / 5 about the flat side
    half = SpatialInertia.from_origin(mass, (0, 0, 3 * r / 8), np.eye(3) * 0.4 * mass * r**2)
    top = half.transformed(translation((0, 0, length / 2)))
    bottom = top.transformed(np.diag([1.0, -1.0, -1.0, 1.0]))
    whole = tube + top + bottom
    capsule = SpatialInertia.capsule(radius=r, length=length, density=density)
    assert capsule.mass == pytest.approx(whole.mass, rel=1e-14)
    np.testing.assert_allclose(capsule.matrix(), whole.matrix(), atol=1e-13 * whole.mass)


def test_matrix_gives_the_energy_of_small_parts():
    """V M V / 2 is the kinetic energy of point masses that move with the body's twist V."""
    rng = np.random.default_rng(1)
    masses, points = rng.uniform(0.1, 2.0, 5), rng.normal(size=(5, 3))
    parts = [SpatialInertia.from_com(m, p) for m, p in zip(masses, points, strict=True)]
    body = sum(parts[1:], start=parts[0])
    V = rng.normal(size=6)
    speeds = V[3:] + np.cross(V[:3], points)
    energy = 0.5 * float(masses @ (speeds**2).sum(axis=1))
    assert 0.5 * V @ body.matrix() @ V == pytest.approx(energy, rel=1e-13)


@hypothesis.given(inertias(), poses)
def test_frame_change_is_the_adjoint(inertia, C):
    """The matrix in A is Ad^-T M Ad^-1."""
    Ad_inverse = np.linalg.inv(SE3.Ad(C))
    expected = Ad_inverse.T @ inertia.matrix() @ Ad_inverse
    np.testing.assert_allclose(
        inertia.transformed(C).matrix(), expected, atol=1e-12 * np.abs(expected).max()
    )


@hypothesis.given(inertias(), inertias())
def test_sum_is_the_sum_of_matrices(first, second):
    """Two bodies in the same frame add by their matrices."""
    expected = first.matrix() + second.matrix()
    found = (first + second).matrix()
    np.testing.assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())


@hypothesis.given(inertias())
def test_both_points_of_reference_agree(inertia):
    """From the moment about the origin comes the moment about the centre of mass again."""
    again = SpatialInertia.from_origin(inertia.mass, inertia.com, inertia.moment_about_origin)
    size = np.abs(inertia.moment_about_origin).max()
    np.testing.assert_allclose(again.moment_about_com, inertia.moment_about_com, atol=1e-14 * size)


@hypothesis.given(inertias())
def test_real_bodies_are_accepted(inertia):
    """Principal moments of all bodies that are there keep the rules; the matrix is positive."""
    assert np.linalg.eigvalsh(inertia.matrix())[0] > -1e-12 * np.abs(inertia.matrix()).max()


def test_zero_is_neutral():
    """A body without inertia adds nothing."""
    rod = SpatialInertia.cylinder(2.0, radius=0.1, length=1.0)
    assert (rod + SpatialInertia.zero()).moment_about_com.tolist() == rod.moment_about_com.tolist()
    assert SpatialInertia.zero() + SpatialInertia.zero() == SpatialInertia.zero()


def test_arrays_are_copies_and_cannot_be_changed():
    """What was given may change afterwards; what is kept may not."""
    com = np.array([1.0, 2.0, 3.0])
    inertia = SpatialInertia.from_com(1.0, com)
    com[:] = 0.0
    assert inertia.com.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=r"read-only"):
        inertia.com[0] = 5.0


@pytest.mark.parametrize("mass", [-1.0, np.nan, np.inf])
def test_impossible_masses_are_refused(mass):
    """The message names the mass, the rule and the value."""
    rule = "mass must be finite and positive"
    with pytest.raises(mb.InertiaError, match=f"Inertia: {rule}.*got {mass!r}"):
        SpatialInertia.from_com(mass, (0, 0, 0), np.eye(3))


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        (
            np.diag([1.0, 1.0, 2.1]),
            r"keep the triangle inequality.*got principal moments \[1, 1, 2.1\]",
        ),
        (np.diag([-0.1, 1.0, 1.0]), r"not be negative about any axis, got .* \[-0.1, 1, 1\]"),
        ([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "be symmetric, got"),
        (np.diag([1.0, 1.0, np.nan]), "be finite, got"),
    ],
)
@pytest.mark.parametrize("make", [SpatialInertia.from_com, SpatialInertia.from_origin])
def test_impossible_moments_are_refused(make, moment, message):
    """The message names the moment by its argument, the rule and the value."""
    name = "moment_about_com" if make == SpatialInertia.from_com else "moment_about_origin"
    with pytest.raises(mb.InertiaError, match=f"Inertia: {name} must {message}") as caught:
        make(1.0, (0, 0, 0), moment)
    assert caught.value.key == name


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_tolerance_has_no_unit(scale):
    """A thin plate stands on the border of the triangle inequality, in any units."""
    C = rotation((1, 2, 3), 0.7)
    plate = scale * C[:3, :3] @ np.diag([1.0, 2.0, 3.0]) @ C[:3, :3].T
    SpatialInertia.from_com(scale, (0, 0, 0), 0.5 * (plate + plate.T))
    with pytest.raises(mb.InertiaError, match=r"triangle inequality"):
        SpatialInertia.from_com(scale, (0, 0, 0), np.diag([1.0, 2.0, 3.0 + 1e-8]) * scale)


def test_moment_about_a_far_origin_keeps_its_rounding():
    """A point mass far away, given about the origin, is still a body."""
    c = np.array([100.0, 37.3, -61.7])
    moment = 3.3 * (c @ c * np.eye(3) - np.outer(c, c))
    found = SpatialInertia.from_origin(3.3, c, moment)
    np.testing.assert_allclose(found.moment_about_com, 0.0, atol=1e-15 * moment.max())


def test_moment_without_mass_is_refused():
    """No body has a moment of inertia and no mass."""
    with pytest.raises(mb.InertiaError, match=r"mass must be positive where there is a moment"):
        SpatialInertia.from_com(0.0, (0, 0, 0), np.eye(3))


def test_wrong_shapes_are_refused():
    """The message says which shape is expected and which was given."""
    with pytest.raises(mb.ShapeError, match=r"Inertia: com must be an array of shape \(3,\), got"):
        SpatialInertia.from_com(1.0, (0, 0))
    with pytest.raises(mb.ShapeError, match=r"real numbers in an array of shape \(3, 3\), got"):
        SpatialInertia.from_com(1.0, (0, 0, 0), [["a"]])
    with pytest.raises(mb.ShapeError, match=r"Inertia: mass must be a number, got 'heavy'"):
        SpatialInertia.from_com("heavy", (0, 0, 0))


def test_shapes_refuse_bad_sizes():
    """Sizes must be positive; a shape takes mass or density."""
    with pytest.raises(mb.InertiaError, match=r"each size of a box must be positive.*got 0.0"):
        SpatialInertia.box(1.0, size=(1, 0, 1))
    with pytest.raises(mb.InertiaError, match=r"radius of a cylinder must be positive.*got -1"):
        SpatialInertia.cylinder(1.0, radius=-1, length=1)
    with pytest.raises(mb.InertiaError, match=r"length of a capsule must be zero or positive"):
        SpatialInertia.capsule(1.0, radius=1, length=np.inf)
    with pytest.raises(mb.InertiaError, match=r"sphere takes either mass or density, got neither"):
        SpatialInertia.sphere(radius=1.0)
    with pytest.raises(mb.InertiaError, match=r"sphere takes either mass or density, got both"):
        SpatialInertia.sphere(1.0, radius=1.0, density=1.0)
    with pytest.raises(mb.InertiaError, match=r"density must be positive.*got -2.0 \[kg/m\^3\]"):
        SpatialInertia.sphere(radius=1.0, density=-2.0)


def test_a_moment_that_no_body_has_is_kept_where_it_is_asked_for():
    """Sums and other frames know of it, and lose the mark where the sum is possible again."""
    flat = mb.SpatialInertia.from_com(1.0, (0.1, 0, 0), np.diag([1.0, 1.0, 3.0]), unphysical=True)
    assert flat.unphysical
    with pytest.raises(mb.ShapeError, match="unphysical must be True or False, got 'no'"):
        mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3), unphysical="no")
    turned = flat.transformed(np.diag([-1.0, -1.0, 1.0, 1.0]))
    assert turned.unphysical
    assert np.allclose(turned.moment_about_com, flat.moment_about_com, rtol=0, atol=1e-15)
    assert (flat + turned).unphysical
    ball = mb.SpatialInertia.from_com(1.0, (0.1, 0, 0), np.eye(3))
    assert not (flat + ball).unphysical
    assert not mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3), unphysical=True).unphysical


def test_a_moment_without_mass_is_not_lost_in_a_sum():
    """Also where both have no mass: it is as data gave it."""
    foot = mb.SpatialInertia.from_com(0.0, (0, 0, 1), np.eye(3), unphysical=True)
    assert foot.unphysical
    assert np.array_equal((foot + foot).moment_about_com, 2.0 * np.eye(3))
    leg = mb.SpatialInertia.from_com(2.0, (1, 0, 0), np.eye(3))
    assert np.array_equal((foot + leg).moment_about_com, 2.0 * np.eye(3))
    assert np.array_equal((foot + leg).com, leg.com)


@pytest.mark.parametrize(
    "moment", [np.diag([1.0, 1.0, np.nan]), np.triu(np.ones((3, 3))), np.ones(3)]
)
def test_what_is_no_moment_at_all_is_refused_even_then(moment):
    with pytest.raises(mb.MbkitError, match="moment_about_com must be"):
        mb.SpatialInertia.from_com(1.0, (0, 0, 0), moment, unphysical=True)
    with pytest.raises(mb.InertiaError, match="mass must be finite"):
        mb.SpatialInertia.from_com(-1.0, (0, 0, 0), np.eye(3), unphysical=True)


def test_an_inertia_that_is_taken_is_taken_in_every_frame():
    """Rounding of a moment is small beside m c^2; in a frame beside the centre there is less."""
    moment = np.diag([-1.8e-22, 0.0, 4.1e-18])
    far = mb.SpatialInertia.from_com(1.0, (0.1, 0, 0), moment)
    near = far.transformed(mb.spatial.translation((-0.1, 0, 0)))
    assert not near.unphysical
    np.testing.assert_array_equal(near.com, 0.0)
    np.testing.assert_array_equal((near + near).moment_about_com, 2.0 * moment)
    with pytest.raises(mb.InertiaError, match="must not be negative"):
        mb.SpatialInertia.from_com(1.0, (0, 0, 0), moment)
