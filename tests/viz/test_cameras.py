"""Cameras have all that moves in their pictures, and labels keep clear of each other."""

from __future__ import annotations

import itertools

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.image_labels import draw_labels
from mbkit.viz.scene import LAYERS, Camera, scene_of
from mbkit.viz.viewers.viser_stage import rises


def swing(points, axis=(0, 1, 0), gravity=(0, 0, -9.81)):
    """A chain of rods between points, which turns about parallel axes."""
    mech = mb.Mechanism("swing", gravity=gravity)
    last = "world"
    for k, (start, end) in enumerate(itertools.pairwise(points)):
        middle = 0.5 * (np.array(start) + end)
        rod = mb.Body(
            f"rod{k}", mb.SpatialInertia.sphere(1.0, radius=0.1),
            frames={f"end{k}": mb.spatial.translation(end - middle)},
            pose=mb.spatial.translation(middle),
        )  # fmt: skip
        mech.add_joint(mb.RevoluteJoint(f"joint{k}", axis, start), last, mech.add_body(rod))
        last = rod.name
    return mech.assemble()


@pytest.mark.parametrize("aspect", [0.6, 1.5, 3.0])
@pytest.mark.parametrize(
    ("axis", "gravity"),
    [((0, 1, 0), (0, 0, -9.81)), ((1, 2, 3), (1, -9, 2)), ((0, 0, 1), (0, 0, 0))],
)
def test_the_whole_motion_is_in_the_picture_and_fills_it(axis, gravity, aspect):
    """By the points where rods begin and end, in all postures; looked at with another formula."""
    system = swing([(0, 0, 0), (0.3, 0, 0.2), (0.5, -0.1, 1.0)], axis, gravity)
    q = np.random.default_rng(2).uniform(-2.0, 2.0, size=(30, 2))
    camera = scene_of(system).camera(q, aspect=aspect)
    names = ("rod0", "rod1", "end0", "end1")
    points = np.concatenate([system.pose(name, q)[:, :3, 3] for name in names])
    size = (round(600 * aspect), 600)
    places = camera.project(points, size)
    assert ((places > 0.0) & (places < size)).all()
    # a pinhole: what is seen is on the ray through the pixel
    ahead, right, up = camera.axes
    slope = np.tan(0.5 * camera.field_of_view) / 300.0
    rays = ahead + slope * (
        np.outer(places[:, 0] - 0.5 * size[0], right) - np.outer(places[:, 1] - 300.0, up)
    )
    assert np.abs(np.cross(points - camera.position, rays)).max() < 1e-12 * np.abs(points).max() * 9
    spread = np.ptp(places, axis=0) / size
    assert spread.max() > 0.5


def test_labels_keep_clear_of_each_other_and_of_the_edges():
    """Twelve names of points near each other and of corners: each letter is in the image."""
    from PIL import Image

    image = Image.new("RGB", (400, 300), "white")
    rng = np.random.default_rng(3)
    points = np.vstack(
        [rng.uniform(180, 220, size=(8, 2)), [[0, 0], [400, 300], [0, 300], [np.nan, 1]]]
    )
    taken: dict[int, int] = {}
    draw_labels(image, [f"joint{k}" for k in range(12)], points, taken)
    assert {8, 9, 10} <= set(taken)
    assert 11 not in taken
    before = np.asarray(image)
    assert (before[:, :1] == 255).all()
    # a film: what has a place keeps it, as long as nothing is in its way
    places = dict(taken)
    again = Image.new("RGB", (400, 300), "white")
    draw_labels(again, [f"joint{k}" for k in range(12)], points, taken)
    assert taken == places
    np.testing.assert_array_equal(np.asarray(again), before)


