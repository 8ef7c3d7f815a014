"""Shapes: closed surfaces oriented outwards, kept on bodies, in files and in systems."""

from __future__ import annotations

import collections

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.shapes import triangles

C = mb.spatial.translation((0.1, -0.2, 0.3)) @ mb.spatial.rotation((1.0, 2.0, -0.5), 0.8)
WEDGE = (
    [(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
)
SHAPES = [
    mb.BoxShape((1.0, 2.0, 3.0), pose=C),
    mb.CylinderShape(0.3, 2.0, color="#ff8000"),
    mb.CapsuleShape(0.3, 2.0, color=(0.1, 0.2, 0.3, 0.4)),
    mb.CapsuleShape(0.3, 0.0),
    mb.SphereShape(0.4, pose=C),
    mb.EllipsoidShape((0.1, 0.4, 0.3)),
    mb.MeshShape(*WEDGE, scale=(2.0, -1.0, 1.0)),
]


def volume(mesh):
    """The divergence theorem: int 1 dV = int x . n dA / 3, over triangles."""
    vertices, faces = mesh
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum()) / 6.0


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_surfaces_are_closed(shape):
    """Each edge is run through once in either direction, and no vertex is there for nothing."""
    vertices, faces = shape.mesh()
    edges = collections.Counter(
        (int(face[k]), int(face[k - 1])) for face in faces for k in range(3)
    )
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)
    assert set(faces.ravel().tolist()) == set(range(len(vertices)))


def test_volumes():
    """A prism with a regular polygon for a base; balls of twice as many segments miss a quarter."""
    assert volume(mb.BoxShape((1.0, 2.0, 3.0)).mesh()) == pytest.approx(6.0, rel=1e-14)
    polygon = 0.5 * 32 * np.sin(2 * np.pi / 32) * 0.3**2
    assert volume(mb.CylinderShape(0.3, 2.0).mesh()) == pytest.approx(2.0 * polygon, rel=1e-13)
    assert volume(mb.MeshShape(*WEDGE, scale=(2.0, -1.0, 1.0)).mesh()) == pytest.approx(1 / 3)
    for length in (0.0, 2.0):
        exact = np.pi * 0.3**2 * (length + 4.0 / 3.0 * 0.3)
        missed = [exact - volume(triangles.capsule(0.3, length, n)) for n in (64, 128)]
        assert 0.0 < missed[0] < 0.01 * exact
        assert missed[0] / missed[1] == pytest.approx(4.0, rel=0.01)
    ball = volume(mb.SphereShape(1.0).mesh())
    ellipsoid = volume(mb.EllipsoidShape((0.1, 0.4, 0.3)).mesh())
    assert ellipsoid == pytest.approx(0.1 * 0.4 * 0.3 * ball, rel=1e-13)


def test_lengths_are_those_that_were_given():
    """Along the axes, where a polygon has its corners."""
    for shape, half in zip(
        SHAPES[:6],
        [(0.5, 1, 1.5), (0.3, 0.3, 1), (0.3, 0.3, 1.3), (0.3,) * 3, (0.4,) * 3, (0.1, 0.4, 0.3)],
        strict=True,
    ):
        vertices, _ = shape.mesh()
        np.testing.assert_allclose(vertices.max(axis=0), half, rtol=1e-14)
        np.testing.assert_allclose(vertices.min(axis=0), np.negative(half), rtol=1e-14)


def mechanism():
    mech = mb.Mechanism("swing")
    inertia = mb.SpatialInertia.sphere(8.0, radius=0.2)
    mech.add_body(mb.Body("plain", inertia))
    mech.add_body(mb.Body("seat", inertia, shapes=SHAPES, color=(0.5, 0.25, 0.0)))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, "plain")
    for name in ("left", "right"):
        mech.add_joint(mb.RevoluteJoint(name), "plain", "seat")
    return mech


def test_a_system_has_the_shapes_of_its_bodies_and_a_cut_body_has_them_once():
    """In the colours of the shapes, else of the body, by every strategy."""
    mech = mechanism()
    for coordinates in (
        None,
        mb.RelativeCoordinates(cut_bodies={"seat": "right"}),
        mb.AbsoluteCoordinates(),
    ):
        system = mech.assemble(coordinates=coordinates) if coordinates else mech.assemble()
        seat = system.body_index("seat")
        assert [index for index, _ in system.shapes] == [seat] * len(SHAPES)
        plain = [attrs.evolve(shape, color=None) for _, shape in system.shapes]
        assert plain == [attrs.evolve(shape, color=None) for shape in SHAPES]
        colors = [shape.color for _, shape in system.shapes]
        assert colors[1:3] == [(1.0, 128 / 255, 0.0, 1.0), (0.1, 0.2, 0.3, 0.4)]
        assert {colors[0], *colors[3:]} == {(0.5, 0.25, 0.0, 1.0)}


