"""Derivatives of dynamics by the time where joints move as functions of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import mbkit as mb
from examples.closed_loops import four_bar
from tests.closed_loops.planar_four_bar import PlanarFourBar, Rod
from tests.constraints.driven import driven
from tests.reference.test_prescribed_motion import DRIVEN, every_kind, tree
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.test_complex_steps_of_closed import CLOSED
from tests.systems.test_evaluation_derivatives import assert_close
from tests.trees import random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

TIMES = np.array([0.0, 0.3, 1.7])


def cauchy(function, t, order, radius=0.2, count=64):
    """Return a derivative of an analytic function: Cauchy's integral, trapezoids on a circle."""
    unit = np.exp(2j * np.pi * np.arange(count) / count)
    values = np.array([function(t + radius * u) for u in unit])
    mean = np.tensordot(unit**-order, values, 1).real / count
    return math.factorial(order) / radius**order * mean


# --------------------------------------------------------------------------------- jerks of curves


def ramp(t):
    return t**3 if t < 1.0 else 3.0 * (t - 1.0) ** 2 + 3.0 * t - 2.0


SPLINE = CubicSpline(np.linspace(0.0, 2.0, 9), np.sin(np.linspace(0.0, 6.0, 9)))
TABLE = {"times": SPLINE.x.tolist(), "positions": SPLINE(SPLINE.x).tolist()}

#: Motions of a rail, their jerks, and what is left of these.
CURVES = {
    "a formula": ((lambda t: np.sin(3.0 * t),), lambda t: -27.0 * np.cos(3.0 * t), 1e-13),
    "an expression": (("sin(3*t)",), lambda t: -27.0 * np.cos(3.0 * t), 1e-13),
    "branches": ((ramp,), lambda t: 6.0 * (t < 1.0), 1e-13),
    "a spline": ((SPLINE,), SPLINE.derivative(3), 1e-13),
    "a table": ((TABLE,), SPLINE.derivative(3), 1e-13),
    "given rates": (
        (lambda t: np.sin(3.0 * t), lambda t: 3.0 * np.cos(3.0 * t),
         lambda t: -9.0 * np.sin(3.0 * t)),
        lambda t: -27.0 * np.cos(3.0 * t), 1e-10,
    ),
}  # fmt: skip


@pytest.mark.parametrize("curve", CURVES)
def test_jerks_of_curves(curve):
    given, jerk, tolerance = CURVES[curve]
    motion = mb.PrismaticJoint("rail", axis=(1, 0, 0)).prescribe(*given).motion
    for t in TIMES:
        assert_close(motion.jerk(t), [jerk(t)], tolerance, 27.0)


@pytest.mark.parametrize("first", [True, False])
def test_jerks_where_a_given_acceleration_ends(first):
    """From the side on which there is one."""

    def acceleration(t):
        if (t < 1.0) if first else (t > 1.0):
            raise ValueError("not there")
        return np.exp(t)

    joint = mb.PrismaticJoint("rail", axis=(1, 0, 0))
    motion = joint.prescribe(np.exp, np.exp, acceleration).motion
    assert_close(motion.jerk(1.0), [math.e], 1e-10)


@pytest.mark.some(3)
@every_kind
def test_jerks_are_rates_of_accelerations(kind):
    """Of balls and free joints too, whose positions are quaternions; by differences."""
    make, position = DRIVEN[kind]
    motion = make().prescribe(position).motion

    def acceleration(t):
        return motion.at(t)[2]

    h = 1e-2
    for t in TIMES[1:]:
        weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5])
        pairs = [acceleration(t - k * h) - acceleration(t + k * h) for k in (4, 3, 2, 1)]
        assert_close(motion.jerk(t), weights @ pairs / h, 1e-10)


# ---------------------------------------------------------------------------------------- dynamics


def push(t, q, v):
    return np.sin(3.0 * t + q) * v


@pytest.mark.slow
@pytest.mark.some(3)
@every_kind
def test_prescribed_states_against_complex_steps(kind):
    """Velocities and accelerations are rates of positions, of quaternions too; and jerks."""
    system, t = tree(kind), 0.45
    state = random_state(np.random.default_rng(3), system)
    q, v, vdot = system.prescribed_state(t, state.q, state.v)
    exact = ComplexEvaluation(system, "prescribed_state")
    rates = exact.by({"q": state.q, "v": state.v}, "t", t)[..., 0]
    by_q, by_v, by_vdot = np.split(rates, [system.nq, system.nq + system.nv])
    place, own = system.velocity_slice("driven"), system.position_slice("driven")
    assert_close(system.position_rates(q, v)[own], by_q[own], 1e-12)
    assert_close(vdot[place], by_v[place], 1e-12)
    make, motion = DRIVEN[kind]
    assert_close(make().prescribe(motion).motion.jerk(t), by_vdot[place], 1e-12)


