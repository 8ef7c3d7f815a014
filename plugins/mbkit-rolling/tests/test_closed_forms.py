"""Rolling balls, discs and hoops whose motion has a closed form."""

import numpy as np
import pytest
from mbkit_rolling import RollingDisc, RollingSphere

import mbkit as mb
from mbkit.lie import SO3, UnitQuaternion


def one_body(joint, inertia, gravity=(0.0, 0.0, -9.81), slope=None):
    mech = mb.Mechanism("roller", gravity=gravity)
    body = mech.add_body(mb.Body("body", inertia))
    frames = (np.eye(4) if slope is None else slope, np.eye(4))
    mech.add_joint(joint, mech.world, body, frames=frames)
    return mech.assemble()


def simulate(system, span, h, q, v):
    return mb.simulate(system, span, h, q=q, v=v, progress=False)


@pytest.mark.parametrize("angle", [0.1, 0.7])
def test_a_homogeneous_ball_on_a_slope_accelerates_with_five_sevenths(angle):
    """5/7 g sin(alpha) downhill, across it the velocity stays. Neimark and Fufaev, chapter 2."""
    radius = 0.4
    slope = np.eye(4)
    slope[:3, :3] = SO3.exp(np.array([0.0, angle, 0.0]))  # x goes down
    ball = RollingSphere("rolls", radius)
    inertia = mb.SpatialInertia.sphere(3.0, radius=radius)
    system = one_body(ball, inertia, slope=slope)
    across = 0.8
    q, v = system.reference_configuration(), [-across / radius, 0.0, 3.0]
    run = simulate(system, (0.0, 2.0), 1e-3, q, v)
    down = 0.5 * 5.0 / 7.0 * 9.81 * np.sin(angle) * run.t**2
    np.testing.assert_allclose(run.q[:, 4], down, atol=1e-7)
    np.testing.assert_allclose(run.q[:, 5], across * run.t, atol=1e-7)


def test_a_ball_on_a_turntable_goes_round_with_two_sevenths_of_its_rate():
    """Seen from the world dV/dt = 2/7 Omega x V, wherever it is. Neimark and Fufaev, chapter 2."""
    rate, radius = 1.7, 0.2
    mech = mb.Mechanism("turntable")
    table = mech.add_body(mb.Body("table", mb.SpatialInertia.sphere(1.0, radius=1.0)))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(3.0, radius=radius)))
    spindle = mb.RevoluteJoint("spindle").prescribe(lambda t: rate * t)
    mech.add_joint(spindle, mech.world, table)
    mech.add_joint(RollingSphere("rolls", radius), table, ball, frames=(np.eye(4), np.eye(4)))
    system = mech.assemble()
    q = system.reference_configuration()
    q[system.position_slice("rolls")] = [1.0, 0.0, 0.0, 0.0, 0.7, -0.3]
    v = np.zeros(system.nv)
    v[system.velocity_slice("rolls")] = [2.0, -1.0, 0.5]
    v[system.velocity_slice("spindle")] = rate
    run = simulate(system, (0.0, 5.0), 1e-3, q, v)
    velocity = system.twists(run.q, run.v, representation=mb.Hybrid())[:, 2, 3:]
    angle = 2.0 / 7.0 * rate * run.t
    c, s = np.cos(angle), np.sin(angle)
    x, y, _ = velocity[0]
    expected = np.array([c * x - s * y, s * x + c * y, 0.0 * c]).T
    assert np.linalg.norm(expected[0]) > 0.3
    np.testing.assert_allclose(velocity, expected, atol=1e-8)


@pytest.mark.parametrize(("lean", "precession"), [(1.2, 1.5), (0.6, -4.0), (2.0, 2.0)])
def test_a_disc_rolls_in_circles(lean, precession):
    """Lean, precession W and rate w of turning about the axis keep under one condition.

    A W^2 sin cos - (C + m r^2) W w sin = m g r cos (of the lean, between axis and normal).
    Source: moments about the centre in the axes of precession; Neimark and Fufaev, chapter 2.
    """
    m, r, g = 2.0, 0.3, 9.81
    A, C = 0.25 * m * r**2, 0.5 * m * r**2
    disc = mb.SpatialInertia.from_com(m, (0, 0, 0), np.diag([A, A, C]))
    system = one_body(RollingDisc("rolls", r), disc)
    s, c = np.sin(lean), np.cos(lean)
    turning = (A * precession**2 * s * c - m * g * r * c) / ((C + m * r**2) * precession * s)
    q = np.array([np.cos(lean / 2), -np.sin(lean / 2), 0, 0, 0, 0])  # R^T n = (0, -s, c)
    period = 2.0 * np.pi / abs(precession)
    v = np.array([0.0, -precession * s, turning])
    run = simulate(system, (0.0, period), period / 2000, q, v)
    axis = system.poses(run.q)[:, 1, :3, 2]
    np.testing.assert_allclose(axis[:, 2], c, atol=1e-9)
    heading = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    np.testing.assert_allclose(heading - heading[0], precession * run.t, atol=1e-8)
    # the contact goes round in a circle
    radius = r * abs(turning - precession * c) / abs(precession)
    centre = run.q[:-1, 4:].mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 4:] - centre, axis=1), radius, atol=1e-8)
    assert abs(run.energy_drift).max() < 1e-9 * run.energy[0]


def test_a_hoop_stands_while_it_rolls_fast_enough():
    """Upright rolling is stable above w^2 = A m g r / (C (C + m r^2)); slower, it falls."""
    m, r, g = 1.0, 0.5, 9.81
    A, C = 0.5 * m * r**2, m * r**2
    hoop = mb.SpatialInertia.from_com(m, (0, 0, 0), np.diag([A, A, C]))
    system = one_body(RollingDisc("rolls", r), hoop)
    critical = np.sqrt(A * m * g * r / (C * (C + m * r**2)))
    q = system.retract(system.reference_configuration(), [1e-4, 0, 0, 0, 0])
    leans = []
    for factor in (0.8, 1.3):
        run = simulate(system, (0.0, 4.0), 2e-3, q, [0.0, 0.0, factor * critical])
        leans.append(abs(system.poses(run.q)[:, 1, 2, 2]).max())
    assert leans[0] > 1e-2
    assert leans[1] < 1e-3


@pytest.mark.parametrize("side", [0.3, 1e-2])
def test_a_ball_that_comes_back_is_turned(side):
    """Rolled round a square without turning on the spot: the product of four quarter ways.

    For small squares the angle is area / r^2, about the normal.
    """
    radius = 0.4
    ball = mb.SpatialInertia.sphere(1.0, radius=radius)
    system = one_body(RollingSphere("rolls", radius), ball, gravity=(0, 0, 0))
    q, expected = system.reference_configuration(), np.eye(3)
    for direction in ([1, 0], [0, 1], [-1, 0], [0, -1]):
        w = np.array([-direction[1], direction[0], 0.0]) / radius  # one metre per second
        body = UnitQuaternion.Ad(q[:4]).T @ w
        q = simulate(system, (0.0, side), side / 200, q, body).q[-1]
        expected = SO3.exp(side * w) @ expected
    np.testing.assert_allclose(q[4:], 0.0, atol=1e-12)
    np.testing.assert_allclose(UnitQuaternion.Ad(q[:4]), expected, atol=1e-12)
    turn = SO3.log(expected)
    small = side / radius
    assert abs(abs(turn[2]) - small**2) < small**3
    assert np.linalg.norm(turn) > 0.9 * small**2