def test_the_world_has_shapes():
    """In row 0 of the system, in files, and in what makes two mechanisms the same."""
    floor = mb.BoxShape((4.0, 4.0, 0.01), color="#808080")
    mech = mb.Mechanism("ground", world_shapes=[floor])
    ball = mech.add_body(mb.Sphere("ball", 0.1, mass=1.0))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, ball)
    for coordinates in (mb.RelativeCoordinates(), mb.AbsoluteCoordinates()):
        system = mech.assemble(coordinates=coordinates)
        assert system.shapes == ((0, floor), (1, mb.SphereShape(0.1)))
    read = mb.parse_model(system.model_text)
    assert read == mech
    assert read.world.shapes == (floor,)
    assert mb.Mechanism("ground") != mb.Mechanism("ground", world_shapes=[floor])
    with pytest.raises(mb.UsageError, match="shapes must be several"):
        mb.Mechanism("ground", world_shapes=3)
    with pytest.raises(mb.ModelFileError, match=r"world\.shapes\.0\.size"):
        mb.parse_model('mbkit_model = 1\nname = "m"\n[world]\nshapes = [{type = "box", size = 1}]')


def test_model_files_keep_shapes():
    """Those of users as their triangles, and sizes may be expressions of parameters."""

    class Mine(mb.Shape):
        def mesh(self):
            return map(np.array, WEDGE)

    mech = mechanism()
    assert mb.parse_model(mech.assemble().model_text) == mech
    other = mb.Mechanism("mine")
    body = other.add_body(mb.Body("body", shapes=[Mine(pose=C, color="#00ff00")]))
    other.add_joint(mb.FixedJoint("weld"), other.world, body)
    (shape,) = mb.parse_model(other.assemble().model_text).bodies["body"].shapes
    assert shape == mb.MeshShape(*WEDGE, pose=C, color=(0.0, 1.0, 0.0))
    read = mb.parse_model(
        'mbkit_model = 1\nname = "m"\n[parameters]\nL = 0.4\n[bodies.rod]\n'
        'shapes = [{type = "box", size = ["L", "L/2", 0.1]}]',
        parameters={"L": 0.8},
    )
    assert read.bodies["rod"].shapes == (mb.BoxShape((0.8, 0.4, 0.1)),)


def test_files_of_meshes_are_beside_the_model_file(tmp_path):
    """By their whole path then, so that a copy elsewhere means the same; else as they stand."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hand.stl").write_text("solid")
    model = tmp_path / "model.toml"
    shapes = '[{type = "mesh", file = "parts/hand.stl"}, {type = "mesh", file = "lost.stl"}]'
    model.write_text(f'mbkit_model = 1\nname = "m"\n[bodies.hand]\nshapes = {shapes}\n')
    mech = mb.load_model(model)
    hand, lost = mech.bodies["hand"].shapes
    assert hand.file == str((tmp_path / "parts" / "hand.stl").resolve())
    assert lost == mb.MeshShape.from_file("lost.stl")
    mb.save_model(mech, tmp_path / "parts" / "copy.toml")
    assert mb.load_model(tmp_path / "parts" / "copy.toml") == mech


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: mb.BoxShape((1.0, 0.0, 1.0)), mb.GeometryError, "each size must be positive"),
        (lambda: mb.BoxShape(1.0), mb.ShapeError, "size must be an array of shape"),
        (lambda: mb.CylinderShape(-1.0, 2.0), mb.GeometryError, "radius must be positive"),
        (lambda: mb.CylinderShape(1.0, 0.0), mb.GeometryError, "length must be positive"),
        (lambda: mb.SphereShape("1"), mb.GeometryError, "radius must be positive"),
        (lambda: mb.SphereShape(1.0, color="red"), mb.UsageError, "color must be three or four"),
        (lambda: mb.SphereShape(1.0, color=(2, 0, 0)), mb.UsageError, "from 0 to 1"),
        (lambda: mb.SphereShape(1.0, pose=np.eye(3)), mb.ShapeError, "pose must be an array"),
        (mb.MeshShape, mb.UsageError, "give both vertices and faces, or a file"),
        (lambda: mb.MeshShape(WEDGE[0], [(0, 1, 4)]), mb.GeometryError, "from 0 to 3"),
        (lambda: mb.MeshShape(WEDGE[0], [(0, 1, 0.5)]), mb.GeometryError, "whole numbers"),
        (lambda: mb.MeshShape([(0, 1)], WEDGE[1]), mb.ShapeError, "rows of three"),
        (lambda: mb.MeshShape(*WEDGE, scale=(1, 1, 0)), mb.GeometryError, "scale must be"),
        (lambda: mb.MeshShape.from_file("no.stl").mesh(), mb.ModelFileError, "no.stl"),
        (lambda: mb.Body("b", shapes=[1]), mb.UsageError, "shapes must be several mbkit.Shape"),
        (lambda: mb.Body("b", color=3), mb.UsageError, "Body 'b': color"),
    ],
)
def test_what_is_no_shape_is_refused(make, error, words):
    """By the name of the field, with its value."""
    with pytest.raises(error, match=words):
        make()
