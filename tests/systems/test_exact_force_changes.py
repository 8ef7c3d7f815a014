"""Derivatives by parameters of forces and by the time, exact: against complex steps.

A complex step has no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.forces.kernels import ForceKernels
from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.form import FORCE_FORM, joint, parameters
from mbkit.lie import SE3
from tests.forces.cases import every_force, tree
from tests.systems.complex_steps import ComplexEvaluation
from tests.trees import random_inertia, random_pose, random_state

#: Of the largest entry: rounding of some hundred operations. Differences leave 1e-12.
ROUNDING = 1e-13

TIME = 0.4


def system_with_every_force():
    """Return a tree with all forces of mbkit, none with a number at the end of what it may be."""
    rng = np.random.default_rng(75)
    mech, single = tree(rng)
    system = mech.assemble().with_forces(every_force(rng, mech, single))
    ends = {"damping": 0.2, "rest_length": 0.3, "angular": 0.1, "angular_quadratic": 0.15}
    values = {
        name: ends[name.rpartition(".")[2]] + 0.0 * np.asarray(value)
        for name, value in system.parameters.items()
        if name.startswith("forces.") and not np.any(value) and name.rpartition(".")[2] in ends
    }
    return system.with_parameters(
        {name: value if value.ndim else float(value) for name, value in values.items()}
    )


@pytest.fixture(scope="module")
def case():
    system = system_with_every_force()
    return system, random_state(np.random.default_rng(76), system)


def found_by(system, state, name, t=TIME):
    """Return the derivative of the forces, which efforts of inverse dynamics make up for."""
    found = system.derivatives(
        "inverse_dynamics", state.q, state.v, vdot=np.zeros(system.nv), by=(name,), t=t
    )
    return -found[name]


def assert_exact(found, expected):
    size = np.abs(expected).max()
    assert found.shape == expected.shape
    assert size > 0.0
    assert np.abs(found - expected).max() <= ROUNDING * size


def free_names():
    """Return the parameters of all forces but frames, and times, in which no number is linear."""
    names = [n for n in system_with_every_force().parameters if n.startswith("forces.")]
    return [n for n in names if n.rpartition(".")[2] not in ("frame_a", "frame_b", "times")]


@pytest.mark.some(16)
@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", free_names())
def test_every_parameter_of_every_force(case, name):
    system, state = case
    given = {"q": state.q, "v": state.v}
    expected = ComplexEvaluation(system, "generalized_forces", [name]).by(given, name, TIME)
    found = found_by(system, state, name)
    if not np.any(expected):  # a stop that is not touched
        assert not np.any(found)
        return
    assert_exact(found.reshape(expected.shape), expected)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("t", [-0.1, TIME, 1.0, 2.0])
def test_time_within_tables_and_beyond(case, t):
    system, state = case
    given = {"q": state.q, "v": state.v}
    expected = ComplexEvaluation(system, "generalized_forces").by(given, "t", t)[..., 0]
    found = found_by(system, state, "t", t)
    if 0.0 < t < 1.6:
        assert_exact(found, expected)
    else:
        assert not np.any(expected)
        assert not np.any(found)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("end", ["frame_a", "frame_b"])
def test_frames_of_bushings(end):
    """A frame moves as a free joint does that carries a plate with the frame."""
    rng = np.random.default_rng(77)
    frames = {"frame_a": random_pose(rng), "frame_b": random_pose(rng)}
    numbers = {"stiffness": rng.uniform(1.0, 5.0, 6), "damping": rng.uniform(0.1, 0.5, 6)}

    def chain():
        mech = mb.Mechanism("chain")
        rng = np.random.default_rng(78)
        bodies = [mech.add_body(mb.Body(n, random_inertia(rng))) for n in "ab"]
        joint = mb.SphericalJoint("ball")
        mech.add_joint(joint, mech.world, bodies[0], reference=random_pose(rng))
        mech.add_joint(mb.UniversalJoint("cross"), *bodies, reference=random_pose(rng))
        return mech

    mech = chain()
    mech.add_force(mb.Bushing("bushing", "a", "b", **numbers, **frames))
    system = mech.assemble()
    state = random_state(rng, system)
    found = found_by(system, state, f"forces.bushing.{end}")

    mech = chain()
    plate = mech.add_body(mb.Body("plate", random_inertia(rng)))
    mech.add_joint(mb.FreeJoint("free"), mech.bodies[end[-1]], plate)
    on = {"frame_a": "a", "frame_b": "b", end: "plate"}
    kept = {name: pose for name, pose in frames.items() if name != end}
    mech.add_force(mb.Bushing("bushing", on["frame_a"], on["frame_b"], **numbers, **kept))
    other = mech.assemble()
    q = np.concatenate([state.q, other.reference_configuration()[other.position_slice("free")]])
    step = np.zeros(other.ndx)
    step[other.tangent_slice("free")] = SE3.log(frames[end])
    q = other.retract(q, step)
    v = np.concatenate([state.v, np.zeros(6)])
    np.testing.assert_allclose(
        other.generalized_forces(q, v)[: system.nv],
        system.generalized_forces(state.q, state.v),
        atol=1e-14,
    )
    expected = ComplexEvaluation(other, "generalized_forces").by({"q": q, "v": v}, "q")
    assert_exact(found, expected[: system.nv, other.tangent_slice("free")])


@pytest.mark.compiled
def test_numbers_at_the_end_of_what_they_may_be():
    """Forces are linear in a damping, also from zero on."""
    mech = mb.Mechanism("slider")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, body)
    spring = {"stiffness": 3.0, "rest_length": 0.2, "point_a": (0.3, 0.1, -0.7)}
    mech.add_force(mb.SpringDamper("spring", "world", "body", **spring))
    system = mech.assemble()
    state = random_state(np.random.default_rng(79), system)
    damped = system.with_parameters({"forces.spring.damping": 1.0})
    expected = damped.generalized_forces(state.q, state.v) - system.generalized_forces(
        state.q, state.v
    )
    found = found_by(system, state, "forces.spring.damping")
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-14 * np.abs(expected).max())


@pytest.mark.compiled
def test_derivatives_by_states_are_those_without_parameters_before(case):
    """Numbers of forces have their derivatives in one memory for all that is asked."""
    system, state = case
    before = system.force_derivatives(state.q, state.v, TIME)
    found_by(system, state, "forces.bushing.stiffness")
    found_by(system, state, "t")
    for one, other in zip(before, system.force_derivatives(state.q, state.v, TIME), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.compiled
def test_batches_are_their_samples():
    system = system_with_every_force()
    rng = np.random.default_rng(80)
    states = [random_state(rng, system) for _ in range(3)]
    q, v = (np.array([getattr(s, n) for s in states]) for n in "qv")
    t = np.array([0.1, 0.5, 1.3])
    names = ("t", "forces.bushing.frame_a", "forces.wind.wrench", "forces.pair.point_a")
    given = {"vdot": np.zeros(system.nv), "by": names}
    every = system.derivatives("inverse_dynamics", q, v, t=t, **given)
    for k, state in enumerate(states):
        one = system.derivatives("inverse_dynamics", state.q, state.v, t=float(t[k]), **given)
        for name in names:
            np.testing.assert_array_equal(every[name][k], one[name])


@address_kernel(FORCE_FORM, in_lanes=True)
def waves(space, k, t, _q, v, tau, _powers):
    """tau = sum of a sin(j w t) cos(j w t) over j from 1 to n."""
    p = parameters(space, k)
    _, at_v, _ = joint(space, k)
    for j in range(1, int(p[0]) + 1):
        tau[at_v] += p[1] * math.sin(j * p[2] * t) * math.cos(j * p[2] * t)
    return 0


@attrs.frozen
class Waves(mb.Force):
    """A compiled force that counts by one of its numbers."""

    name: str
    joints: tuple[str, ...]
    amplitude: float
    frequency: float

    def kernels(self) -> Any:
        """Return the compiled function."""
        return ForceKernels(waves)

    def parameters(self) -> Any:
        """Return the count, the amplitude, and the frequency as an angular one."""
        return np.array([3.0, self.amplitude, 2.0 * np.pi * self.frequency])


@pytest.mark.compiled
def test_a_compiled_force_of_ones_own():
    mech = mb.Mechanism("slider")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    mech.add_force(Waves("waves", ("slide",), 2.0, 0.35))
    system, t = mech.assemble(), 0.8
    x = 2.0 * np.pi * np.arange(1, 4) * 0.35 * t
    by = ("t", "forces.waves.amplitude", "forces.waves.frequency")
    found = system.derivatives("inverse_dynamics", [0.1], [0.2], vdot=[0.0], by=by, t=t)
    expected = {
        by[0]: np.sum(2.0 * np.cos(2.0 * x) * x / t),
        by[1]: np.sum(0.5 * np.sin(2.0 * x)),
        by[2]: np.sum(2.0 * np.cos(2.0 * x) * x / 0.35),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(-found[name], [value], rtol=1e-13)


@address_kernel(FORCE_FORM, in_lanes=True)
def valve(space, k, t, q, v, tau, _powers):
    """A pneumatic spring: the library's functions, and powers."""
    p = parameters(space, k)
    at_q, at_v, _ = joint(space, k)
    x, u = q[at_q], v[at_v]
    gas = p[0] * ((1.0 + 0.1 * x) ** -p[1] - math.exp(-0.5 * x**2))
    leak = math.log1p(u**2) * math.atan(u) + np.sqrt(1.0 + t) * math.asinh(u)
    tau[at_v] += gas - leak + math.tan(0.1 * x) * np.cosh(0.2 * u) + max(u, 0.01 * x)
    return 0


