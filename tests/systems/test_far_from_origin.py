"""A mechanism far from the world's origin moves as it does at the origin, to rounding of places."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import mbkit as mb
from mbkit.spatial import translation

#: Where the mechanism is put: across all axes, so that no point of an axis is near the origin.
AWAY = np.array([0.6, -0.7, 0.4])
BOX = mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))
REPRESENTATIONS = {each.name: each for each in (mb.BodyFixed(), mb.Hybrid(), mb.Mixed())}

JOINTS = {
    "revolute": lambda n, p: mb.RevoluteJoint(n, axis=(0.5, 1.0, 0.3), point=p),
    "prismatic": lambda n, p: mb.PrismaticJoint(n, axis=(0.5, 1.0, 0.3)),
    "helical": lambda n, p: mb.HelicalJoint(n, axis=(0.5, 1.0, 0.3), point=p, pitch=0.1),
    "screw": lambda n, p: mb.ScrewJoint(n, np.r_[0.5, 1, 0.3, np.cross(p, [0.5, 1, 0.3])]),
    "cylindrical": lambda n, p: mb.CylindricalJoint(n, axis=(0.5, 1.0, 0.3), point=p),
    "universal": lambda n, p: mb.UniversalJoint(n, (1, 0, 0), (0, 1, 0), point=p),
    "constant velocity": lambda n, p: mb.ConstantVelocityJoint(n, axis=(0, 0.6, 0.8), point=p),
    "translational": lambda n, p: mb.TranslationalJoint(n),
    "spherical": lambda n, p: mb.SphericalJoint(n, point=p),
    "rotation vector": lambda n, p: mb.SphericalJoint(n, point=p, coordinates="first kind"),
    "planar": lambda n, p: mb.PlanarJoint(n, axis=(0.5, 1.0, 0.3), point=p),
    "planar sum": lambda n, p: mb.PlanarJoint(n, (0.5, 1.0, 0.3), p, coordinates="first kind"),
    "helical planar": lambda n, p: mb.HelicalPlanarJoint(n, (0.5, 1.0, 0.3), p, pitch=0.1),
    "schoenflies": lambda n, p: mb.SchoenfliesJoint(n, axis=(0.5, 1.0, 0.3), point=p),
    "composite": lambda n, p: mb.CompositeJoint(
        n, mb.RevoluteJoint("a", (0, 1, 0), p), mb.PrismaticJoint("b", (1, 0, 0.2))
    ),
}  # fmt: skip


def three_bodies(kind, away, *, spring=None):
    """Two hinges, and a joint of any kind between them; all places are in the world.

    A spring, if there is one, is held that far from its place.
    """
    mech = mb.Mechanism("three bodies")
    before = mech.world
    for k, make in enumerate((JOINTS["revolute"], JOINTS[kind], JOINTS["revolute"])):
        place = away + np.array([0.1 * k, 0.05 * k, -0.3 * k])
        body = mech.add_body(
            mb.Body(f"b{k}", BOX, pose=translation(place + np.array([0.02, 0.0, -0.15])))
        )
        mech.add_joint(make(f"j{k}", place), before, body)
        before = body
    if spring is not None:
        mech.add_force(
            mb.SpringDamper(
                "spring", "world", "b2", stiffness=40.0, damping=2.0, rest_length=0.1,
                point_a=away + np.array([0.3, 0.2, 0.1]) + spring, point_b=(0.02, 0.01, 0.03),
            )
        )  # fmt: skip
    return mech


def state(system):
    rng = np.random.default_rng(1)
    q = system.retract(system.reference_configuration(), 0.3 * rng.normal(size=system.ndx))
    return q, rng.normal(size=system.nv)


def off(found, expected):
    """Largest difference in parts of the largest number."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.some(5)
