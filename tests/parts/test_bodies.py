"""Bodies from their dimensions: inertias by integrals of their own, parameters, files, cuts."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.shapes import triangles

C = mb.spatial.translation((0.3, -0.1, 0.2)) @ mb.spatial.rotation((1.0, 2.0, -0.5), 0.8)
CORNERS = [(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
WEDGE = mb.MeshShape(CORNERS, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], scale=(0.4, 0.2, 0.3))


@attrs.frozen
class Flywheel(mb.Body):
    """A disc with a hole, which its author computes."""

    radius: float
    hole: float = 0.02
    width: float = 0.03
    density: float = 7850.0

    @property
    def inertia(self):
        outer = mb.SpatialInertia.cylinder(
            density=self.density, radius=self.radius, length=self.width
        )
        hole = mb.SpatialInertia.cylinder(density=self.density, radius=self.hole, length=self.width)
        moment = outer.moment_about_com - hole.moment_about_com
        return mb.SpatialInertia.from_com(outer.mass - hole.mass, (0, 0, 0), moment)

    @property
    def shapes(self):
        return (mb.CylinderShape(self.radius, self.width),)


BODIES = [
    mb.Rod("part", 0.4, 0.05, density=2700.0, axis=(1, 2, -1), start=(0.1, 0.2, 0.3)),
    mb.Box("part", (0.1, 0.2, 0.3), mass=2.0, shape_pose=C, color="#3366cc"),
    mb.Cylinder("part", 0.1, 0.3, density=7850.0, shape_pose=C, frames={"tip": C}),
    mb.Sphere("part", 0.1, mass=0.5, shape_pose=C),
    mb.PointMass("part", 2.0, position=(0.1, 0.2, 0.3)),
    mb.MeshBody("part", WEDGE, density=1000.0, shape_pose=C, pose=C),
    Flywheel("part", radius=0.2),
]


def ids(body):
    return type(body).__name__


def moments(mesh, pose):
    """Volume, first and second moments by Gauss's theorem on triangles, with the midpoint rule.

    int x^2 dV = int x^3 n_x dA / 3 and so on: an integral over the surface, of degree four on a
    triangle with its area, by a product rule that is exact for it.
    """
    vertices, faces = mesh
    vertices = vertices @ pose[:3, :3].T + pose[:3, 3]
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for u, wu in zip(nodes, weights, strict=True):
        for s, ws in zip(nodes, weights, strict=True):
            x = a + u * (b - a) + s * (1.0 - u) * (c - a)
            dA = (wu * ws * (1.0 - u)) * normals
            volume += (x * dA).sum() / 3.0
            first += (x**2 * dA).sum(axis=0) / 2.0
            # of x_i x_j, by the component along i that does not vanish with j
            second += np.einsum("ni,nj,ni->ij", x**2, x, dA) / 2.0
            diagonal = (x**3 * dA).sum(axis=0) / 3.0
            second[np.diag_indices(3)] += diagonal - np.einsum("ni,ni,ni->i", x**2, x, dA) / 2.0
    return volume, first, second


def inertia_by_integrals(mesh, pose, mass):
    volume, first, second = moments(mesh, pose)
    com = first / volume
    second = second / volume - np.outer(com, com)
    return com, mass * (np.trace(second) * np.eye(3) - second)


@pytest.mark.parametrize(
    ("shape", "fine"),
    [
        (mb.BoxShape((0.1, 0.2, 0.3), pose=C), None),
        (mb.CylinderShape(0.1, 0.3, pose=C), lambda n: triangles.cylinder(0.1, 0.3, n)),
        (mb.CapsuleShape(0.1, 0.3, pose=C), lambda n: triangles.capsule(0.1, 0.3, n)),
        (mb.SphereShape(0.1, pose=C), lambda n: triangles.capsule(0.1, 0.0, n)),
        (mb.EllipsoidShape((0.1, 0.2, 0.3), pose=C), None),
        (attrs.evolve(WEDGE, pose=C), None),
    ],
    ids=ids,
)
def test_inertias_of_shapes_are_those_of_integrals(shape, fine):
    """At a pose that is along no axis; those of round shapes are the limit of many corners."""
    inertia = shape.inertia(3.0)
    if isinstance(shape, mb.EllipsoidShape):

        def fine(n):
            vertices, faces = triangles.capsule(1.0, 0.0, n)
            return vertices * shape.radii, faces

    if fine is None:
        com, moment = inertia_by_integrals(shape.mesh(), C, 3.0)
    else:  # the error of n corners goes with 1 / n^2
        found = [inertia_by_integrals(fine(n), C, 3.0) for n in (64, 128)]
        com, moment = ((4.0 * b - a) / 3.0 for a, b in zip(*found, strict=True))
    np.testing.assert_allclose(inertia.com, com, atol=1e-12)
    size = np.abs(moment).max()
    np.testing.assert_allclose(inertia.moment_about_com, moment, atol=2e-6 * size)
    if fine is None:
        np.testing.assert_allclose(inertia.moment_about_com, moment, atol=1e-13 * size)
    by_density = shape.inertia(density=1000.0)
    assert by_density.moment_about_com == pytest.approx(
        inertia.moment_about_com * by_density.mass / 3.0, rel=1e-12, abs=1e-15
    )


def test_closed_forms():
    """Textbooks: a slender rod about its end, a tetrahedron, an ellipsoid."""
    rod = mb.Rod("rod", 0.6, 1e-6, mass=2.0, axis=(0, 0, -1)).inertia
    assert rod.moment_about_origin[0, 0] == pytest.approx(2.0 * 0.6**2 / 3.0, rel=1e-9)
    np.testing.assert_allclose(rod.com, (0, 0, -0.3), atol=1e-15)
    wedge = WEDGE.inertia(density=600.0)
    assert wedge.mass == pytest.approx(600.0 * 0.4 * 0.2 * 0.3 / 6.0, rel=1e-14)
    np.testing.assert_allclose(wedge.com, (0.1, 0.05, 0.075), rtol=1e-14)
    # of a corner tetrahedron: int x^2 = m a^2 / 10, int x y = m a b / 20
    about = wedge.moment_about_origin / wedge.mass
    assert about[0, 0] == pytest.approx((0.2**2 + 0.3**2) / 10.0, rel=1e-12)
    assert about[0, 1] == pytest.approx(-0.4 * 0.2 / 20.0, rel=1e-12)
    ball = mb.SpatialInertia.ellipsoid(density=1000.0, radii=(0.1, 0.1, 0.1))
    same = mb.SpatialInertia.sphere(density=1000.0, radius=0.1)
    np.testing.assert_allclose(ball.parameters, same.parameters, rtol=1e-14)


def pendulum(body):
    mech = mb.Mechanism("pendulum")
    mech.add_body(body)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0.2, 1, 0.1), point=(0, 0, 0.1)), "world", body)
    return mech


@pytest.mark.parametrize("body", BODIES, ids=ids)
def test_bodies_keep_the_contract(body):
    """Also what their author's own class says; files have them by their types."""
    mb.testing.check_body(body).raise_if_failed()