def valve_of(p, t, x, u):
    """The same, of complex numbers."""
    gas = p[0] * ((1.0 + 0.1 * x) ** -p[1] - np.exp(-0.5 * x**2))
    leak = np.log(1.0 + u**2) * np.arctan(u) + np.sqrt(1.0 + t) * np.arcsinh(u)
    larger = u if u.real > 0.01 * x.real else 0.01 * x
    return gas - leak + np.tan(0.1 * x) * np.cosh(0.2 * u) + larger


@attrs.frozen
class Valve(mb.Force):
    """A compiled force that calls the library."""

    name: str
    joints: tuple[str, ...]
    pressure: float
    exponent: float

    def kernels(self) -> Any:
        """Return the compiled function."""
        return ForceKernels(valve)

    def parameters(self) -> Any:
        """Return pressure and exponent."""
        return np.array([self.pressure, self.exponent])


def system_with_a_valve() -> mb.System:
    mech = mb.Mechanism("slider")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    mech.add_force(Valve("valve", ("slide",), 2.0, 1.4))
    return mech.assemble()


@pytest.mark.some(2)
@pytest.mark.compiled
@pytest.mark.parametrize(("x", "u"), [(0.4, 0.3), (0.4, -0.3)])
def test_a_force_of_ones_own_that_calls_the_library(x, u):
    """All derivatives against complex steps."""
    system, t, h = system_with_a_valve(), 0.8, 1e-30
    by = ("q", "v", "t", "forces.valve.pressure", "forces.valve.exponent")
    found = system.derivatives("inverse_dynamics", [x], [u], vdot=[0.0], by=by, t=t)
    given = np.array([x, u, t, 2.0, 1.4])
    for name, unit in zip(by, np.eye(5), strict=True):
        a, b, c, *p = given + 1j * h * unit
        np.testing.assert_allclose(
            -found[name].ravel(), [valve_of(p, c, a, b).imag / h], rtol=2e-14
        )


