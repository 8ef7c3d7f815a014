"""Forces in Python in the adjoint: asked once a stage, whatever the number of bodies and inputs.

Those that give derivatives, that are traced, and that are differentiated by differences.

Against forward derivatives, in which the whole system moves; and how often they are called.
"""

from __future__ import annotations

import math
import warnings

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.forces.definition import gives_derivatives
from mbkit.sensitivities.passes.forces import called_forces, other_forces
from tests.every_representation import REPRESENTATIONS
from tests.forces.test_given_derivatives import DRAG, Tie, TieWithDerivatives, Wind, four_bar, tie
from tests.forces.test_python_forces import OwnRepresentation
from tests.sensitivities.differences import assert_adjoint
from tests.trees import random_mechanism, random_state

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mbkit.ForceDerivativeWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
]

KINDS = ("revolute", "spherical", "universal", "helical", "free", "prismatic")

#: Steps of a run, and stages of RKMK4.
STEPS, STAGES = 2, 8


def run_of(system, q, v, integrator=None, **given):
    method = integrator or mb.RungeKuttaMuntheKaas()
    return mb.simulate(system, (0.2, 0.202), 1e-3, q=q, v=v, integrator=method, **given)


def loss(t, q, v):
    return 0.5 * float((v * v).sum()), None, v


class Turn(mb.Force):
    """A torque on a ball joint that depends on its quaternion, and on the time."""

    joints = ("ball",)

    def __init__(self):
        super().__init__("turn")
        rng = np.random.default_rng(4)
        self.A, self.B = rng.normal(size=(3, 4)), rng.normal(size=(3, 3))
        self.calls = 0

    def evaluate(self, t, q, v, poses, twists, out):
        self.calls += 1
        out[:] = np.cos(t) * (self.A @ q) * q[0] - self.B @ v * v[0]


class KnownTurn(Turn):
    def derivatives(self, t, q, v, poses, twists):
        by_q, by_v = np.cos(t) * self.A * q[0], -self.B * v[0]
        by_q[:, 0] += np.cos(t) * (self.A @ q)
        by_v[:, 0] -= self.B @ v
        return mb.ForceDerivatives(q=by_q, v=by_v)


class Lean(mb.Force):
    """A torque on a hinge that depends on where a body is and how it moves."""

    joints = ("joint0",)
    bodies = ("body3",)

    def __init__(self):
        super().__init__("lean")

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -poses[0, 0, 3] * poses[0, 1, 2] - twists[0, 1] * twists[0, 5] + 0.3 * q[0] * v[0]


def balls():
    mech = mb.Mechanism("balls", gravity=(0.3, -0.2, -9.81))
    inertia = mb.SpatialInertia.from_com(1.0, (0.2, 0.1, 0.3), np.diag([0.1, 0.2, 0.15]))
    parent = mech.world
    for name in ("hinge", "ball", "last"):
        make = mb.RevoluteJoint if name == "hinge" else mb.SphericalJoint
        body = mech.add_body(mb.Body(f"of {name}", inertia))
        mech.add_joint(make(name), parent, body)
        parent = body
    return mech


#: What differences leave, whose rounding differs from state to state.
LEFT = 1e-9


def adjoint_of(system, state, by=()):
    """Compare the adjoint by one pass with forward derivatives."""
    exact = all(gives_derivatives(force) for force in system.forces)
    assert called_forces(system) == list(range(len(system.forces)))
    assert other_forces(system, called_forces(system)) is None
    base = run_of(system, state.q, state.v)
    found = mb.sensitivities(base, by=["q", "v", *by])
    assert_adjoint(base, found, rtol=1e-12 if exact else LEFT)


@pytest.mark.parametrize("kind", [Turn, KnownTurn])
def test_positions_that_steps_do_not_add_to(kind):
    system = balls().assemble().with_forces([kind()])
    adjoint_of(system, random_state(np.random.default_rng(5), system), ["bodies.of ball.mass"])


