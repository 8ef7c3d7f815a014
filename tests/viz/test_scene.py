"""Scenes: where the parts of a system are seen, by the kinematics of the system."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.spatial import rotation, translation
from mbkit.viz.film import frames_of
from mbkit.viz.scene import scene_of
from mbkit.viz.scene.meshes import arrow, ball, box, cylinder, ellipsoid, helix, rod

A, B, C, D = np.array([(0, 0, 0), (0.2, 0, 0.35), (1.04, 0, 0.67), (1, 0, 0)])
PLACE = translation((0.3, -0.2, 0.5)) @ rotation((1, 2, 3), 0.7)


def four_bar(coordinates=None, place=PLACE):
    """Return a four-bar anywhere, and its joints' points in the world."""
    mech = mb.Mechanism("four-bar", gravity=place[:3, :3] @ (0, 0, -9.81))
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        inertia = mb.SpatialInertia.box(1.0, size=(0.5, 0.02, 0.02))
        mech.add_body(mb.Body(name, inertia, place @ translation((start + end) / 2)))
    ends = ("world", "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("world", "rocker")
    for name, point, bodies in zip("ABCD", (A, B, C, D), ends, strict=True):
        axis = place[:3, :3] @ (0, -1, 0)
        there = (place @ [*point, 1.0])[:3]
        mech.add_joint(mb.RevoluteJoint(name, axis=axis, point=there), *bodies)
    return mech.assemble(coordinates)


def volume(mesh):
    """Return the volume within a closed mesh, by the divergence theorem."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_meshes_are_closed_and_face_outwards():
    round_off = 1.0 - (np.sin(2 * np.pi / 24) / (2 * np.pi / 24))  # of a polygon of 24 corners
    for mesh, expected in (
        (box(np.array([1.0, 2.0, 3.0])), 6.0),
        (cylinder(0.5, 2.0), np.pi / 2 * (1 - round_off)),
        (ball(1.0), 4.0 / 3.0 * np.pi),
        (ellipsoid(np.array([1.0, 2.0, 0.5])), 4.0 / 3.0 * np.pi),
        (rod(A, C, 0.01), np.pi * 1e-4 * (np.linalg.norm(C - A) + 4 / 3 * 0.01)),
        (helix(0.5, -0.3, 1.2, 0.02), np.pi * 4e-4 * np.hypot(4 * 2 * np.pi * 0.5, 1.2)),
        (arrow(1.0, 0.02), np.pi * (4e-4 * 0.88 + 2.5e-3 * 0.12 / 3)),
    ):
        assert volume(mesh) == pytest.approx(expected, rel=0.11)
        edges = np.sort(
            np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
        )
        # vertices that are one point count once
        points = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)[1].reshape(-1)
        _, counts = np.unique(np.sort(points[edges], axis=1), axis=0, return_counts=True)
        assert (counts == 2).all()


def test_a_helix_rises_by_its_lead_to_the_right_or_to_the_left():
    for lead in (0.4, -0.4):
        mesh = helix(1.0, lead, 0.8, 1e-6)
        middle = mesh.vertices.reshape(-1, 8, 3).mean(axis=1)
        angles = np.unwrap(np.arctan2(middle[:, 1], middle[:, 0]))
        rise = np.polyfit(angles, middle[:, 2], 1)[0] * 2 * np.pi
        assert rise == pytest.approx(lead, rel=1e-6)


@pytest.mark.parametrize("coordinates", [None, mb.AbsoluteCoordinates()])
def test_rods_end_in_the_joints_in_all_postures(coordinates):
    """The pins of a four-bar, of the loop as well, are in the ends of both of its rods."""
    system = four_bar(coordinates)
    scene = scene_of(system)
    relative = four_bar()
    q = relative.close_loops([0.6, 0.1, 0.2], fixed=["A"])
    q = np.array([relative.reference_configuration(), q])
    if coordinates is not None:
        q = system.state_of(relative, q)[0]
    poses = dict(zip((part.name for part in scene.parts), range(len(scene.parts)), strict=True))
    at = scene.poses(q)
    ends = {"crank": (A, B), "coupler": (B, C), "rocker": (D, C)}
    pins = {"crank": "AB", "coupler": "BC", "rocker": "DC"}
    for body, joints in pins.items():
        centre = at[:, poses[body]] @ [*scene.parts[poses[body]].mesh.vertices.mean(axis=0), 1.0]
        first, second = (at[:, poses[name], :3, 3] for name in joints)
        np.testing.assert_allclose(centre[:, :3], (first + second) / 2, atol=1e-12)
        length = np.linalg.norm(first - second, axis=1)
        np.testing.assert_allclose(length, np.linalg.norm(ends[body][1] - ends[body][0]))
    for name in "ABCD":
        normal = at[:, poses[name], :3, 2]
        np.testing.assert_allclose(abs(normal @ PLACE[:3, 1]), 1.0)


def test_axes_of_a_universal_joint_stay_with_their_bodies():
    """The first axis is fixed in the predecessor, the second in the successor."""
    mech = mb.Mechanism("cross")
    fork = mech.add_body(mb.Body("fork", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3)), PLACE))
    mech.add_joint(mb.UniversalJoint("u", (1, 0, 0), (0, 1, 0), (0.1, 0.2, 0.3)), "world", fork)
    system = mech.assemble()
    q = np.array([[0.0, 0.0], [0.4, -0.7]])
    scene = scene_of(system)
    axes = [k for k, part in enumerate(scene.parts) if part.layer == "joints"]
    at = scene.poses(q)[:, axes]
    np.testing.assert_allclose(at[..., :3, 3], np.broadcast_to((0.1, 0.2, 0.3), (2, 2, 3)))
    np.testing.assert_allclose(abs(at[:, 0, :3, 2]), [[1, 0, 0]] * 2, atol=1e-12)
    bodies = system.poses(q)[:, 1, :3, :3]
    second = np.swapaxes(bodies, -1, -2) @ at[:, 1, :3, 2, None]
    np.testing.assert_allclose(abs(second[1]), abs(second[0]), atol=1e-12)


def test_ellipsoids_have_the_mass_and_moments_of_their_bodies():
    """By quadrature over the mesh of the ellipsoid, filled evenly with the mass of the body."""
    moment = np.diag([0.05, 0.06, 0.08])
    R = rotation((1, -1, 2), 0.8)[:3, :3]
    inertia = mb.SpatialInertia.from_com(2.0, (0.1, 0.2, -0.3), R @ moment @ R.T)
    mech = mb.Mechanism("stone")
    mech.add_body(mb.Body("stone", inertia))
    mech.add_joint(mb.FreeJoint("free"), "world", "stone")
    scene = scene_of(mech.assemble())
    (part,) = (each for each in scene.parts if each.layer == "inertia ellipsoids")
    vertices = part.mesh.vertices @ part.pose[:3, :3].T
    tetrahedra = vertices[part.mesh.faces]
    volumes = np.linalg.det(tetrahedra) / 6.0
    sums = tetrahedra.sum(axis=1)
    second = np.einsum("t,tki,tkj->ij", volumes, tetrahedra, tetrahedra)
    second = (second + np.einsum("t,ti,tj->ij", volumes, sums, sums)) / 20.0 / volumes.sum() * 2.0
    found = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(found, R @ moment @ R.T, rtol=0.05, atol=0.002)
    np.testing.assert_allclose(part.pose[:3, 3], (0.1, 0.2, -0.3))


@pytest.mark.parametrize("place", [np.eye(4), PLACE, translation((1e3, 0, 0))])
def test_the_camera_has_all_in_view(place):
    system = four_bar(place=place)
    scene = scene_of(system)
    q0 = system.reference_configuration()
    angles = np.linspace(0, 2 * np.pi, 13)
    q = np.array([system.close_loops(q0 + np.array([a, 0, 0]), fixed=["A"]) for a in angles])
    camera = scene.camera(q, aspect=1.0)
    ahead = (camera.target - camera.position) / np.linalg.norm(camera.target - camera.position)
    seen = scene.poses(q)[..., :3, 3][:, [part.layer == "joints" for part in scene.parts]]
    way = seen - camera.position
    right = np.cross(ahead, camera.up) / np.linalg.norm(np.cross(ahead, camera.up))
    sideways = [way @ right, way @ np.cross(right, ahead)]  # of a square picture
    off = np.arctan(np.abs(sideways) / (way @ ahead))
    assert off.max() < 0.5 * camera.field_of_view
    assert off.max() > 0.25 * camera.field_of_view  # and fills the picture
    # a planar mechanism is seen from the front
    assert abs(ahead @ place[:3, 1]) > 0.85


def test_sliding_and_screwing_joints_are_drawn_along_their_screws():
    mech = mb.Mechanism("screws")
    inertia = mb.SpatialInertia.sphere(1.0, radius=0.2)
    for name in ("nut", "sledge"):
        mech.add_body(mb.Body(name, inertia, PLACE))
    mech.add_joint(mb.HelicalJoint("h", (0, 0, 1), (0.5, 0, 0), pitch=0.02), "world", "nut")
    mech.add_joint(mb.PrismaticJoint("p", (0, 1, 0)), "nut", "sledge")
    system = mech.assemble()
    scene = scene_of(system)
    q = np.array([0.9, 0.3])
    at = dict(zip((part.name for part in scene.parts), scene.poses(q), strict=True))
    # the screw's points move along its axis alone, the slider's along its own in the nut
    step = SE3.exp(0.9 * np.array([0, 0, 1, 0, -0.5, 0.02]))
    np.testing.assert_allclose(at["h"][:3, 2], (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(at["h"][:2, 3], (0.5, 0), atol=1e-12)
    np.testing.assert_allclose(at["p"][:3, 2], step[:3, :3] @ (0, 1, 0), atol=1e-12)


def test_frames_of_a_film_are_even_and_end_with_the_run():
    t = np.sort(np.random.default_rng(0).uniform(0.0, 3.0, 500))
    rows = frames_of(t, 30.0, 0.5)
    assert rows[0] == 0
    assert rows[-1] == 499
    assert len(rows) <= 181
    assert np.diff(t[rows]).max() < 2.5 * 0.5 / 30.0 + np.diff(t).max()
    assert list(frames_of(np.array([1.0]), 30.0, 1.0)) == [0]


def test_pictures_of_joints_by_name_are_closed_and_arrays_are_as_they_are():
    system = four_bar()
    (q,) = system.draw({"A": 0.1}).film.q
    assert q[system.position_slice("A")] == pytest.approx(0.1, abs=1e-14)
    assert np.abs(system.constraint_residual(q)).max() < 1e-9
    open_q = np.zeros(system.nq)
    open_q[system.position_slice("A")] = 0.1
    assert np.array_equal(system.draw(open_q).film.q[0], open_q)