def test_a_batch_with_functions_of_the_library():
    """Samples side by side have the bits of single ones."""
    system, rng = system_with_a_valve(), np.random.default_rng(0)
    q, v = rng.uniform(-1.0, 1.0, (2, 33, 1))
    many = system.forward_dynamics(q, v)
    for k in range(33):
        np.testing.assert_array_equal(many[k], system.forward_dynamics(q[k], v[k]))


@pytest.mark.compiled
def test_forces_and_joints_of_ones_own_are_differentiated_by_differences():
    """A force in Python is; those beside it are exact still."""
    mech, single = tree(np.random.default_rng(81))
    push = mb.ForceFunction("push", lambda t, q, v: np.sin(3.0 * t + q) * v, joints=single[1])
    effort = mb.JointEffort("drive", single[0], effort=[0.0, 2.0], times=[0.0, 1.0])
    drag = mb.Drag("drag", mech.joints[single[2]].successor, linear=0.3, quadratic=0.2)
    system = mech.assemble().with_forces((push, effort, drag))
    state = random_state(np.random.default_rng(82), system)
    given = {"q": state.q, "v": state.v}
    exact = ComplexEvaluation(system, "generalized_forces", ["forces.drag.quadratic"])
    name = "forces.drag.quadratic"
    assert_exact(found_by(system, state, name)[:, None], exact.by(given, name, TIME))
    found, expected = found_by(system, state, "t"), exact.by(given, "t", TIME)[..., 0]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.compiled