def test_derivatives_by_a_quaternion_are_those_of_differences():
    found = []
    for kind in (Turn, KnownTurn):
        system = balls().assemble().with_forces([kind()])
        state = random_state(np.random.default_rng(5), system)
        gradient = mb.gradient(run_of(system, state.q, state.v), loss, ["q", "v"])
        found.append(np.concatenate([gradient["q"], gradient["v"]]))
    size = np.abs(found[1]).max()
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-9 * size)


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", [Tie, TieWithDerivatives])
@pytest.mark.parametrize(
    "representation", [*REPRESENTATIONS, OwnRepresentation()], ids=lambda each: each.name
)
def test_wrenches_in_every_representation(representation, kind):
    """Between two bodies, by all that they and two joints do."""
    mech = random_mechanism(np.random.default_rng(81), 7, KINDS)
    system = mech.assemble().with_forces([tie(kind, mech, representation)])
    adjoint_of(system, random_state(np.random.default_rng(82), system, 0.3), ["gravity"])


def test_a_torque_on_a_joint_that_reads_a_body():
    mech = random_mechanism(np.random.default_rng(9), 5, ("revolute", "spherical"))
    system = mech.assemble().with_forces([Lean()])
    adjoint_of(system, random_state(np.random.default_rng(10), system), ["bodies.body3.mass"])


@pytest.mark.parametrize(
    "integrator",
    [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(tolerance=1e-12)],
    ids=lambda x: type(x).__name__,
)
def test_fields_and_places(integrator):
    """By fields that a force has derivatives by, by those that it has not, and by places."""
    mech = random_mechanism(np.random.default_rng(11), 5, ("revolute", "universal"))
    forces = [Wind("wind", ("body4",), **DRAG), Wind("breeze", ("world",), **DRAG)]
    system = mech.assemble().with_forces(forces)
    state = random_state(np.random.default_rng(12), system)
    base = run_of(system, state.q, state.v, integrator)
    by = ["q", "forces.wind.linear", "forces.wind.wind", "joints.joint2.S_pred"]
    assert_adjoint(base, mb.sensitivities(base, by=by))


@pytest.mark.parametrize("given", [False, True])
def test_a_closed_mechanism(given):
    mech = four_bar()
    kind = Wind if given else Gust
    system = mech.assemble().with_forces([kind("wind", ("coupler",), **DRAG)])
    q = system.close_loops()
    base = run_of(system, q, system.consistent_velocity({"A": 1.3}, q))
    found = mb.sensitivities(base, by=["q", "v", "bodies.coupler.mass"])
    assert_adjoint(base, found, rtol=1e-12 if given else LEFT)


@attrs.frozen
class Gust(Wind):
    """The same wind, which gives no derivatives."""

    derivatives = mb.Force.derivatives


def calls_of_a_gradient(kind, bodies):
    """Return how often a gradient calls a force on one hinge of a chain."""
    mech = random_mechanism(np.random.default_rng(13), bodies, ("revolute",))
    force = kind("push")
    system = mech.assemble().with_forces([force])
    state = random_state(np.random.default_rng(14), system)
    run = run_of(system, state.q, state.v)
    force.calls.update(evaluate=0, derivatives=0)
    mb.gradient(run, loss, ["q", "v", *(f"bodies.body{k}.mass" for k in range(bodies))])
    return force.calls["evaluate"], force.calls["derivatives"]


class Push(mb.Force):
    joints = ("joint1",)

    def __init__(self, name, gain=0.1):
        super().__init__(name)
        self.gain = gain
        self.calls = {"evaluate": 0, "derivatives": 0}

    def evaluate(self, t, q, v, poses, twists, out):
        self.calls["evaluate"] += 1
        out[:] = -self.gain * np.sin(q) * v


class KnownPush(Push):
    def derivatives(self, t, q, v, poses, twists):
        self.calls["derivatives"] += 1
        return mb.ForceDerivatives(q=[-self.gain * np.cos(q) * v], v=[-self.gain * np.sin(q)])


@pytest.mark.parametrize("bodies", [3, 12])
def test_given_derivatives_are_asked_for_once_a_stage(bodies):
    evaluated, asked = calls_of_a_gradient(KnownPush, bodies)
    assert asked == STAGES
    assert evaluated <= STAGES + STEPS  # of the steps, which are taken again


