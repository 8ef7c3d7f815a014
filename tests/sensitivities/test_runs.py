"""Derivatives of runs against differences of runs, forward against the adjoint, closed forms."""

from __future__ import annotations

import gc

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.errors import ShapeError, UsageError
from mbkit.lie import SE3
from mbkit.sensitivities.passes.forces import closed_form_parameters
from mbkit.systems.derivatives import parameter_moves
from tests.sensitivities.differences import assert_adjoint, assert_same
from tests.trees import random_inertia, random_mechanism, random_state

KINDS = ("revolute", "spherical", "free", "helical", "planar", "composite", "universal")


def tree(representation=None):
    rng = np.random.default_rng(3)
    mechanism = random_mechanism(rng, 7, KINDS)
    system = mechanism.assemble(mb.RelativeCoordinates(representation or mb.BodyFixed()))
    return system, random_state(rng, system)


@pytest.mark.slow
def test_a_tree_of_joints_with_several_velocities():
    system, state = tree()

    def run(system=system, q=state.q, v=state.v, tau=state.tau):
        return mb.simulate(system, (0.0, 0.1), 5e-3, q=q, v=v, tau=tau, save_every=6)

    pitch = next(name for name in system.parameters if name.endswith("pitch"))
    names = ("bodies.body3.mass", "joints.joint2.S_pred", pitch)
    values = [system.parameters[name] for name in names]
    base = run()
    found = mb.sensitivities(base, by=["q", "v", "tau", *names])
    unit, twist = np.eye(system.nv), np.eye(6)[4]
    changes = {
        ("q", 6): lambda e: run(q=system.retract(state.q, e * unit[6])),
        ("q", 9): lambda e: run(q=system.retract(state.q, e * unit[9])),
        ("v", 3): lambda e: run(v=state.v + e * unit[3]),
        ("tau", 5): lambda e: run(tau=state.tau + e * unit[5]),
        (names[0], ()): lambda e: run(system.with_parameters({names[0]: values[0] + e})),
        (names[1], 4): lambda e: run(
            system.with_parameters({names[1]: values[1] @ SE3.exp(e * twist)})
        ),
        (pitch, ()): lambda e: run(system.with_parameters({pitch: values[2] + e})),
    }
    for (name, entry), change in changes.items():
        assert_same(system, base, found, name, entry, change)
    assert_adjoint(base, found)


@pytest.mark.parametrize(
    "representation", [mb.Spatial(), mb.Hybrid(), mb.Mixed()], ids=lambda each: each.name
)
def test_no_representation_is_another_derivative(representation):
    found = []
    for each in (representation, mb.BodyFixed()):
        system, state = tree(each)
        run = mb.simulate(system, (0.0, 0.02), 5e-3, q=state.q, v=state.v, tau=state.tau)
        found.append(mb.sensitivities(run, by=["q", "v", "bodies.body2.com"]))
    for name in found[0].q:
        size = np.abs(found[1].v[name]).max()
        assert np.abs(found[0].q[name] - found[1].q[name]).max() < 1e-11 * size
        assert np.abs(found[0].v[name] - found[1].v[name]).max() < 1e-11 * size


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(0.8, tolerance=1e-14)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_efforts_that_a_function_gives(method):
    rng = np.random.default_rng(3)
    system = random_mechanism(rng, 3, ("revolute", "spherical", "universal")).assemble()
    state, K = random_state(rng, system), rng.normal(size=(6, 6))

    def tau(t, q, v):
        return np.sin(30.0 * t) + K @ np.sin(v) + 2.0 * np.cos(q[:6])

    def run(q=state.q, v=state.v):
        return mb.simulate(system, (0.0, 0.05), 1e-2, q=q, v=v, tau=tau, integrator=method)

    base, unit = run(), np.eye(system.nv)
    found = mb.sensitivities(base, by=["q", "v", "bodies.body1.mass"])
    for k in (0, 4):
        change = lambda e, k=k: run(q=system.retract(state.q, e * unit[k]))  # noqa: E731
        assert_same(system, base, found, "q", k, change)
        change = lambda e, k=k: run(v=state.v + e * unit[k])  # noqa: E731
        assert_same(system, base, found, "v", k, change)
    assert_adjoint(base, found)


def test_forces_and_joints_that_are_turned_round():
    rng = np.random.default_rng(5)
    kinds = ("revolute", "universal", "spherical")
    mechanism = random_mechanism(rng, 3, kinds, turned_round=1.0, reach=1)
    spring = mb.SpringDamper(
        "spring", "world", "body2", stiffness=30.0, damping=0.4, point_a=(0.5, 0.4, 0.3)
    )
    mechanism.add_force(spring)
    mechanism.add_force(attrs.evolve(spring, name="other", body_a="body0", rest_length=0.2,
                                     point_b=(0.1, -0.2, 0.3)))  # fmt: skip
    mechanism.add_force(mb.Drag("drag", "body1", quadratic=0.3))  # which the adjoint calls
    system = mechanism.assemble()
    state = random_state(rng, system)

    def run(v=state.v, system=system):
        return mb.simulate(system, (0.0, 0.02), 5e-3, q=state.q, v=v)

    base, unit = run(), np.eye(system.nv)[2]
    fields = ("stiffness", "rest_length", "damping", "point_a", "point_b")
    numbers = [f"forces.{name}.{field}" for name in ("spring", "other") for field in fields]
    found = mb.sensitivities(base, by=["q", "v", *numbers, "bodies.body1.mass"])
    assert_same(system, base, found, "v", 2, lambda e: run(state.v + e * unit))
    assert_adjoint(base, found)


