"""Joints whose motion is a function of time: what they do to the others, and what drives them."""

from __future__ import annotations

import _thread
import os
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import mbkit as mb
from mbkit.lie import SO3, UnitQuaternion
from tests.every_representation import each_representation
from tests.joints.pose_only import AxisJoint
from tests.trees import random_inertia, random_pose, random_state

GRAVITY, LENGTH = 9.81, 0.5
T = np.linspace(0.0, 2.0, 41)


def support(t):
    return 0.5 * np.sin(2.0 * t)


def pendulum(motion, joint=None, **options):
    """A pendulum whose support is moved along x."""
    mech = mb.Mechanism("shaker", gravity=(0, 0, -GRAVITY))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.5, (0, 0, -LENGTH))))
    rail = mb.PrismaticJoint("rail", axis=(1, 0, 0)) if joint is None else joint
    mech.add_joint(rail.prescribe(motion, **options), mech.world, cart)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), cart, bob)
    return mech


def exact(acceleration):
    """Angle and rate after two seconds, by another integrator: L q'' + g sin q = -a cos q."""

    def rate(t, y):
        # about y a positive angle moves the bob to -x
        return [y[1], (acceleration(t) * np.cos(y[0]) - GRAVITY * np.sin(y[0])) / LENGTH]

    return solve_ivp(rate, (0, 2), [0.0, 0.0], rtol=1e-12, atol=1e-13).y[:, -1]