@pytest.mark.parametrize("away", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("kind", JOINTS)
def test_accelerations_are_those_at_the_origin(kind, away):
    """What is lost are the digits of the coordinates: eps away, against 0.1 m."""
    near = three_bodies(kind, np.zeros(3)).assemble()
    q, v = state(near)
    expected = near.forward_dynamics(q, v)
    for representation in REPRESENTATIONS.values():
        coordinates = mb.RelativeCoordinates(representation=representation)
        far = three_bodies(kind, away * AWAY).assemble(coordinates)
        assert off(far.forward_dynamics(q, v), expected) < 1e-12 + 1e-14 * away


@pytest.mark.parametrize("away", [1e3, 1e6])
def test_forces_at_points_are_those_at_the_origin(away):
    """A spring between the world and a point of the last body.

    Its end in the world is a rounded number, as the places of bodies and joints are: the rounding
    of a few of them may do what an end does that is moved by as much, in the worst direction.
    """
    near = three_bodies("revolute", np.zeros(3), spring=np.zeros(3)).assemble()
    q, v = state(near)
    expected = near.forward_dynamics(q, v)
    ulp = away * np.finfo(float).eps
    rounding = max(
        off(
            three_bodies("revolute", np.zeros(3), spring=ulp * np.array(signs))
            .assemble()
            .forward_dynamics(q, v),
            expected,
        )
        for signs in itertools.product((-1.0, 1.0), repeat=3)
    )
    far = three_bodies("revolute", away * AWAY, spring=np.zeros(3)).assemble()
    assert off(far.forward_dynamics(q, v), expected) < 1e-12 + 4.0 * rounding


def four_bar(away):
    """A four-bar with hinges on skew but parallel axes, in the world's coordinates."""
    axis = np.array([0.36, 0.8, 0.48])
    x = np.cross(axis, [0.0, 0.0, 1.0])
    x, z = x / np.linalg.norm(x), np.cross(x, axis) / np.linalg.norm(np.cross(x, axis))
    points = [away + a * x + b * z for a, b in ((0, 0), (0, 0.3), (0.8, 0.5), (0.9, 0))]
    mech = mb.Mechanism("four-bar")
    bodies = [mech.world]
    for k in range(3):
        middle = (points[k] + points[k + 1]) / 2
        bodies.append(mech.add_body(mb.Body(f"b{k}", BOX, pose=translation(middle))))
    bodies.append(mech.world)
    for k, point in enumerate(points):
        mech.add_joint(mb.RevoluteJoint(f"j{k}", axis=axis, point=point), bodies[k], bodies[k + 1])
    return mech


@pytest.mark.some(2)
@pytest.mark.parametrize("away", [1e3, 1e6])
@pytest.mark.parametrize(
    "coordinates",
    [*(mb.RelativeCoordinates(representation=each) for each in REPRESENTATIONS.values())],
    ids=REPRESENTATIONS,
)
def test_loops_are_those_at_the_origin(coordinates, away):
    """Cut joints have their frames beside the bodies too, and the length is that of the loop."""
    near, far = four_bar(np.zeros(3)).assemble(), four_bar(away * AWAY).assemble(coordinates)
    assert np.isclose(far.arrays.closure.length, near.arrays.closure.length, rtol=1e-9 * away)
    q = near.reference_configuration()
    v = near.consistent_velocity({"j0": 2.0}, q)
    assert off(far.forward_dynamics(q, v), near.forward_dynamics(q, v)) < 1e-12 + 1e-13 * away


@pytest.mark.some(2)
@pytest.mark.parametrize("away", [1e3, 1e6])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "screw", "universal", "composite"])
def test_absolute_coordinates_are_those_at_the_origin(kind, away):
    """Every joint is a constraint: accelerations of the bodies, at their own frames."""
    found = []
    for place in (np.zeros(3), away * AWAY):
        mech = three_bodies(kind, place)
        relative = mech.assemble()
        absolute = mech.assemble(mb.AbsoluteCoordinates())
        q, v = absolute.state_of(relative, *state(relative))
        found.append(absolute.accelerations(q, v, absolute.forward_dynamics(q, v)))
    assert off(found[1], found[0]) < 1e-11 + 3e-13 * away


def test_spatial_twists_far_away_are_told():
    """They measure inertia about the world's origin: digits are lost there by nature."""
    spatial = mb.RelativeCoordinates(representation=mb.Spatial())
    with pytest.warns(mb.DistanceWarning, match="'j0', 'j1', 'j2' move are far.*body-fixed"):
        three_bodies("revolute", 1e6 * AWAY).assemble(spatial)
    near = three_bodies("revolute", np.zeros(3))
    mild = three_bodies("revolute", 1e2 * AWAY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        systems = near.assemble(spatial), mild.assemble(spatial)
    q, v = state(systems[0])
    near, mild = (each.forward_dynamics(q, v) for each in systems)
    assert off(mild, near) < 1e-7


@pytest.mark.parametrize(("away", "what"), [(1e5, mb.DistanceWarning), (1e6, mb.InertiaError)])
def test_velocities_said_at_a_far_point_are_told(away, what):
    """A free joint whose frame lies at the world's origin has its twist there."""
    mech = mb.Mechanism("far")
    body = mech.add_body(mb.Body("box", BOX, pose=translation(away * AWAY)))
    origin = (np.eye(4), translation(-away * AWAY))
    mech.add_joint(mb.FreeJoint("free"), mech.world, body, frames=origin)
    expected = pytest.warns if what is mb.DistanceWarning else pytest.raises
    with expected(what, match="'free'.* joint frames by frames= or reference="):
        mech.assemble()


def test_bodies_in_the_worlds_frame_far_away():
    """Bodies without poses, centres of mass and points in the world: nothing is lost there."""
    found = []
    for place in (np.zeros(3), 1e6 * AWAY):
        mech = mb.Mechanism("in the world")
        before = mech.world
        for k in range(3):
            com = place + np.array([0.1 * k, 0.05 * k, -0.5 - k])
            body = mech.add_body(
                mb.Body(f"b{k}", mb.SpatialInertia.from_com(1.0, com, BOX.moment_about_com))
            )
            hinge = mb.RevoluteJoint(f"j{k}", (0.1 * k, 1, 0.3), place - np.array([0, 0, k]))
            mech.add_joint(hinge, before, body)
            before = body
        found.append(mech.assemble().forward_dynamics([0.3, -0.5, 0.7], [1.0, 2.0, -1.0]))
    assert off(found[1], found[0]) < 1e-8