@pytest.mark.parametrize("body", BODIES, ids=ids)
def test_a_system_moves_as_with_the_inertia_given(body):
    """And with other dimensions as one assembled of a body that was made with these."""
    system = pendulum(body).assemble()
    given = pendulum(attrs.evolve(mb.Body("part", body.inertia, body.pose))).assemble()
    args = [0.3], [0.7]
    np.testing.assert_allclose(system.forward_dynamics(*args), given.forward_dynamics(*args))
    numbers = [name for name in system.parameters if name.startswith("bodies.part.")]
    assert numbers
    assert not {"bodies.part.com", "bodies.part.moment_about_com"} & {*numbers}
    for name in numbers:
        value = np.asarray(system.parameters[name])
        if value.ndim:
            continue
        key = name.removeprefix("bodies.part.")
        other = system.with_parameters({name: 1.5 * float(value)})
        made = pendulum(attrs.evolve(body, **{key: 1.5 * float(value)})).assemble()
        np.testing.assert_array_equal(other.mass_matrix([0.3]), made.mass_matrix([0.3]))
        assert other.shapes == made.shapes
        if key != "shown_radius":
            assert other.mass_matrix([0.3]) != system.mass_matrix([0.3])


@pytest.mark.long
def test_derivatives_by_dimensions():
    """Of the accelerations and of a run, against differences of systems that are made anew."""
    body = mb.Rod("rod", 0.4, 0.05, density=2700.0, axis=(1, 0.5, -2))
    system = pendulum(body).assemble()
    name, h = "bodies.rod.length", 1e-5

    def with_length(length):
        return system.with_parameters({name: length})

    def by_differences(function):
        return (function(with_length(0.4 + h)) - function(with_length(0.4 - h))) / (2.0 * h)

    found = system.derivatives("forward_dynamics", [0.3], [0.7], by=(name,))[name]
    expected = by_differences(lambda each: each.forward_dynamics([0.3], [0.7]))
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-7)
    run = mb.simulate(system, (0.0, 0.2), 0.01, q=[0.3])
    found = mb.sensitivities(run, by=[name]).q[name][-1]
    expected = by_differences(lambda each: mb.simulate(each, (0.0, 0.2), 0.01, q=[0.3]).q[-1])
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6)


def test_a_cut_body_keeps_shapes_and_frames_on_its_first_part():
    """Its inertia is shared, and the motion is that of the whole."""
    mech = mb.Mechanism("swing")
    plate = mb.Box("plate", (0.4, 0.2, 0.01), density=2700.0, frames={"tip": C}, color="#ff0000")
    mech.add_body(plate)
    for name in ("left", "right"):
        mech.add_joint(mb.RevoluteJoint(name, axis=(0, 1, 0), point=(0, 0, 0.3)), "world", "plate")
    cut = mech.assemble(coordinates=mb.RelativeCoordinates(cut_bodies={"plate": "right"}))
    assert [index for index, _ in cut.shapes] == [cut.body_index("plate")]
    assert cut.frames["tip"].body == "plate"
    assert cut.mass == pytest.approx(plate.inertia.mass)
    assert mb.parse_model(cut.model_text).bodies["plate"] == plate