MOTIONS = {
    "a formula": (support, {}, lambda t: -2.0 * np.sin(2.0 * t), 1e-9),
    "three formulas": (
        lambda t: float(support(t)),
        {"rate": lambda t: np.cos(2.0 * t), "acceleration": lambda t: [-2.0 * np.sin(2.0 * t)]},
        lambda t: -2.0 * np.sin(2.0 * t),
        1e-9,
    ),
    "a spline": (CubicSpline(T, support(T)), {}, CubicSpline(T, support(T)).derivative(2), 1e-6),
    "with branches": (
        lambda t: t**3 if t < 1.0 else 3.0 * (t - 1.0) ** 2 + 3.0 * t - 2.0,
        {},
        lambda t: 6.0 * t if t < 1.0 else 6.0,
        1e-6,
    ),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("case", MOTIONS)
def test_pendulum_with_a_moved_support(case):
    """The bob moves as Newton says; the rail is exactly where the function says."""
    motion, options, acceleration, tolerance = MOTIONS[case]
    system = pendulum(motion, **options).assemble()
    run = mb.simulate(system, (0.0, 2.0), 2e-3)
    np.testing.assert_array_equal(run.q[:, 0], [float(motion(t)) for t in run.t])
    found = [run.q[-1, 1], run.v[-1, 1]]
    np.testing.assert_allclose(found, exact(acceleration), rtol=0.0, atol=tolerance)


def test_the_order_of_the_integrator_stays():
    """Four, with a prescribed joint too."""
    system = pendulum(support).assemble()
    expected = exact(lambda t: -2.0 * np.sin(2.0 * t))[0]
    errors = [
        abs(mb.simulate(system, (0.0, 2.0), h).q[-1, 1] - expected) for h in (0.04, 0.02, 0.01)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 4.0, atol=0.3)


def tumbling(t):
    """A quaternion that is not about one axis."""
    return UnitQuaternion.compose(
        UnitQuaternion.exp([0.7 * np.sin(t), 0.3 * t, 0.1]), UnitQuaternion.exp([0.0, t**2, 0.5])
    )


def drifting(t):
    return np.concatenate([tumbling(t), [np.sin(t), 0.3 * t, np.cos(2.0 * t)]])


def planar(t):
    return np.array([np.sin(t), t**2])


class TwoAxes(mb.Joint):
    """About x, then about the turned y, by its pose."""

    num_positions = num_velocities = 2

    def pose(self, q):
        (c1, s1), (c2, s2) = ((np.cos(x), np.sin(x)) for x in q)
        R = np.array([[1, 0, 0], [0, c1, -s1], [0, s1, c1]]) @ np.array(
            [[c2, 0, s2], [0, 1, 0], [-s2, 0, c2]]
        )
        pose = np.eye(4)
        pose[:3, :3] = R
        return pose


DRIVEN = {
    "revolute": (lambda: mb.RevoluteJoint("driven", axis=(1, 2, 3)), lambda t: np.sin(3.0 * t)),
    "screw": (lambda: mb.ScrewJoint("driven", screw=(1, 2, 0, 1, 0, 3)), lambda t: t**3 - t),
    "spherical": (lambda: mb.SphericalJoint("driven", point=(0.1, 0.2, 0.3)), tumbling),
    "free": (lambda: mb.FreeJoint("driven"), drifting),
    "by its pose": (lambda: AxisJoint("driven", (1, -1, 2), (0.1, 0, 0.3)), lambda t: np.exp(-t)),
    "two axes": (lambda: TwoAxes("driven"), planar),
}


def tree(kind, representation=None, reverse=False):
    """A prescribed joint between two bodies of four."""
    make, motion = DRIVEN[kind]
    rng = np.random.default_rng(8)
    mech = mb.Mechanism("tree")
    bodies = [mech.world]
    joints = [mb.SphericalJoint("ball"), make().prescribe(motion),
              mb.RevoluteJoint("hinge"), mb.PrismaticJoint("rail", axis=(1, 1, 0))]  # fmt: skip
    for i, joint in enumerate(joints):
        body = mech.add_body(mb.Body(f"b{i}", random_inertia(rng)))
        ends = (body, bodies[-1]) if reverse and i == 1 else (bodies[-1], body)
        mech.add_joint(joint, *ends, frames=(random_pose(rng), random_pose(rng)))
        bodies.append(body)
    coordinates = mb.RelativeCoordinates(representation=representation or mb.BodyFixed())
    return mech.assemble(coordinates)


every_kind = pytest.mark.parametrize("kind", DRIVEN)


@pytest.mark.some(4)
@every_kind
def test_velocity_and_acceleration_are_the_rates_of_the_motion(kind):
    """Differences of the function on the group, and of the velocity, agree with them."""
    system = tree(kind)
    place = system.velocity_slice("driven")
    for t in (0.0, 0.7, 1.9):
        q, v, vdot = system.prescribed_state(t)
        h = 1e-4
        ahead, behind = system.prescribed_state(t + h), system.prescribed_state(t - h)
        rate = (system.difference(q, ahead[0]) - system.difference(q, behind[0])) / (2 * h)
        np.testing.assert_allclose(v[place], rate[place], atol=1e-6)
        np.testing.assert_allclose(
            vdot[place], ((ahead[1] - behind[1]) / (2 * h))[place], atol=1e-6
        )


@pytest.mark.some(8)
@every_kind
@each_representation
@pytest.mark.parametrize("reverse", [False, True])
def test_dynamics_of_all_joints(kind, representation, reverse):
    """Accelerations solve M vdot + b = tau + efforts, with the function's own, at many times."""
    system = tree(kind, representation, reverse)
    state = random_state(np.random.default_rng(2), system)
    times = np.array([0.0, 0.4, 1.3])
    q, v, known = system.prescribed_state(times, state.q, state.v)
    vdot = system.forward_dynamics(state.q, state.v, state.tau, t=times)
    place = system.velocity_slice("driven")
    np.testing.assert_array_equal(vdot[:, place], known[:, place])
    efforts = system.driving_efforts(state.q, state.v, state.tau, t=times)
    rest = np.delete(efforts, np.r_[place], axis=1)
    assert not rest.any()
    found = system.inverse_dynamics(q, v, vdot)
    np.testing.assert_allclose(found, state.tau + efforts, atol=1e-9 * np.abs(found).max())


@pytest.mark.some(6)
@every_kind
@pytest.mark.parametrize("reverse", [False, True])
def test_power_of_the_drive_is_balanced(kind, reverse):
    """What it supplies is what the energy gains, but for the error of the integrator."""
    system = tree(kind, reverse=reverse)
    run = mb.simulate(system, (0.0, 0.25), 1e-3, v=np.full(system.nv, 0.3))
    energy = run.kinetic_energy + run.potential_energy
    gained = energy - energy[0]
    assert np.abs(gained).max() > 1e-2
    np.testing.assert_allclose(run.supplied_energy, gained, rtol=0.0, atol=1e-8)
    q, v, _ = system.prescribed_state(run.t, run.q, run.v)
    np.testing.assert_array_equal(run.q, q)
    np.testing.assert_array_equal(run.v, v)


def test_forces_at_the_joint_help_the_drive():
    """A spring takes over its part of the effort; the motion is the same."""
    stiff = mb.JointSpring("spring", "rail", stiffness=30.0)
    bare = pendulum(support).assemble()
    system = bare.with_forces([stiff])
    q, v = [0.0, 0.3], [0.0, -1.0]
    expected = bare.driving_efforts(q, v, t=0.6)[0] + 30.0 * support(0.6)
    assert system.driving_efforts(q, v, t=0.6)[0] == pytest.approx(expected, rel=1e-13)
    runs = [mb.simulate(each, (0.0, 1.0), 1e-2) for each in (bare, system)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=1e-13)


FORCES = {
    "none": [],
    "at the free joint": [mb.JointDamper("oil", "hinge", damping=0.7)],
    "at the prescribed joint": [
        mb.JointSpring("spring", "rail", stiffness=30.0),
        mb.JointDamper("friction", "rail", damping=5.0),
    ],
    "on bodies": [
        mb.SpringDamper(
            "rope", "world", "bob", point_a=(0, 0, 1.0), point_b=(0, 0, -0.5),
            stiffness=20.0, damping=1.0, rest_length=0.5,
        )
    ],
}  # fmt: skip


@pytest.mark.some(4)
@pytest.mark.parametrize("case", FORCES)
def test_forces_beside_a_prescribed_joint(case):
    """The motion is that of the equations in Python, and the energies are balanced."""
    system = pendulum(support).assemble().with_forces(FORCES[case])
    run = mb.simulate(system, (0.0, 2.0), 2e-3)

    def rate(t, y):
        q, v, _ = system.prescribed_state(t, [0.0, y[0]], [0.0, y[1]])
        return [y[1], system.forward_dynamics(q, v, t=t)[1]]

    expected = solve_ivp(rate, (0, 2), [0.0, 0.0], rtol=1e-9, atol=1e-10).y[:, -1]
    np.testing.assert_allclose([run.q[-1, 1], run.v[-1, 1]], expected, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(run.energy_balance, 0.0, atol=1e-9)
    power = np.einsum("ij,ij->i", system.driving_efforts(run.q, run.v, t=run.t), run.v)
    supplied = np.gradient(run.supplied_energy, run.t)
    np.testing.assert_allclose(supplied[1:-1], power[1:-1], atol=1e-3)


def test_other_integrators_and_saved_rows():
    """Every row, saved how often so ever, is on the motion."""
    system = pendulum(support).assemble()
    for options in ({"save_every": 7}, {"save_at": [0.0, 0.123, 0.5, 1.0]}):
        run = mb.simulate(
            system, (0.0, 1.0), 1e-2,
            integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN), **options,
        )  # fmt: skip
        np.testing.assert_allclose(run.q[:, 0], support(run.t), rtol=1e-15)


def test_events_see_the_motion_itself():
    """A prescribed joint crosses a level when its function does, not when a quadrature would."""
    system = pendulum(support).assemble()
    level = mb.Event("level", mb.JointPosition("rail", level=0.25), terminal=True)
    run = mb.simulate(system, (0.0, 2.0), 0.1, events=[level])
    assert run.t[-1] == pytest.approx(np.arcsin(0.5) / 2.0, abs=1e-12)


class Midpoint(mb.Integrator):
    """The explicit midpoint rule in Python; it asks the problem for everything."""

    order = 2
    looks = True

    def prepare(self, problem):
        x, rate, vdot = (np.zeros(problem.nv) for _ in range(3))
        powers = np.zeros(2)
        q, v = np.zeros(problem.nq), np.zeros(problem.nv)

        def run(first, steps, rows):
            for k in range(first, first + steps):
                t, h = problem.t0 + k * problem.h, problem.h
                q[:], v[:] = problem.q, problem.v
                problem.accelerate(t, q, v, vdot, powers)
                problem.retract(problem.q, 0.5 * h * v, q)
                v[:] = problem.v + 0.5 * h * vdot
                problem.accelerate(t + 0.5 * h, q, v, vdot, powers)
                x[:] = 0.5 * h * v
                problem.dexp_inv(x, v, rate)
                problem.retract(problem.q, h * rate, q)
                v[:] = problem.v + h * vdot
                status = problem.look(problem.t0 + (k + 1) * h, q, v)
                if status:
                    return status, k - first, 0
                problem.q[:], problem.v[:] = q, v
                problem.work[:] += h * powers
            return 0, steps, 0

        return run


def test_an_integrator_in_python_takes_them():
    """It need not know of them; one that says it cannot is refused."""
    system = pendulum(support).assemble()
    run = mb.simulate(system, (0.0, 2.0), 1e-3, integrator=Midpoint(), save_every=10**6)
    assert run.q[-1, 0] == support(2.0)
    expected = exact(lambda t: -2.0 * np.sin(2.0 * t))
    np.testing.assert_allclose([run.q[-1, 1], run.v[-1, 1]], expected, rtol=0.0, atol=1e-5)
    for flag in ("takes_prescribed_joints", "looks"):
        other = type("Other", (Midpoint,), {flag: False})()
        with pytest.raises(
            mb.UsageError, match=r"Other does not take prescribed joints, .* 'rail'"
        ):
            mb.simulate(system, (0.0, 2.0), 1e-3, integrator=other)


def pressed(t):
    """The motion of the support; somebody presses Ctrl-C while it goes on."""
    if t > 0.5 and os.environ.get("CTRL_C"):
        _thread.interrupt_main()
    return 0.5 * np.sin(2.0 * t)


def test_a_run_goes_on_bit_for_bit(tmp_path, monkeypatch):
    """A prescribed joint has no memory; another function is another run."""
    system = pendulum(pressed).assemble()
    whole = mb.simulate(system, (0.0, 1.0), 2e-3)
    monkeypatch.setenv("CTRL_C", "yes")
    part = mb.simulate(system, (0.0, 1.0), 2e-3, output=tmp_path / "run")
    monkeypatch.delenv("CTRL_C")
    assert not part.completed
    with pytest.raises(mb.UsageError, match="prescribed position of joint 'rail'"):
        mb.resume(tmp_path / "run", system=pendulum(support).assemble())
    run = mb.resume(tmp_path / "run", system=system)
    assert run.completed
    for name in ("t", "q", "v", "supplied_energy"):
        np.testing.assert_array_equal(getattr(run, name), getattr(whole, name))


@pytest.mark.parametrize(
    ("position", "error", "message"),
    [
        (lambda t: 1.0 / (1.0 - t), ZeroDivisionError, "division by zero"),
        (lambda t: np.sqrt(0.25 - t), mb.NotFiniteError, "derivative is not finite at t = 0.25"),
        (lambda t: [t, t] if t > 0.5 else t, mb.ShapeError, r"must return a number, got \(2,\)"),
    ],
)
def test_what_a_function_raises_comes_out(position, error, message):
    """With the joint's name and the time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        system = pendulum(position).assemble()
        with pytest.raises(error, match=message) as caught:
            mb.simulate(system, (0.0, 2.0), 0.25)
    assert "joint 'rail'" in "\n".join([str(caught.value), *caught.value.__notes__])
    assert "at t = " in "\n".join(caught.value.__notes__)
    assert caught.value.result.t[-1] < 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.FixedJoint("rail").prescribe(support), "does not move, so that no motion"),
        (lambda: mb.PrismaticJoint("rail").prescribe(3.0), "position must be a function of time"),
        (lambda: mb.PrismaticJoint("rail").prescribe(int), "position must be a function of time"),
        (
            lambda: mb.PrismaticJoint("rail").prescribe(support, rate=support),
            "rate and acceleration go together; give both",
        ),
    ],
)
def test_what_is_no_motion_is_refused(make, message):
    """When it is prescribed."""
    with pytest.raises(mb.JointError, match=message):
        make()


def test_what_cannot_be_differentiated_is_refused():
    """When the joint is added, with the line and the remedy."""
    with pytest.raises(mb.JointError, match=r"np.interp has no derivative .* Give rate= and"):
        pendulum(lambda t: np.interp(t, [0, 1], [0, 1]))


def test_systems_without_prescribed_joints():
    """There is nothing to drive."""
    mech = mb.Mechanism("one")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, body)
    system = mech.assemble()
    assert system.prescribed_joints == ()
    with pytest.raises(mb.UsageError, match="has no prescribed joint"):
        system.driving_efforts([0.0], [0.0])
    q, v, vdot = system.prescribed_state([0.0, 1.0], [0.3])
    assert q.tolist() == [[0.3], [0.3]]
    assert not v.any()
    assert not vdot.any()


def test_a_file_says_that_the_motion_is_not_in_it(tmp_path):
    """A function of time cannot be written; a file without it is not read."""
    text = pendulum(support).to_toml()
    assert 'not_written = ["motion"]' in text
    with pytest.raises(mb.ModelFileError, match="motion"):
        mb.parse_model(text)
    with pytest.warns(mb.ModelFileWarning, match="the prescribed motion of joints 'rail'"):
        mb.save_urdf(pendulum(support), tmp_path / "shaker.urdf")


def test_other_masses_keep_the_motion():
    """`with_parameters` changes the numbers, and moves the joint as before."""
    system = pendulum(support).assemble()
    heavier = system.with_parameters({"bodies.cart.mass": 20.0})
    assert heavier.prescribed_joints == ("rail",)
    light, heavy = (each.driving_efforts([0, 0], [0, 0], t=0.3)[0] for each in (system, heavier))
    assert heavy - light == pytest.approx(18.0 * -2.0 * np.sin(0.6), rel=1e-13)


def test_rotations_by_the_exponential():
    """A function with the maps of mbkit.lie, at the identity too."""
    joint = mb.SphericalJoint("ball")
    motion = joint.prescribe(lambda t: UnitQuaternion.exp([0.0, 0.0, t])).motion
    for t in (0.0, 1e-9, 1.0, 4.0):
        _, v, vdot = motion.at(t)
        np.testing.assert_allclose(v, [0, 0, 1], atol=1e-14)
        np.testing.assert_allclose(vdot, 0.0, atol=1e-13)
    x = np.array([0.4, -0.2, 0.9])
    _, v, _ = joint.prescribe(lambda t: UnitQuaternion.exp(t * t * x + t * x[::-1])).motion.at(0.3)
    expected = SO3.dexp_body(0.09 * x + 0.3 * x[::-1]) @ (0.6 * x + x[::-1])
    np.testing.assert_allclose(v, expected, atol=1e-14)