@pytest.mark.compiled
def test_bushings_and_drags_on_the_world_and_across_branches():
    """The adjoint takes them along, by the state and by all of their parameters."""
    rng = np.random.default_rng(2)
    mechanism = random_mechanism(rng, 6, ("spherical", "revolute", "universal"), turned_round=0.5)
    for k, bodies in enumerate((("body0", "body3"), ("world", "body5"), ("body4", "body1"))):
        frame_a, frame_b = (SE3.exp(0.5 * x) for x in rng.normal(size=(2, 6)))
        stiffness, damping = rng.uniform(1.0, 5.0, 6), rng.uniform(0.1, 0.5, 6)
        mechanism.add_force(
            mb.Bushing(
                f"mount{k}", *bodies, stiffness=stiffness, damping=damping,
                frame_a=frame_a, frame_b=frame_b,
            )
        )  # fmt: skip
    tool = mechanism.add_body(mb.Body("tool", random_inertia(rng)))
    frames = tuple(SE3.exp(rng.normal(size=(2, 6))))
    mechanism.add_joint(mb.FixedJoint("flange"), "body2", tool, frames=frames)
    for k, body in enumerate(("tool", "body0", "world")):
        numbers = rng.uniform(0.1, 0.5, 4)
        point, wind = rng.normal(size=(2, 3))
        mechanism.add_force(mb.Drag(f"drag{k}", body, *numbers[:2], point, wind, *numbers[2:]))
    system = mechanism.assemble()
    state = random_state(rng, system)

    def run(q=state.q):
        return mb.simulate(system, (0.0, 0.02), 5e-3, q=q, v=state.v)

    base, unit = run(), np.eye(system.ndx)[1]
    numbers = [name for name in system.parameters if name.startswith("forces.")]
    assert set(closed_form_parameters(system, numbers)) == set(numbers)
    found = mb.sensitivities(base, by=["q", "v", *numbers, "bodies.body1.mass"])
    assert_same(system, base, found, "q", 1, lambda e: run(system.retract(state.q, e * unit)))
    assert_adjoint(base, found)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(0.8, tolerance=1e-14)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_efforts_that_change_between_steps(method):
    """With an event that resets the state in one of their parts."""
    rng = np.random.default_rng(3)
    system = random_mechanism(rng, 3, ("revolute", "spherical", "universal")).assemble()
    state, values = random_state(rng, system), 3.0 * rng.normal(size=(4, system.nv))
    span = (0.1, 0.18)
    kick = mb.Event("kick", lambda t, q, v: t - 0.134 + 0.01 * v[0], tolerance=0.0,
                    reset=lambda t, q, v: (q, 0.5 * v + 0.1 * np.sin(v)))  # fmt: skip

    def run(values, **options):
        tau = mb.PiecewiseEfforts(values, span)
        return mb.simulate(
            system, span, 1e-2, q=state.q, v=state.v, tau=tau, integrator=method, **options
        )

    for events in ([], [kick]):
        base = run(values, events=events)
        assert len(base.events) == len(events)
        found = mb.sensitivities(base, by=["q", "tau", "bodies.body1.mass"])
        for entry in ((0, 1), (1, 3), (2, 0), (3, 4)):
            unit = np.zeros(values.shape)
            unit[entry] = 1.0
            change = lambda e, unit=unit: run(values + e * unit, events=events)  # noqa: E731, B023
            assert_same(system, base, found, "tau", entry, change, h=1e-2, rtol=1e-10)
        assert_adjoint(base, found)
    q, v = state.q, state.v
    for k, tau in enumerate(values):  # a run is that of its parts
        t = 0.1 + 0.02 * k
        part = mb.simulate(system, (t, t + 0.02), 1e-2, q=q, v=v, tau=tau, integrator=method)
        q, v = part.q[-1], part.v[-1]
    if isinstance(method, mb.RungeKuttaMuntheKaas):  # which remembers nothing
        assert np.abs(q - run(values).q[-1]).max() < 1e-14


def test_piecewise_efforts_that_do_not_fit_are_refused():
    system, _ = tree()
    for values, span, words in (
        (np.zeros((3, system.nv)), (0.0, 0.1), "multiple"),
        (np.zeros((2, system.nv)), (0.0, 0.2), "same span"),
        (np.zeros((2, 1)), (0.0, 0.1), "entries in each row"),
    ):
        tau = mb.PiecewiseEfforts(values, span)
        with pytest.raises((UsageError, ShapeError), match=words):
            mb.simulate(system, (0.0, 0.1), 1e-2, tau=tau)


def test_systems_with_other_numbers_are_kept_no_longer_than_a_call():
    """There may be thousands of them, each as large as the system."""
    system = random_mechanism(np.random.default_rng(1), 4).assemble()
    run = mb.simulate(system, (0.0, 0.02), 5e-3, progress=False)
    by = [name for name in system.parameters if name.startswith("joints.")]
    mb.sensitivities(run, by=by)
    gc.collect()
    assert system not in parameter_moves._KEPT