def test_identified_inertias_need_a_body_that_can_have_them():
    """Else dimensions and inertia would contradict each other; the numbers are there."""
    system = pendulum(mb.Rod("rod", 0.4, 0.02, density=2700.0)).assemble()
    rng = np.random.default_rng(0)
    q, v, vdot = rng.normal(size=(3, 30, 1))
    efforts = system.inverse_dynamics(q, v, vdot)
    found = mb.identify(system, {"q": q, "v": v, "vdot": vdot, "efforts": efforts})
    assert np.abs(found.residuals).max() < 1e-9
    with pytest.raises(mb.UsageError, match=r"body 'rod' computes .* make it an mbkit.RigidBody"):
        _ = found.system


def test_body_makes_a_rigid_body():
    """By the name that it always had; a class of one's own says what it lacks."""
    inertia = mb.SpatialInertia.sphere(1.0, radius=0.1)
    assert type(mb.Body("ball", inertia, C)) is mb.RigidBody
    assert mb.Body("ball", inertia, C) == mb.RigidBody("ball", inertia, pose=C)
    assert isinstance(mb.Sphere("ball", 0.1, mass=1.0), mb.Body)

    @attrs.frozen
    class Nothing(mb.Body):
        length: float = 1.0

    with pytest.raises(mb.UsageError, match="Nothing must have the property inertia"):
        mb.Mechanism("m").add_body(Nothing("none"))

    class Plain(mb.Body):
        inertia = 3.0

    with pytest.raises(mb.MbkitError):
        mb.Mechanism("m").add_body(object.__new__(Plain))


def test_files_have_bodies_by_their_types():
    """With expressions of parameters for dimensions, and every fault by its place."""
    head = 'mbkit_model = 1\nname = "m"\n[parameters]\nL = 0.4\n[bodies.rod]\n'
    table = 'type = "rod"\nlength = "L"\nradius = "L/40"\ndensity = 2700.0\naxis = [0, 0, "-L"]\n'
    more = "pose = {position = [0.0, 0.0, 1.0]}\nframes = {tip = {position = [0, 0, -0.4]}}\n"
    for length in (0.4, 0.8):
        read = mb.parse_model(head + table + more, parameters={"L": length}).bodies["rod"]
        expected = mb.Rod(
            "rod", length, length / 40, density=2700.0, axis=(0, 0, -length),
            pose=mb.spatial.translation((0, 0, 1.0)),
            frames={"tip": mb.spatial.translation((0, 0, -0.4))},
        )  # fmt: skip
        assert read == expected
    for text, fault in (
        ('type = "rodd"', "type: 'rodd' is no known type of body; did you mean 'rod'?"),
        ("type = 3", "type: must be a string, got 3."),
        ('type = "rod"\nlength = 1.0\nmass = 1.0', "radius: is missing"),
        (table + "com = [0, 0, 0]", "com: unknown key"),
        (table.replace('"L"\n', "-1\n"), "length: Body 'rod': CylinderShape: length must be"),
        (table + "mass = 1.0", "rod: Body 'rod': Inertia: a cylinder takes either mass or density"),
        ('type = "rigid"\nmass = 1.0', "takes one of moment_about_com"),
    ):
        with pytest.raises(mb.ModelFileError) as caught:
            mb.parse_model(head + text)
        assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mb.Rod("rod", 0.4, 0.01), "either mass or density, got neither"),
        (lambda: mb.Rod("rod", 0.4, 0.0, mass=1.0), "'rod': CylinderShape: radius must be"),
        (lambda: mb.Rod("rod", 0.4, 0.1, mass=1.0, axis=(0, 0, 0)), "axis must have a direction"),
        (lambda: mb.Sphere("ball", 1.0, mass=-1.0), "'ball': Inertia: mass must be positive"),
        (lambda: mb.PointMass("bob", -1.0), "'bob': Inertia: mass must be finite and positive"),
        (lambda: mb.MeshBody("hull", 3, mass=1.0), "'hull': mesh must be an mbkit.MeshShape"),
        (
            lambda: mb.MeshBody("hull", mb.MeshShape(CORNERS, WEDGE.faces[:3]), mass=1.0),
            "'hull': MeshShape: the surface must be closed, and 3 of its edges",
        ),
        (
            lambda: mb.MeshBody("hull", mb.MeshShape(CORNERS, WEDGE.faces[:, ::-1]), mass=1.0),
            "must enclose a positive volume",
        ),
    ],
)
def test_what_is_no_body_is_refused(make, words):
    """By the name of the body and the field."""
    with pytest.raises(mb.MbkitError, match=words):
        make()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"mass": 1.0},
            "Body 'rod' has no argument 'mass'; it is a part of the inertia, mbkit.Body",
        ),
        ({"colour": "red"}, "Body 'rod' has no argument 'colour'; did you mean 'color'"),
    ],
)
def test_arguments_that_a_body_does_not_have_are_named(given, words):
    with pytest.raises(mb.UsageError, match=words):
        mb.Body("rod", **given)