class OpaquePush(Push):
    """One that cannot be traced."""

    def evaluate(self, t, q, v, poses, twists, out):
        self.calls["evaluate"] += 1
        out[:] = -self.gain * math.fsum([np.sin(q[0])]) * v


@pytest.mark.parametrize("kind", [Push, OpaquePush])
def test_derivatives_along_a_hinge_are_those_that_are_given(kind):
    found = []
    for each in (kind, KnownPush):
        mech = random_mechanism(np.random.default_rng(13), 3, ("revolute",))
        system = mech.assemble().with_forces([each("push", 40.0)])
        state = random_state(np.random.default_rng(14), system)
        adjoint_of(system, state)
        gradient = mb.gradient(run_of(system, state.q, state.v), loss, ["q", "v"])
        found.append(np.concatenate([gradient["q"], gradient["v"]]))
    size = np.abs(found[1]).max()
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-9 * size)


@pytest.mark.parametrize("bodies", [3, 12])
def test_differences_are_along_the_joint_alone(bodies):
    """Four calls along its position and its velocity each, whatever the tree."""
    evaluated, _ = calls_of_a_gradient(OpaquePush, bodies)
    assert 8 * STAGES < evaluated <= 9 * STAGES + STEPS


@pytest.mark.parametrize("bodies", [3, 12])
def test_a_force_that_is_traced_is_compared_with_its_trace_once_a_stage(bodies):
    """And once with differences."""
    evaluated, _ = calls_of_a_gradient(Push, bodies)
    assert evaluated <= 2 * STAGES + STEPS + 16


#: What traces leave.
ROUNDING = 1e-12