def test_time_in_rules_for_jax(case):
    """The rules of JAX need no JAX: those of trees by the time, in a batch."""
    from mbkit.bridges.jax_rules import RULES

    system, state = case
    times = np.array([TIME, 0.8])
    x = {name: np.stack([getattr(state, name)] * 2) for name in ("q", "v", "vdot")} | {"t": times}
    (slopes,) = RULES["inverse_dynamics"].slopes(system, x)
    exact = ComplexEvaluation(system, "generalized_forces")
    for found, t in zip(slopes["t"], times, strict=True):
        expected = exact.by({"q": state.q, "v": state.v}, "t", float(t))[..., 0]
        assert_exact(-found, expected)


@pytest.mark.slow
@pytest.mark.compiled
def test_rate_along_a_motion(case):
    """What forces add to the rate of inverse dynamics: q, v and the time move together."""
    system, state = case
    rates = state.q, state.v, state.vdot, np.zeros(system.nv)
    found = system.inverse_dynamics_rate(*rates, t=TIME)
    found = found - system.without_forces().inverse_dynamics_rate(*rates)
    moves = {
        "q": system.position_rates(state.q, state.v)[None],
        "v": state.vdot[None],
        "t": np.ones(1),
    }
    exact = ComplexEvaluation(system, "generalized_forces")
    (expected,) = exact({"q": state.q, "v": state.v}, moves, TIME)[1]
    assert_exact(-found, expected)


@pytest.mark.compiled
def test_drag_in_a_medium_that_moves_along():
    """|u| u is smooth where u is zero, and has no derivative there; differences would have one."""
    mech = mb.Mechanism("kite")
    mech.add_body(mb.Body("kite", mb.SpatialInertia.sphere(1.0, radius=0.2)))
    mech.add_joint(mb.FreeJoint("flight"), mech.world, "kite")
    wind, c = (1.0, -2.0, 3.0), 0.4
    mech.add_force(
        mb.Drag("air", "kite", linear=c, quadratic=0.3, wind=wind, angular_quadratic=0.2)
    )
    system = mech.assemble()
    q, v = system.reference_configuration(), np.array([0.0, 0.0, 0.0, *wind])
    by_v = system.force_derivatives(q, v)[1]
    assert (by_v == np.diag([0.0] * 3 + [-c] * 3)).all()
    # of a force beside it, in Python, alone are differences taken
    other = mb.ForceFunction("other", lambda t, q, v: -0.5 * v, joints=["flight"])
    both = system.with_forces([other]).force_derivatives(q, v)[1]
    assert np.abs(both - by_v + 0.5 * np.eye(6)).max() < 1e-10
    by_wind = system.derivatives(
        "inverse_dynamics", q, v, vdot=np.zeros(6), by=("forces.air.wind",)
    )
    assert (by_wind["forces.air.wind"][3:] == -c * np.eye(3)).all()