@pytest.mark.slow
@pytest.mark.some(6)
@every_kind
@pytest.mark.parametrize("pushed", [True, False])
def test_trees_against_complex_steps(kind, pushed):
    """With forces that know the time themselves, one of them in Python, and without any."""
    system = tree(kind)
    if pushed:
        table = {"times": TABLE["times"], "effort": TABLE["positions"], "interpolation": "cubic"}
        system = system.with_forces(
            [
                mb.ForceFunction("push", push, joints="hinge"),
                mb.JointEffort("table", "rail", **table),
            ]
        )
    state = random_state(np.random.default_rng(3), system)
    given = {"q": state.q, "v": state.v, "tau": state.tau}
    exact = ComplexEvaluation(system, "forward_dynamics").by(given, "t", 0.45)[..., 0]
    found = system.derivatives("forward_dynamics", **given, by=("t",), t=0.45)["t"]
    assert_close(found, exact, 1e-10 if pushed else 1e-12)


@pytest.mark.slow
@pytest.mark.some(2)
@pytest.mark.parametrize("name", CLOSED)
def test_closed_mechanisms_against_complex_steps(name):
    """Along a motion with one joint driven, so that rows stay dependent that are."""
    example, _, held, _ = CLOSED[name]
    mech = driven(example.build(), held[0], lambda t: 0.05 * np.sin(2.0 * t))
    system = mech.assemble(mb.RelativeCoordinates(length=1.0))
    rng, t = np.random.default_rng(4), 0.45
    start = system.reference_configuration(), rng.normal(size=system.nv)
    q, v = system.close_loops(*start, t=t)
    given = {"q": q, "v": v, "tau": rng.normal(size=system.nv)}
    found = system.derivatives("forward_dynamics", **given, by=("t", "q", "v"), t=t)
    vdot = found.values["vdot"]
    moves = {"q": system.position_rates(q, v), "v": vdot, "t": 1.0}
    exact = ComplexEvaluation(system, "forward_dynamics")(given, moves, t)[1]
    along = found["t"] + found["q"] @ system.rates(q, v) + found["v"] @ vdot
    assert_close(along, exact, 1e-10)


@pytest.mark.parametrize("cut", [None, ("D",)])
def test_a_driven_linkage_against_its_closed_form(cut):
    """Along the motion, by all of its states and the time: the jerks of Freudenstein's equation.

    The crank leaves no freedom. Of twelve rows of the spatial loop most depend on others.
    """
    lengths = four_bar.GROUND, four_bar.CRANK, four_bar.COUPLER, four_bar.ROCKER
    linkage = PlanarFourBar(lengths[0], *(Rod(each, 1.0, 1.0) for each in lengths[1:]))

    def crank(t):
        return 0.4 * np.sin(2.0 * t)

    coordinates = mb.RelativeCoordinates(loop_joints=cut)
    system = driven(four_bar.build(), "A", crank).assemble(coordinates)

    def angles(t):
        a = four_bar.START + crank(t)
        b, c = linkage.rocker_angle(a), linkage.coupler_angle(a)
        every = {"A": a, "B": c - a, "C": b - c, "D": b}
        return np.array([every[name] for name in system.joint_names])

    for t in TIMES:
        q, v, vdot = system.closed_motion({}, t=t)
        assert_close(vdot, cauchy(angles, t, 2), 1e-11)
        found = system.derivatives("forward_dynamics", q, v, by=("t", "q", "v"), t=t)
        assert_close(found.values["vdot"], vdot, 1e-11)
        along = found["t"] + found["q"] @ v + found["v"] @ vdot
        assert_close(along, cauchy(angles, t, 3), 1e-11)


def test_there_is_no_derivative_where_an_acceleration_jumps():
    mech = mb.Mechanism("step")
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    rail = mb.PrismaticJoint("rail", axis=(1, 0, 0))
    mech.add_joint(rail.prescribe(lambda t: t**2 if t < 1.0 else 2.0 * t - 1.0), "world", cart)
    system = mech.assemble()
    there = {"by": ("t",), "t": 0.5}
    assert system.derivatives("forward_dynamics", [0.0], [0.0], **there)["t"] == [0.0]
    with pytest.raises(mb.UsageError, match="by 't' at this value: the equations jump"):
        system.derivatives("forward_dynamics", [0.0], [0.0], by=("t",), t=1.0)


def test_errors_of_motions_name_the_joint():
    def acceleration(t):
        if t not in (0.0, 0.5):
            raise ValueError("at two instants alone")
        return 0.0

    mech = mb.Mechanism("short")
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    rail = mb.PrismaticJoint("rail", axis=(1, 0, 0))
    mech.add_joint(rail.prescribe(lambda t: t, lambda t: 1.0, acceleration), "world", cart)
    system = mech.assemble()
    with pytest.raises(ValueError, match="two instants") as caught:
        system.derivatives("forward_dynamics", [0.0], [0.0], by=("t",), t=0.5)
    assert "joint 'rail', at t = 0.5" in caught.value.__notes__[0]