def test_labels_keep_clear_of_bodies():
    """Five rods, 60 degrees apart, leave one side of a point free: its name stands there."""
    from PIL import Image, ImageDraw

    middle = np.array([200.0, 150.0])
    for gap in range(0, 360, 60):
        image = Image.new("RGB", (400, 300), "white")
        pen = ImageDraw.Draw(image)
        for angle in {*range(0, 360, 60)} - {gap}:
            way = 90.0 * np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
            pen.line([*middle, *(middle + way)], fill=(0, 120, 60), width=12)
        before = np.asarray(image).astype(int)
        taken: dict[int, int] = {}
        draw_labels(image, ["C"], middle[None], taken)
        written = (np.abs(np.asarray(image).astype(int) - before) > 30).any(axis=2)
        assert written.any()
        over = written & (before < 200).any(axis=2)
        assert over.sum() <= 0.02 * written.sum()
    full = Image.new("RGB", (400, 300), (0, 120, 60))
    draw_labels(full, ["C"], middle[None], taken)
    assert (np.asarray(full) != (0, 120, 60)).any()


def test_names_of_bodies_make_room_for_those_of_joints():
    """Bodies whose frames are at joints: on pages no name covers another, and joints' stay."""
    system = swing([(0.02 * k, 0, 0) for k in range(5)])
    scene = scene_of(system)
    q = np.zeros(system.nq)
    camera = scene.camera(q)
    labels = [label for label in scene.labels if label.layer in ("joint names", "body names")]
    assert len(labels) == len(scene.labels) == 8
    heights = rises(scene, q, camera)
    alone = attrs.evolve(scene, labels=tuple(x for x in labels if x.layer == "joint names"))
    is_joint = [label.layer == "joint names" for label in scene.labels]
    np.testing.assert_array_equal(heights[is_joint], rises(alone, q, camera))
    points = scene.points(scene.labels, q) + heights[:, None] * scene.up
    places = camera.project(points, (1000, 1000))
    for k, j in itertools.combinations(range(8), 2):
        across, above = np.abs(places[k] - places[j])
        letters = len(scene.labels[k].text) + len(scene.labels[j].text)
        assert above > 25.0 or across > 5.0 * letters


@pytest.mark.parametrize("count", [8, 9])
def test_names_of_more_than_eight_joints_are_not_shown_at_first(count):
    scene = scene_of(swing([(0.2 * k, 0, 0) for k in range(count + 1)]))
    assert scene.layers == LAYERS | {"joint names": count == 8}


def test_axes_of_a_camera_are_a_right_handed_frame():
    camera = Camera((3.0, 1.0, 2.0), (0.0, 0.5, 0.0), (0.0, 0.0, 1.0))
    ahead, right, up = camera.axes
    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(np.cross(right, up), -ahead, atol=1e-15)
    assert up[2] > 0.0


def test_a_floor_is_no_body():
    """It is drawn in grey, and neither the camera nor the size of axes looks at it."""

    def scene(shapes):
        mech = mb.Mechanism("swing", gravity=(0, 0, -9.81), world_shapes=shapes)
        rod = mb.SpatialInertia.sphere(1.0, radius=0.1)
        bob = mech.add_body(mb.Body("bob", rod, mb.spatial.translation((0, 0, -0.5))))
        mech.add_joint(mb.RevoluteJoint("hinge", (0, 1, 0)), "world", bob)
        return scene_of(mech.assemble())

    floor = mb.BoxShape((30.0, 30.0, 0.02), pose=mb.spatial.translation((0, 0, -1.0)))
    bare, on_floor = scene(()), scene((floor,))
    assert on_floor.glyph == bare.glyph
    q = np.linspace(-1.0, 1.0, 9)[:, None]
    np.testing.assert_array_equal(on_floor.camera(q).position, bare.camera(q).position)
    (part,) = [part for part in on_floor.parts if part.layer == "ground"]
    assert np.ptp(part.mesh.vertices, axis=0) == pytest.approx([30.0, 30.0, 0.02])
    assert len(set(part.color[:3])) == 1 or max(part.color[:3]) - min(part.color[:3]) < 0.05


