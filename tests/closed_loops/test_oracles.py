"""The independent solutions that closed mechanisms are compared with keep laws of their own."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from examples.closed_loops import (
    delta_robot,
    double_cardan,
    five_bar,
    four_bar,
    n_four_bar,
    stewart_platform,
)
from tests.closed_loops.parallel_robots import (
    delta_bodies,
    five_bar_bodies,
    stewart_bodies,
    stewart_lengths,
)
from tests.closed_loops.planar_four_bar import PlanarFourBar, Rod
from tests.closed_loops.virtual_power import motion

DATA = json.loads((pathlib.Path(__file__).parents[1] / "data" / "closed_loops.json").read_text())

LINKAGE = PlanarFourBar(1.0, Rod(0.4, 0.4, 0.02), Rod(0.9, 0.9, 0.07), Rod(0.7, 0.7, 0.03))


@pytest.mark.parametrize("crank", np.linspace(0.1, 6.2, 7))
def test_the_planar_linkage_closes(crank):
    """Crank, coupler, rocker and ground make a polygon, also as the example draws it."""
    b, c = LINKAGE.rocker_angle(crank), LINKAGE.coupler_angle(crank)
    B = 0.4 * np.array([np.cos(crank), np.sin(crank)])
    C = B + 0.9 * np.array([np.cos(c), np.sin(c)])
    assert np.abs(C - (1 + 0.7 * np.cos(b), 0.7 * np.sin(b))).max() < 1e-14
    assert np.abs(four_bar.corners(crank)[2] - C).max() < 1e-14


def test_the_ratios_of_the_planar_linkage_are_derivatives():
    """Of the angles of coupler and rocker by that of the crank."""
    a = 0.8 + 1e-30j
    slopes = [f(a).imag / 1e-30 for f in (LINKAGE.coupler_angle, LINKAGE.rocker_angle)]
    assert np.allclose(slopes, LINKAGE.ratios(0.8), rtol=0, atol=1e-14)


@pytest.mark.long
def test_the_planar_linkage_keeps_its_energy():
    """The reduced equation of motion conserves J a'^2 / 2 + U."""
    times = np.linspace(0.0, 2.0, 201)
    a, rate = LINKAGE.crank_motion(1.0, 6.0, times)
    energy = 0.5 * LINKAGE.reduced_inertia(a) * rate**2 + LINKAGE.potential_energy(a)
    assert np.ptp(a) > 2 * np.pi
    assert np.ptp(energy) < 1e-10 * np.abs(energy).max()


@pytest.mark.parametrize("case", DATA["n_four_bar"], ids=lambda case: f"N={case['windows']}")
def test_the_elliptic_motion_is_the_published_one(case):
    """Angles of 40 digits."""
    times, angles = np.array(case["angles"]).T
    assert np.abs(n_four_bar.exact_angle(case["windows"], times) - angles).max() < 1e-13


@pytest.mark.parametrize("shaft", ["slim", "hollow"])
def test_the_axes_of_a_cross_stay_normal(shaft):
    """With the inclined shaft turned as the formula says, at both ends."""
    X, Y, Z = np.eye(3)
    across = np.cross(Z, double_cardan.ALONG)
    fork, cross = (Z, across) if shaft == "slim" else (Y, Z)
    for a in np.linspace(-4.0, 4.0, 17):
        b = double_cardan.shaft_angle(shaft, a)
        turned = (np.cos(each) * v + np.sin(each) * np.cross(axis, v)
                  for each, v, axis in ((a, fork, X), (b, cross, double_cardan.ALONG)))  # fmt: skip
        first, second = turned
        assert abs(first @ second) < 1e-15
        assert abs(b - a) < np.pi / 2


def test_virtual_power_knows_a_top():
    """A symmetric top in steady precession: m g l sin(th) = (C w3 - A P cos(th)) P sin(th)."""
    import mpmath as mp

    mass, length, A, C, tilt, spin = 2.0, 0.3, 0.25, 0.1, 0.7, 40.0
    g = 9.81
    roots = np.roots([-A * np.cos(tilt), C * spin, -mass * g * length])
    P = float(np.min(roots.real))  # A about the tip
    s = spin - P * np.cos(tilt)

    def place(x):
        precession, nutation, turn = x

        def about(axis, angle):
            c, s = mp.cos(angle), mp.sin(angle)
            if axis == "z":
                return mp.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            return mp.matrix([[1, 0, 0], [0, c, -s], [0, s, c]])

        R = about("z", precession) * about("x", nutation) * about("z", turn)
        return [(length * R[:, 2], R)]

    about_com = A - mass * length**2
    found = motion(place, (0.3, tilt, 1.1), (P, 0.0, s), np.zeros(3))
    Q = found.forces([(mass, np.diag([about_com, about_com, C]))], (0, 0, -g))
    assert np.abs(Q).max() < 1e-12


ROBOTS = {
    "stewart": (stewart_platform, stewart_bodies, [0.0, 0.0, stewart_platform.HEIGHT, 0, 0, 0]),
    "delta": (delta_robot, delta_bodies, [0.0, 0.0, -delta_robot.DEPTH]),
    "five-bar": (five_bar, five_bar_bodies, five_bar.POINT),
}


@pytest.mark.long
@pytest.mark.some(2)
@pytest.mark.parametrize("name", ROBOTS)
def test_bodies_are_placed_as_the_models_have_them(name):
    """At the start, where body frames sit in the centres of mass."""
    example, place, start = ROBOTS[name]
    found = motion(place, start, np.zeros(len(start)), np.zeros(len(start))).poses()
    expected = [body.pose for body in example.build().bodies.values()]
    assert np.abs(found - expected).max() < 1e-15


def test_the_lengths_of_the_legs_have_the_derivative_said():
    """By differences of the closed form in the example, which holds for any pose."""
    x = np.array([0.05, -0.1, 1.1, 0, 0, 0])
    h = 1e-6
    for k, expected in enumerate(stewart_lengths(x).T):
        ends = [
            stewart_platform.leg_coordinates(_pose(x + sign * h * np.eye(6)[k]))[:, 2]
            for sign in (1, -1)
        ]
        assert np.abs((ends[0] - ends[1]) / (2 * h) - expected).max() < 1e-9


def _pose(x):
    from mbkit.spatial import rotation, translation

    turn = np.linalg.norm(x[3:])
    return translation(x[:3]) @ (rotation(x[3:], turn) if turn else np.eye(4))


def test_the_arms_of_the_delta_robot_are_where_both_formulas_say():
    """The angle of the example is that of the arm placed by intersection."""
    x = np.array([0.05, -0.08, -0.55])
    bodies = motion(delta_bodies, x, np.zeros(3), np.zeros(3))
    directions = bodies.rotations[1::3, :, 0]
    angles = np.arctan2(-directions[:, 2], np.sum(directions * delta_robot.OUT, axis=1))
    assert np.abs(delta_robot.hip_angles(x) - angles).max() < 1e-14


def test_the_rods_of_the_five_bar_turn_at_the_rates_said():
    """The derivative by the point, from differences with 50 digits."""
    x = np.array([0.1, 0.5])
    found = motion(five_bar_bodies, x, np.zeros(2), np.zeros(2))
    assert np.abs(found.turns[:, 2] - five_bar.rod_rates(x)).max() < 1e-14
    angles = np.arctan2(found.rotations[:, 1, 0], found.rotations[:, 0, 0])
    assert np.abs(five_bar.directions(x) - angles).max() < 1e-14
