"""Curves, tables and motions over time in functions of CasADi."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate

import mbkit as mb
from tests.peers.test_casadi import check_constraints, constraint_functions, same
from tests.trees import random_inertia

casadi = pytest.importorskip("casadi")

_KNOTS = np.linspace(-1.0, 1.0, 12)
_CLOSED = np.stack([np.sin(np.pi * _KNOTS), np.cos(np.pi * _KNOTS)], axis=1)
_CLOSED[-1] = _CLOSED[0]
_OPEN = np.stack([np.exp(_KNOTS), _KNOTS**3], axis=1)

#: Curves of scipy with two entries, and arguments at which each has a value.
CURVES = {
    "cubic": (interpolate.CubicSpline(_KNOTS, _OPEN), (-0.7, 0.05, 1.3)),
    "periodic": (interpolate.CubicSpline(_KNOTS, _CLOSED, bc_type="periodic"), (-3.1, 0.0, 7.45)),
    "monotonous": (interpolate.PchipInterpolator(_KNOTS, _OPEN), (-0.7, 0.05)),
    "Akima": (interpolate.Akima1DInterpolator(_KNOTS, _OPEN), (-0.7, 0.05)),
    "B-spline": (interpolate.make_interp_spline(_KNOTS, _OPEN, k=5), (-0.7, 0.05, 1.1)),
    "free ends": (
        interpolate.BSpline(np.linspace(-2.0, 2.0, 16), np.sin(np.arange(24.0)).reshape(12, 2), 3),
        (-0.7, 0.05, 1.3),
    ),
    "Bernstein": (
        interpolate.BPoly.from_derivatives(_KNOTS, np.stack([_OPEN, -_OPEN, _OPEN], axis=1)),
        (-0.7, 0.05),
    ),
}


class Guided(mb.Joint):
    """A joint along a curve in the plane of x and z."""

    num_positions = num_velocities = 1

    def __init__(self, name, curve):
        self.name, self.curve = name, curve

    def pose(self, q):
        x, z = self.curve(q[0])
        T = np.eye(4, dtype=np.asarray(q).dtype)
        T[0, 3], T[2, 3] = x, z
        return T


def guided(curve):
    mechanism = mb.Mechanism("guided")
    body = mechanism.add_body(mb.Body("body", random_inertia(np.random.default_rng(41))))
    mechanism.add_joint(Guided("guide", curve), mechanism.world, body)
    return mechanism.assemble()


@pytest.mark.parametrize("name", CURVES)
def test_joints_along_curves(name):
    """Also at knots, and beyond the ends where the curve goes on."""
    curve, places = CURVES[name]
    system = guided(curve)
    function = mb.casadi_function(system, "forward_dynamics")
    for q in (*places, float(_KNOTS[4])):
        state = [q], [0.7], [0.3]
        assert same(function(*state), system.forward_dynamics(*state))
        by_q, by_v, by_tau = function.jacobian()(*state, 0.0)
        expected = system.forward_dynamics_derivatives(*state)
        if q in places:
            assert same(by_q, expected[0], 1e-10)
        assert same(by_v, expected[1], 1e-10)
        assert same(by_tau, expected[2], 1e-10)


def test_beyond_the_ends_of_a_curve_that_ends_there_is_no_value():
    system = guided(interpolate.CubicSpline(_KNOTS, _OPEN, extrapolate=False))
    function = mb.casadi_function(system, "pose", body="body")
    assert same(function(0.3), system.pose("body", [0.3]))
    for beyond in (-1.1, 1.1):
        assert np.isnan(float(function(beyond)[0, 3]))


def test_a_curve_that_does_not_tell_its_pieces_is_named():
    curve = interpolate.UnivariateSpline(_KNOTS, _OPEN[:, 0], s=0.0)

    def both(x):
        return curve(x), curve(x)

    system = guided(both)
    with pytest.raises(mb.UsageError, match=r"Joint 'guide'.*UnivariateSpline.*CubicSpline"):
        mb.casadi_function(system, "poses")


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
def test_forces_with_long_tables(interpolation):
    """A force of a thousand times, constant before and after them; its values may stay free."""
    times = np.sort(np.random.default_rng(42).uniform(0.0, 3.0, 1000))
    values = np.sin(5.0 * times)
    mechanism = mb.Mechanism("driven")
    body = mechanism.add_body(mb.Body("body", random_inertia(np.random.default_rng(43))))
    mechanism.add_joint(mb.RevoluteJoint("hinge", axis=(1, 2, 3)), mechanism.world, body)
    motor = mb.JointEffort("motor", "hinge", values, times=times, interpolation=interpolation)
    mechanism.add_force(motor)
    system = mechanism.assemble()
    function = mb.casadi_function(system, "forward_dynamics")
    for t in (-0.1, 0.0, float(times[333]), 0.77, 2.9, 3.4):
        expected = system.forward_dynamics([0.3], [0.7], [0.2], t=t)
        assert same(function(0.3, 0.7, 0.2, t), expected)
    by_t = function.jacobian()(0.3, 0.7, 0.2, 0.77, 0.0)[3]
    expected = system.derivatives("forward_dynamics", [0.3], [0.7], [0.2], by=["t"], t=0.77)["t"]
    assert same(by_t, expected, 1e-10)


def test_constraints_with_long_tables():
    """A cam of six hundred points, many turns on."""
    angles = np.linspace(0.0, 2.0 * np.pi, 601)
    mechanism = mb.Mechanism("cam shaft")
    rng = np.random.default_rng(44)
    a, b = (mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "ab")
    mechanism.add_joint(mb.RevoluteJoint("i", axis=(1, 2, 3)), mechanism.world, a)
    mechanism.add_joint(mb.RevoluteJoint("j", axis=(0, 2, 3)), a, b)
    lift = 0.1 * (1.0 - np.cos(angles))
    mechanism.add_constraint(mb.Cam("cam", "i", "j", positions=angles, lift=lift, periodic=True))
    system = mechanism.assemble()
    functions = constraint_functions(system)
    for first in (0.3, -0.3, 17.0):
        check_constraints(system, functions, np.array([first, 0.2]), np.array([0.7, -0.3]), 0.0)


_TIMES = np.linspace(0.0, 2.0, 9)


def swing(t):
    return 0.3 * np.sin(t) if t < 1.0 else 0.3 * np.sin(1.0) + 0.3 * (t - 1.0) * np.cos(1.0)


#: What `Joint.prescribe` takes.
MOTIONS = {
    "an expression": ("0.3 * sin(2 * t)",),
    "a table": ({"times": _TIMES, "positions": 0.3 * np.sin(_TIMES)},),
    "a function with branches": (swing,),
    "with its rates": (lambda t: 0.3 * t**2, lambda t: 0.6 * t, lambda t: 0.6),
}


@pytest.mark.parametrize("motion", MOTIONS)
def test_prescribed_joints_follow_their_motion(motion):
    """In forward dynamics of a tree, whatever is given for them; derivatives by the time too."""
    rng = np.random.default_rng(45)
    mechanism = mb.Mechanism("driven")
    bodies = [mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "abc"]
    ends = [mechanism.world, *bodies]
    for k, axis in enumerate(rng.normal(size=(3, 3))):
        joint = mb.RevoluteJoint(f"joint{k}", axis=axis)
        given = joint.prescribe(*MOTIONS[motion]) if k == 1 else joint
        mechanism.add_joint(given, ends[k], ends[k + 1])
    mechanism.add_force(mb.JointEffort("motor", "joint0", np.sin(_TIMES), times=_TIMES))
    system = mechanism.assemble()
    function = mb.casadi_function(system, "forward_dynamics", parameters=["bodies.c.mass"])
    q, v, tau = rng.normal(size=(3, 3))
    mass = system.parameters["bodies.c.mass"]
    for t in (0.3, 1.4):
        state = system.prescribed_state(t, q, v)[:2]
        assert same(function(q, v, tau, mass, t), system.forward_dynamics(*state, tau, t=t))
        parts = function.jacobian()(q, v, tau, mass, t, np.zeros(3))
        by = ("q", "v", "tau", "bodies.c.mass", "t")
        expected = system.derivatives("forward_dynamics", *state, tau, by=by, t=t)
        free = [0, 2]
        assert same(parts[0][:, free], expected["q"][:, free], 1e-10)
        assert same(parts[1][:, free], expected["v"][:, free], 1e-10)
        assert same(parts[2][:, free], expected["tau"][:, free], 1e-10)
        assert same(parts[3], expected["bodies.c.mass"], 1e-10)
        assert same(parts[4], expected["t"], 1e-10)


def test_beyond_the_table_of_a_motion_is_no_value():
    mechanism = mb.Mechanism("driven")
    body = mechanism.add_body(mb.Body("body", random_inertia(np.random.default_rng(46))))
    joint = mb.RevoluteJoint("hinge").prescribe(*MOTIONS["a table"])
    mechanism.add_joint(joint, mechanism.world, body)
    function = mb.casadi_function(mechanism.assemble(), "forward_dynamics")
    assert np.isnan(float(function(0.0, 0.0, 0.0, 2.1)))


@pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")
def test_prescribed_joints_of_closed_mechanisms():
    """Accelerations and multipliers of a four-bar linkage whose crank is driven."""
    rng = np.random.default_rng(47)
    mechanism = mb.Mechanism("four-bar", gravity=(0, -9.81, 0))
    corners = np.array([(0.0, 0, 0), (0.2, 0.3, 0), (0.9, 0.5, 0), (0.8, 0, 0)])
    ends = [mechanism.world]
    ends += [mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "abc"]
    ends += [mechanism.world]
    for k, corner in enumerate(corners):
        joint = mb.RevoluteJoint(f"joint{k}", point=corner)
        mechanism.add_joint(joint.prescribe(np.sin) if k == 0 else joint, ends[k], ends[k + 1])
    loop = mb.RelativeCoordinates(loop_joints=["joint3"])
    system = mechanism.assemble(loop)
    t = 0.2
    q = system.close_loops(np.array([np.sin(t), 0.0, 0.0]), t=t)
    v = system.consistent_velocity({}, q, t=t)
    tau = rng.normal(size=3)
    function = mb.casadi_function(system, "solve_dynamics")
    expected = system.solve_dynamics(q, v, tau, t=t)
    for found, each in zip(function(q, v, tau, t), expected, strict=True):
        assert same(found, each, 1e-11)
    dynamics = mb.casadi_function(system, "forward_dynamics")
    assert same(dynamics(q, v, tau, t), expected[0], 1e-11)


def test_a_motion_that_cannot_be_traced_is_named():
    mechanism = mb.Mechanism("driven")
    body = mechanism.add_body(mb.Body("body", random_inertia(np.random.default_rng(48))))
    table = [-9.0, 9.0], [-9.0, 9.0]
    rates = (lambda t: 1.0), (lambda t: 0.0)
    joint = mb.RevoluteJoint("hinge").prescribe(lambda t: np.interp(t, *table), *rates)
    mechanism.add_joint(joint, mechanism.world, body)
    with pytest.raises(mb.UsageError, match=r"Motion 'hinge'.*np\.interp.*hybrid_dynamics"):
        mb.casadi_function(mechanism.assemble(), "forward_dynamics")