@pytest.mark.parametrize("axis", [(0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 2, 3)])
@pytest.mark.parametrize("thick", [0.02, 1.0])
def test_planar_mechanisms_are_seen_along_the_normal(axis, thick):
    """However thick their bodies are; from above, nearly so, where the plane is level."""
    mech = mb.Mechanism("planar")
    n = np.array(axis) / np.linalg.norm(axis)
    across = np.cross(n, (0.3, -0.5, 0.7))
    last = "world"
    for k in range(2):
        box = mb.BoxShape((0.5, thick, thick))
        body = mb.Body(f"body{k}", mb.SpatialInertia.sphere(1.0, radius=0.1), shapes=[box])
        mech.add_joint(mb.RevoluteJoint(f"joint{k}", n, k * across), last, mech.add_body(body))
        last = body.name
    system = mech.assemble()
    q = np.random.default_rng(5).uniform(-1.0, 1.0, size=(5, 2))
    ahead = scene_of(system).camera(q).axes[0]
    assert abs(ahead @ n) > (0.96 if axis == (0, 0, 1) else 1.0 - 1e-12)


def test_a_closed_planar_loop_is_planar_in_any_coordinates():
    """By the velocities that its constraints allow; a slider-crank with a cubic slider."""
    mech = mb.Mechanism("loop")
    points = [np.array(p, float) for p in [(0, 0, 0), (0.1, 0, 0.2), (0.6, 0, 0)]]
    for name, middle in (("crank", points[1] / 2), ("rod", (points[1] + points[2]) / 2)):
        sphere = mb.SpatialInertia.sphere(1.0, radius=0.1)
        mech.add_body(mb.Body(name, sphere, pose=mb.spatial.translation(middle)))
    cube = mb.SpatialInertia.box(1.0, size=(0.4, 0.4, 0.4))
    mech.add_body(mb.Body("slider", cube, pose=mb.spatial.translation(points[2])))
    ends = ("world", "crank", "rod", "slider")
    for k, point in enumerate(points):
        hinge = mb.RevoluteJoint(f"hinge{k}", (0, 1, 0), point)
        mech.add_joint(hinge, ends[k], ends[k + 1])
    mech.add_joint(mb.PrismaticJoint("guide", (1, 0, 0)), mech.world, "slider")
    for coordinates in (mb.RelativeCoordinates(), mb.AbsoluteCoordinates()):
        ahead = scene_of(mech.assemble(coordinates)).camera().axes[0]
        np.testing.assert_allclose(ahead, (0, 1, 0), atol=1e-9)


def test_a_camera_steps_back_for_what_has_left_its_picture():
    """It looks the same way, no nearer; from straight above too."""
    system = swing([(0, 0, 0), (0.3, 0, 0.2), (0.5, -0.1, 1.0)])
    scene = scene_of(system)
    rest, away = np.zeros(2), np.array([1.1, 0.0])  # upright, and far to the right
    for direction, up in (
        ((0, -1, 0), (0, 0, 1)),
        ((0, 0, 1), (0, 1, 0)),
        ((-1, -4, 1), (0, 0, 1)),
    ):
        away_from = 1.8 * np.array(direction) / np.linalg.norm(direction)
        middle = np.array([0.0, 0.0, 0.5])
        start = Camera(middle + away_from, middle, up)
        assert scene.is_in_view(start, rest, aspect=1.2)
        assert not scene.is_in_view(start, away, aspect=1.2)
        camera = scene.stepped_back(start, away, aspect=1.2)
        assert scene.is_in_view(camera, away, aspect=1.2)
        np.testing.assert_allclose(camera.axes, start.axes, atol=1e-12)
        far = [np.linalg.norm(each.position - each.target) for each in (start, camera)]
        assert far[1] >= far[0] * (1.0 - 1e-12)
    behind = attrs.evolve(camera, target=2.0 * camera.position - camera.target)
    assert not scene.is_in_view(behind, away)
