"""Constraints against mechanisms that do the same by joints, and against solved motions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import mbkit as mb
from mbkit.lie import SE3
from tests.constraints.examples import lift
from tests.every_representation import each_representation

BALL = mb.SpatialInertia.sphere(1.3, radius=0.1)


def assembled(mech, representation=None):
    representation = representation or mb.BodyFixed()
    return mech.assemble(mb.RelativeCoordinates(representation=representation))


def kept(system, run):
    """Largest residual and rate of the constraints of a run."""
    g = system.constraint_residual(run.q, run.t)
    rate = system.constraint_velocity(run.q, run.v, run.t)
    return np.abs(g).max(initial=0.0), np.abs(rate).max()


@pytest.mark.some(4)
@each_representation
def test_a_bob_on_a_rod_is_a_pendulum(representation):
    """A rod with a bob without inertia of rotation moves as a revolute pendulum does."""
    bob = mb.SpatialInertia.from_com(1.3, (0, 0, 0), np.eye(3) * 1e-3)
    mech = mb.Mechanism("bob")
    mech.add_body(mb.Body("bob", bob))
    slides = mb.CompositeJoint(
        "anywhere", mb.PrismaticJoint("x", axis=(1, 0, 0)), mb.PrismaticJoint("z", axis=(0, 0, 1))
    )
    mech.add_joint(slides, mech.world, "bob")
    mech.add_constraint(mb.Distance("rod", "world", "bob", length=0.5))
    system = assembled(mech, representation)
    pendulum = mb.Mechanism("pendulum")
    point = mb.SpatialInertia.from_com(1.3, (0, 0, -0.5))
    pendulum.add_body(mb.Body("bob", point))
    pendulum.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), "world", "bob")
    angle = 2.1
    q = -0.5 * np.array([np.sin(angle), np.cos(angle)])
    options = {"t_span": (0.0, 2.0), "h": 1e-3}
    run = mb.simulate(system, q=q, v=np.zeros(2), **options)
    other = mb.simulate(assembled(pendulum), q=[angle], v=[0.0], **options)
    expected = -0.5 * np.stack([np.sin(other.q[:, 0]), np.cos(other.q[:, 0])], axis=1)
    np.testing.assert_allclose(run.q, expected, rtol=0, atol=1e-8)
    assert max(kept(system, run)) < 1e-10


@each_representation
def test_the_force_of_a_rod_is_weight_and_centripetal_force(representation):
    """The multiplier of a rod is minus the tension m (g cos(angle) + v^2 / l)."""
    mech = mb.Mechanism("bob")
    mech.add_body(mb.Body("bob", BALL))
    mech.add_joint(mb.TranslationalJoint("anywhere"), mech.world, "bob")
    mech.add_constraint(mb.Distance("rod", "world", "bob", length=0.5))
    system = assembled(mech, representation)
    angle, speed = 0.7, 1.9
    q = 0.5 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    v = speed * np.array([np.cos(angle), 0.0, np.sin(angle)])
    _, force = system.solve_dynamics(q, v)
    tension = 1.3 * (9.81 * np.cos(angle) + speed**2 / 0.5)
    np.testing.assert_allclose(force, [-tension], rtol=1e-12)


@each_representation
def test_two_rods_close_a_loop(representation):
    """Two bars held parallel by rods move as two hinged pendulums that stay parallel."""
    bar = mb.SpatialInertia.from_com(2.0, (0, 0, -0.4), np.diag([0.1, 0.1, 0.01]))
    mech = mb.Mechanism("parallel")
    for body, x in (("left", 0.0), ("right", 0.3)):
        mech.add_body(mb.Body(body, bar))
        hinge = mb.RevoluteJoint(f"hinge {body}", axis=(0, 1, 0))
        frames = (SE3.exp([0, 0, 0, x, 0, 0]), np.eye(4))
        mech.add_joint(hinge, "world", body, frames=frames)
    for k, z in enumerate((-0.3, -0.6)):
        ends = {"point_a": (0, 0, z), "point_b": (0, 0, z)}
        mech.add_constraint(mb.Distance(f"rod {k}", "left", "right", length=0.3, **ends))
    system = assembled(mech, representation)
    with pytest.warns(mb.RedundantConstraintsWarning, match="1 redundant constraints: .rod"):
        vdot, _ = system.solve_dynamics([0.5, 0.5], [1.0, 1.0])
    moment = 0.1 + 2.0 * 0.4**2
    np.testing.assert_allclose(vdot, -2.0 * 9.81 * 0.4 * np.sin(0.5) / moment, rtol=1e-10)


@pytest.mark.some(4)
@each_representation
def test_a_gear_train_keeps_ratio_and_energy(representation):
    """Three wheels with a load: both ratios and the energy are kept over 2 s."""
    mech = mb.Mechanism("train")
    disc = np.diag([1.0, 1.0, 2.0])
    for k, size in enumerate((1e-3, 4e-3, 9e-3)):
        load = (0.05 * k, 0, 0)
        mech.add_body(mb.Body(f"wheel {k}", mb.SpatialInertia.from_com(1.0, load, size * disc)))
        mech.add_joint(mb.RevoluteJoint(f"axle {k}", axis=(0, 1, 0)), "world", f"wheel {k}")
    ratios = (-0.5, -2.0 / 3.0)
    for k, ratio in enumerate(ratios):
        mesh = mb.GearRatio(f"mesh {k}", f"axle {k}", f"axle {k + 1}", ratio=ratio, offset=0.1 * k)
        mech.add_constraint(mesh)
    system = assembled(mech, representation)
    q = np.array([0.4, -0.2, 0.1 + 0.2 * 2.0 / 3.0])
    v = 5.0 * np.array([1.0, -0.5, 1.0 / 3.0])
    run = mb.simulate(system, t_span=(0.0, 2.0), h=1e-3, q=q, v=v)
    np.testing.assert_allclose(run.v[:, 1], ratios[0] * run.v[:, 0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.v[:, 2], ratios[1] * run.v[:, 1], rtol=0, atol=1e-10)
    assert np.abs(run.q[:, 2] - ratios[1] * run.q[:, 1] - 0.1).max() < 1e-10
    assert np.abs(run.energy_drift).max() < 1e-7 * run.kinetic_energy.max()


def test_gears_on_a_carrier_are_a_planetary_gear():
    """With the ring held the sun turns 1 + z_ring / z_sun times as fast as the carrier (Willis)."""
    mech = mb.Mechanism("planetary", gravity=(0, 0, 0))
    wheel = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 1.0, 2.0]) * 1e-3)
    for body, on in (("carrier", "world"), ("sun", "carrier"), ("planet", "carrier")):
        mech.add_body(mb.Body(body, wheel))
        mech.add_joint(mb.RevoluteJoint(f"{body} axle"), on, body)
    mech.add_body(mb.Body("ring", wheel))
    mech.add_joint(mb.RevoluteJoint("ring axle"), "carrier", "ring")
    sun, planet, ring = 20, 30, 80
    # all on the carrier, where gears roll off each other as if it stood still
    mech.add_constraint(mb.GearRatio("a", "sun axle", "planet axle", ratio=-sun / planet))
    mech.add_constraint(mb.GearRatio("b", "planet axle", "ring axle", ratio=planet / ring))
    mech.add_constraint(mb.GearRatio("held", "carrier axle", "ring axle", ratio=-1.0))
    system = assembled(mech)
    tau = np.array([0.1, 0.0, 0.0, 0.0])
    vdot = system.forward_dynamics(np.zeros(4), np.zeros(4), tau)
    carrier, in_carrier = vdot[system.velocity_slice("carrier axle")], vdot[1]
    np.testing.assert_allclose((carrier + in_carrier) / carrier, 1.0 + ring / sun, rtol=1e-12)


@pytest.mark.some(4)
@each_representation
def test_a_cam_moves_its_follower(representation):
    """A cam that turns evenly moves the follower by its profile, compiled or a function."""
    for kind in ("cam", "function"):
        mech = mb.Mechanism("cam", gravity=(0, 0, 0))
        for body, joint in (("shaft", mb.RevoluteJoint("axle")), ("valve", mb.PrismaticJoint("z"))):
            mech.add_body(mb.Body(body, BALL))
            mech.add_joint(joint, "world", body)
        angles = np.linspace(0.0, 2.0 * np.pi, 181)
        if kind == "cam":
            profile = mb.Cam(
                "profile", "axle", "z", positions=angles, lift=lift(angles), periodic=True
            )
        else:
            profile = mb.JointCoupling("profile", "axle", "z", lift)
        mech.add_constraint(profile)
        system = assembled(mech, representation)
        q = np.array([9.0, 0.0])
        q[1] = system.constraint_residual(q)[0] * -1.0
        assert q[1] == pytest.approx(lift(9.0), abs=1e-8)
        A = system.constraint_jacobian(q)[0]
        v = np.array([3.0, -A[0] * 3.0])
        # an effort that keeps the shaft from being accelerated: tau = -A_0 / A_1 of the valve's
        h = 1e-4
        curvature = (lift(9.0 + h) - 2.0 * lift(9.0) + lift(9.0 - h)) / h**2
        expected = curvature * 9.0
        M = system.mass_matrix(q)
        tau = np.array([-A[0] * M[1, 1] * expected, 0.0])
        vdot = system.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(vdot, [0.0, expected], rtol=1e-4, atol=1e-3)


@pytest.mark.some(4)
@each_representation
def test_a_ball_on_a_plane_rolls_on_in_a_straight_line(representation):
    """On a level plane a ball keeps its velocity; on an incline it has 5/7 of the acceleration."""
    mech = mb.Mechanism("ball", gravity=(2.0, -1.0, -9.0))
    mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(0.7, radius=0.2)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, "ball")
    mech.add_constraint(mb.RollingSphere("ground", "world", "ball", radius=0.2))
    system = assembled(mech, representation)
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.2])
    w = np.array([1.0, 2.0, 3.0])
    v = np.concatenate([w, np.cross(w, (0, 0, 0.2))])
    run = mb.simulate(system, t_span=(0.0, 1.0), h=1e-3, q=q, v=v)
    t = run.t[:, None]
    expected = q[4:] + t * v[3:] + t**2 * (5.0 / 14.0) * np.array([2.0, -1.0, 0.0])
    np.testing.assert_allclose(run.q[:, 4:], expected, rtol=0, atol=1e-9)
    poses = system.poses(run.q)
    in_world = np.einsum("nij,nj->ni", poses[:, 1, :3, :3], run.v[:, :3])
    np.testing.assert_allclose(in_world[:, 2], 3.0, atol=1e-9)  # the spin about the normal
    assert max(kept(system, run)) < 1e-10


RADIUS, MASS = 0.3, 1.7


def disc(representation=None):
    """A thin disc on a level plane, its axis y in its own frame."""
    moment = MASS * RADIUS**2 * np.diag([0.25, 0.5, 0.25])
    mech = mb.Mechanism("disc")
    mech.add_body(mb.Body("disc", mb.SpatialInertia.from_com(MASS, (0, 0, 0), moment)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, "disc")
    mech.add_constraint(mb.RollingDisc("ground", "world", "disc", radius=RADIUS))
    return assembled(mech, representation)


def upright_state(lean, w):
    """q and v of the disc at a lean from the vertical, with an angular velocity in the world."""
    R = Rotation.from_rotvec([lean, 0.0, 0.0])
    to_center = R.apply([0.0, 0.0, RADIUS])
    x, y, z, s = R.as_quat()
    q = np.concatenate([[s, x, y, z], to_center])
    center = np.cross(w, to_center)
    return q, np.concatenate([R.inv().apply(w), R.inv().apply(center)])


@pytest.mark.long
@pytest.mark.some(4)
@each_representation
def test_a_disc_rolls_in_a_circle(representation):
    """Steady motion: lean, rate of precession and spin go together, and stay what they are."""
    lean, precession = 0.3, 2.0
    spin = steady_spin(lean, precession)
    axis = Rotation.from_rotvec([lean, 0.0, 0.0]).apply([0.0, 1.0, 0.0])
    system = disc(representation)
    q, v = upright_state(lean, precession * np.array([0, 0, 1.0]) + spin * axis)
    turn = 2.0 * np.pi / precession
    run = mb.simulate(system, t_span=(0.0, turn), h=turn / 6000, q=q, v=v)
    heights = run.q[:, 6]
    np.testing.assert_allclose(heights, RADIUS * np.cos(lean), rtol=0, atol=1e-8)
    # after one turn the centre is back where it was: its path is a circle
    np.testing.assert_allclose(run.q[-1, 4:], q[4:], rtol=0, atol=1e-7)
    speed = np.linalg.norm(np.diff(run.q[:, 4:6], axis=0), axis=1)
    np.testing.assert_allclose(speed, speed[0], rtol=1e-5)
    assert np.abs(run.energy_drift).max() < 1e-8 * run.kinetic_energy.max()
    assert max(kept(system, run)) < 1e-10


def steady_spin(lean, p):
    """The spin s about its own axis of a disc that rolls steadily, by Euler's equations.

    x is horizontal along the disc, k = (0, c, s) its axis, n = (0, -s, c) from contact to centre,
    w = s + p sin a its angular velocity about k. Moment of momentum about the centre, C w k +
    B p c n, turns with p about z: its rate along x is -(C w p c - B p^2 c s). The centre moves with
    r w along x, and its acceleration is p r w along y, so that the contact bears m (0, p r w, g),
    with the moment r (s m g + c m p r w) along x.
    """
    g = 9.81
    B, C = MASS * RADIUS**2 / 4.0, MASS * RADIUS**2 / 2.0
    s, c = np.sin(lean), np.cos(lean)
    w = (B * p**2 * c * s - RADIUS * s * MASS * g) / (p * c * (C + MASS * RADIUS**2))
    return w - p * s


def rolling_disc(_t, state):
    """Rates of a rolling disc, independent of mbkit: R (9), centre (3), w in the world (3).

    Moment of momentum about the contact, which moves: L' = r_c x m (v_c)' + I w' + w x I w
    = r_c x m g, r_c from contact to centre, with v_c = w x r_c.
    """
    R, w = state[:9].reshape(3, 3), state[12:]
    k = R[:, 1]
    z = np.array([0.0, 0.0, 1.0])
    m = z - k[2] * k
    size = np.sqrt(m @ m)
    r = RADIUS * m / size
    k_dot = np.cross(w, k)
    m_dot = -k_dot[2] * k - k[2] * k_dot
    r_dot = RADIUS * (m_dot / size - m * (m @ m_dot) / size**3)
    moment = R @ (MASS * RADIUS**2 * np.diag([0.25, 0.5, 0.25])) @ R.T
    skew = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    left = moment - MASS * skew @ skew
    right = np.cross(r, -MASS * 9.81 * z) - np.cross(w, moment @ w)
    right -= MASS * np.cross(r, np.cross(w, r_dot))
    w_dot = np.linalg.solve(left, right)
    R_dot = np.cross(w, R, axisb=0, axisc=0)
    return np.concatenate([R_dot.ravel(), np.cross(w, r), w_dot])


@pytest.mark.long
@pytest.mark.some(4)
@each_representation
def test_a_wobbling_disc_is_that_of_its_equations(representation):
    """A disc that leans and turns unsteadily, against its own equations by another integrator."""
    system = disc(representation)
    q, v = upright_state(0.4, np.array([0.5, 6.0, 1.5]))
    run = mb.simulate(system, t_span=(0.0, 1.0), h=2.5e-4, q=q, v=v)
    R = system.poses(q)[1, :3, :3]
    start = np.concatenate([R.ravel(), q[4:], R @ v[:3]])
    other = solve_ivp(rolling_disc, (0.0, 1.0), start, rtol=1e-11, atol=1e-12, method="DOP853")
    np.testing.assert_allclose(run.q[-1, 4:], other.y[9:12, -1], rtol=0, atol=1e-7)
    turned = system.poses(run.q[-1])[1, :3, :3]
    np.testing.assert_allclose(turned, other.y[:9, -1].reshape(3, 3), rtol=0, atol=1e-6)
    assert np.abs(run.energy_drift).max() < 1e-7 * run.kinetic_energy.max()


@pytest.mark.long
@pytest.mark.some(4)
@each_representation
def test_a_prescribed_point_needs_what_prescribed_joints_need(representation):
    """The force that moves a point on a path is that of the same motion by prescribed joints."""

    def motion(t):
        return np.array([0.3 * np.sin(2.0 * t), 0.2 * t**2, 0.1 * np.cos(3.0 * t)])

    def crane():
        mech = mb.Mechanism("crane")
        mech.add_body(mb.Body("hook", BALL))
        mech.add_body(
            mb.Body("load", mb.SpatialInertia.from_com(2.0, (0, 0, -0.7), np.eye(3) * 0.1))
        )
        return mech

    free = crane()
    free.add_joint(mb.TranslationalJoint("anywhere"), "world", "hook")
    free.add_joint(mb.SphericalJoint("ball"), "hook", "load")
    free.add_constraint(mb.PrescribedPoint("path", "hook", motion))
    driven = crane()
    driven.add_joint(mb.TranslationalJoint("anywhere").prescribe(motion), "world", "hook")
    driven.add_joint(mb.SphericalJoint("ball"), "hook", "load")
    one, other = (assembled(each, representation) for each in (free, driven))
    rng = np.random.default_rng(2)
    for t in (0.0, 0.4, 1.1):
        q = one.retract(one.reference_configuration(), rng.normal(size=one.nv))
        q, v, _ = other.prescribed_state(t, q, rng.normal(size=one.nv))
        np.testing.assert_allclose(one.constraint_residual(q, t), 0.0, atol=1e-14)
        np.testing.assert_allclose(one.constraint_velocity(q, v, t), 0.0, atol=1e-14)
        _, force = one.solve_dynamics(q, v, t=t)
        efforts = other.driving_efforts(q, v, t=t)
        np.testing.assert_allclose(force, efforts[:3], rtol=1e-10, atol=1e-10)
    q, v, _ = other.prescribed_state(0.0)
    options = {"t_span": (0.0, 1.0), "h": 1e-3, "v": v, "q": q}
    runs = [mb.simulate(each, **options) for each in (one, other)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-8)


@pytest.mark.parametrize("by", ["function", "table"])
def test_a_prescribed_pose_is_followed(by):
    """A free body on a prescribed pose is where it should be, and its wrench moves it so.

    A table of thirty poses a second is the curve to 1e-7: its error is of fourth order.
    """
    from tests.constraints.examples import pose

    times = np.linspace(-0.1, 1.6, 52)
    table = {"times": times, "poses": np.stack([pose(t) for t in times])}
    given, tolerance = {"function": ({"function": pose}, 1e-10), "table": (table, 1e-7)}[by]
    mech = mb.Mechanism("camera")
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    mech.add_body(mb.Body("head", box))
    mech.add_joint(mb.FreeJoint("free"), mech.world, "head")
    mech.add_constraint(mb.PrescribedPose("pan", "head", **given))
    system = assembled(mech)
    q = system.reference_configuration()
    v = np.array([0.3, -0.8, 0.5, 1.0, -0.2, 0.6])  # the rate of sin t is 1
    rate = system.constraint_velocity(q, v)
    np.testing.assert_allclose(rate, 0.0, atol={"function": 1e-14, "table": 1e-4}[by])
    q, v = system.close_loops(q, v)
    run = mb.simulate(system, t_span=(0.0, 0.5), h=2e-3, q=q, v=v)
    found = system.poses(run.q)[:, 1]
    expected = np.stack([pose(t) for t in run.t])
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