def traced(system, state, by=(), **given):
    """Compare the adjoint with forward derivatives, both exact, without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", mb.ForceDerivativeWarning)
        base = run_of(system, state.q, state.v, **given)
        found = mb.sensitivities(base, by=["q", "v", *by])
        assert_adjoint(base, found, rtol=ROUNDING)
    return np.concatenate([mb.gradient(base, loss, ["q", "v"])[name] for name in "qv"])


@pytest.mark.parametrize(
    "representation", [*REPRESENTATIONS, OwnRepresentation()], ids=lambda each: each.name
)
def test_traced_wrenches_are_those_that_are_given(representation):
    """On two bodies in frames that are not aligned, in every representation."""
    mech = random_mechanism(np.random.default_rng(81), 7, KINDS)
    own, given = (
        mech.assemble().with_forces([tie(kind, mech, representation)])
        for kind in (Tie, TieWithDerivatives)
    )
    state = random_state(np.random.default_rng(82), own, 0.3)
    found = traced(own, state, ["bodies.body3.com", "joints.joint2.S_pred"])
    expected = mb.gradient(run_of(given, state.q, state.v), loss, ["q", "v"])
    expected = np.concatenate([expected[name] for name in "qv"])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=ROUNDING * np.abs(found).max())


@pytest.mark.parametrize("kinds", [(Turn, KnownTurn), (Lean,)])
def test_traced_torques(kinds):
    """By a quaternion, which steps do not add to, and on a joint that reads a body."""
    found = []
    for kind in kinds:
        mech = random_mechanism(np.random.default_rng(9), 5, ("revolute", "spherical"))
        system = (balls() if kind is not Lean else mech).assemble().with_forces([kind()])
        state = random_state(np.random.default_rng(5), system)
        found.append(traced(system, state))
    np.testing.assert_allclose(found[0], found[-1], rtol=0.0, atol=ROUNDING * abs(found[0]).max())


@pytest.mark.parametrize(
    "method", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(tolerance=1e-13)]
)
def test_traced_efforts(method):
    mech = random_mechanism(np.random.default_rng(15), 4, ("revolute", "spherical"))
    system = mech.assemble()
    state = random_state(np.random.default_rng(16), system)

    def tau(t, q, v):
        return -0.1 * v * abs(v) - np.cos(q[: v.size]) * t

    traced(system, state, ["bodies.body2.mass"], tau=tau, integrator=method)


class Stop(mb.Force):
    """A stop of a hinge, and a drag that has no derivative where all rests."""

    joints = ("joint1",)

    def __init__(self):
        super().__init__("stop")

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -3.0 * np.linalg.norm(v) * v
        if q[0] > 0.1:
            out[0] -= 40.0 * (q[0] - 0.1) ** 3


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_branches_and_states_without_a_derivative(side, speed):
    """Where what is traced divides by zero, differences take its place at this state alone."""
    mech = random_mechanism(np.random.default_rng(13), 3, ("revolute",))
    system = mech.assemble().with_forces([Stop()])
    q = np.full(3, 0.1 + 0.2 * side)
    base = run_of(system, q, speed * np.array([0.3, -0.5, 0.7]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", mb.ForceDerivativeWarning)
        found = mb.sensitivities(base, by=["q", "v"])
        assert np.isfinite(found.q["q"]).all()
        assert_adjoint(base, found, rtol=ROUNDING if speed else LEFT)


class Long(Push):
    """One with more operations than are worth a trace."""

    def evaluate(self, t, q, v, poses, twists, out):
        x = np.linspace(0.0, 1.0, 140)
        out[:] = -self.gain * np.cos(np.outer(x, x * q) + x).mean() * v


def test_long_forces_have_differences():
    mech = random_mechanism(np.random.default_rng(13), 3, ("revolute",))
    system = mech.assemble().with_forces([Long("push", 3.0)])
    with pytest.warns(mb.ForceDerivativeWarning, match="too many"):
        adjoint_of(system, random_state(np.random.default_rng(14), system))


def test_a_force_that_changes_is_traced_again():
    found = []
    for gains in ((0.1, 40.0), (40.0, 40.0)):
        mech = random_mechanism(np.random.default_rng(13), 3, ("revolute",))
        force = Push("push")
        system = mech.assemble().with_forces([force])
        state = random_state(np.random.default_rng(14), system)
        for gain in gains:
            force.gain = gain
            gradient = traced(system, state)
        found.append(gradient)
    np.testing.assert_allclose(*found, rtol=0.0, atol=ROUNDING * np.abs(found[0]).max())


def opaque_efforts(t, q, v):
    return [-math.fsum([0.1 * x * abs(x), y * t]) for x, y in zip(v, q, strict=False)]


def test_efforts_of_a_function_that_cannot_be_traced_are_differences():
    mech = random_mechanism(np.random.default_rng(15), 4, ("revolute", "spherical"))
    system = mech.assemble()
    state = random_state(np.random.default_rng(16), system)
    base = run_of(system, state.q, state.v, tau=opaque_efforts)
    found = mb.sensitivities(base, by=["q", "v", "bodies.body2.mass"])
    assert_adjoint(base, found, rtol=LEFT)


@pytest.mark.parametrize("kind", ["given", "by differences"])
def test_what_a_force_raises_is_told_with_its_name(kind):
    visited, known = set(), set()

    class Breaks(Push):
        """Where it has not been in the run, which is where differences are taken."""

        def evaluate(self, t, q, v, poses, twists, out):
            if not known:
                visited.add(q.item())
            elif q.item() not in known:
                raise ZeroDivisionError("no more")
            super().evaluate(t, q, v, poses, twists, out)

    class Fails(Push):
        def derivatives(self, t, q, v, poses, twists):
            raise ZeroDivisionError("no more")

    mech = random_mechanism(np.random.default_rng(13), 3, ("revolute",))
    force = (Fails if kind == "given" else Breaks)("push")
    system = mech.assemble().with_forces([force])
    state = random_state(np.random.default_rng(14), system)
    run = run_of(system, state.q, state.v)
    known.update(visited)
    with pytest.raises(ZeroDivisionError, match="no more") as caught:
        mb.gradient(run, loss, ["q"])
    assert "force 'push'" in "".join(caught.value.__notes__)


def test_it_is_said_that_differences_are_taken():
    mech = random_mechanism(np.random.default_rng(13), 3, ("revolute",))
    system = mech.assemble().with_forces([OpaquePush("push"), KnownPush("known")])
    state = random_state(np.random.default_rng(14), system)
    run = run_of(system, state.q, state.v)
    with pytest.warns(mb.ForceDerivativeWarning, match="'push'") as caught:
        mb.gradient(run, loss, ["q"])
    assert not any("'known'" in str(each.message) for each in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mb.gradient(run, loss, ["q"])
