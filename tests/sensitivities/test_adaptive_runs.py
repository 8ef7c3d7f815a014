"""Derivatives of runs whose steps are of adaptive size, which are taken as the run took them."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.sensitivities import recorded_run
from mbkit.sensitivities.recorded_run import RecordedRun
from tests.constraints.closed_mechanisms import bennett
from tests.sensitivities.differences import STEPS, WEIGHTS, assert_adjoint
from tests.trees import random_mechanism, random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

METHOD = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6)
SPAN, H = (0.1, 0.22), 0.06


def arm():
    rng = np.random.default_rng(3)
    system = random_mechanism(rng, 3, ("revolute", "spherical", "universal")).assemble()
    return system, random_state(rng, system)


def frozen(run, system, q, v, tau):
    """Return the end of single steps, with the sizes of those of a run."""
    steps = RecordedRun.of(run, by=["q"])
    spans = steps.linear.take(0, steps.count).steps.history.span
    assert len(spans) > 3 * steps.count
    assert np.ptp(spans[:, 1]) > 1e-3
    method = attrs.evolve(METHOD, rtol=None)
    for t, h in spans:
        given = tau(t, q, v) if isinstance(tau, mb.PiecewiseEfforts) else tau
        step = mb.simulate(system, (t, t + h), h, q=q, v=v, tau=given, integrator=method)
        q, v = step.q[-1], step.v[-1]
    return q, v


def alpha_steps(run, system, q, v, tau):
    """Return the end of steps of generalized-alpha, solved anew, with the sizes of those of a run.

    The acceleration at the end of a step is a fixed point of the forward dynamics.
    """
    steps = RecordedRun.of(run, by=["q"])
    taken = steps.linear.take(0, steps.count)
    c = run.origin.arguments["integrator"].numbers
    t, before, rate = SPAN[0], 0.0, 0.0
    vdot = a = system.forward_dynamics(q, v, tau(t, q, v))
    assert len(taken.sizes) > 2 * steps.count
    assert np.ptp(taken.sizes) > 1e-3
    for h in taken.sizes:
        if before:
            a = a + (c.alpha_m - c.alpha_f) * (h - before) * rate
        x = vdot
        for _ in range(12):
            next_a = ((1.0 - c.alpha_f) * x + c.alpha_f * vdot - c.alpha_m * a) / (1.0 - c.alpha_m)
            next_q = system.retract(q, h * (v + h * ((0.5 - c.beta) * a + c.beta * next_a)))
            next_v = v + h * ((1.0 - c.gamma) * a + c.gamma * next_a)
            x = system.forward_dynamics(next_q, next_v, tau(t + 0.5 * h, q, v))
        q, v, a, rate, vdot, before, t = next_q, next_v, next_a, (x - vdot) / h, x, h, t + h
    return q, v


def same_as_frozen(base, found, start, move, *, h=1e-3, rtol=1e-9, frozen=frozen):
    """Compare derivatives along `start`, by name, with differences of frozen steps."""
    system = move(0.0)[0]
    ends = [frozen(base, *move(e * h)) for e in STEPS]
    expected = [
        WEIGHTS @ [system.difference(base.q[-1], each) for each, _ in ends] / h,
        WEIGHTS @ [each - base.v[-1] for _, each in ends] / h,
    ]
    for own, other in zip((found.q, found.v), expected, strict=True):
        along = sum(np.tensordot(own[name][-1], x, np.ndim(x)) for name, x in start.items())
        assert np.abs(along - other).max() < rtol * np.abs(other).max(), list(start)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "frozen"),
    [
        pytest.param(METHOD, frozen, marks=pytest.mark.long),
        (mb.GeneralizedAlpha(0.8, start="plain", tolerance=1e-14, rtol=1e-4), alpha_steps),
    ],
    ids=["explicit", "generalized-alpha"],
)  # fmt: skip
def test_a_tree_and_efforts_that_change_between_steps(method, frozen, monkeypatch):
    system, state = arm()
    rng = np.random.default_rng(4)
    values = 3.0 * rng.normal(size=(2, system.nv))
    tau = mb.PiecewiseEfforts(values, SPAN)
    q, v, mass = state.q, state.v, system.parameters["bodies.body1.mass"]
    base = mb.simulate(system, SPAN, H, q=q, v=v, tau=tau, integrator=method)
    found = mb.sensitivities(base, by=["q", "v", "tau", "bodies.body1.mass"])
    x, w, push = (rng.normal(size=size) for size in (system.nv, system.nv, values.shape))

    def moved(e):
        """Move all inputs at once, in random directions: their derivatives add."""
        heavier = system.with_parameters({"bodies.body1.mass": mass + e})
        efforts = mb.PiecewiseEfforts(values + e * push, SPAN)
        return heavier, system.retract(q, e * x), v + e * w, efforts

    moves = {"q": x, "v": w, "tau": push, "bodies.body1.mass": 1.0}
    same_as_frozen(base, found, moves, moved, frozen=frozen)
    assert_adjoint(base, found)
    monkeypatch.setattr(recorded_run, "MOST_NUMBERS", 1)  # each interval is taken by itself
    single = mb.sensitivities(base, by=list(found.q))
    for name, expected in found.v.items():
        assert np.abs(single.v[name] - expected).max() < 1e-12 * np.abs(expected).max(), name


@pytest.mark.long
@pytest.mark.slow
def test_loops_are_closed_after_each_of_the_steps():
    system = bennett().assemble()
    q = system.close_loops(system.reference_configuration())
    u = system.close_loops(q, np.random.default_rng(1).normal(size=system.nv))[1]
    base = mb.simulate(system, SPAN, H, q=q, v=9.0 * u, integrator=METHOD)
    found = mb.sensitivities(base, by=["q", "v", "bodies.rod 2.mass"])

    def moved(e):
        q_e = system.close_loops(system.retract(q, 0.3 * e * u))
        return (system, *system.close_loops(q_e, (9.0 + e) * u), None)

    ends = [moved(1e-3 * e) for e in STEPS]
    x = WEIGHTS @ [system.difference(q, each[1]) for each in ends] / 1e-3
    w = WEIGHTS @ [each[2] - 9.0 * u for each in ends] / 1e-3
    same_as_frozen(base, found, {"q": x, "v": w}, moved, rtol=3e-9)
    assert_adjoint(base, found)


@pytest.mark.slow
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
def test_stages_of_a_closed_mechanism_are_followed_by_the_adjoint(stabilisation):
    """Where the last stage of a step is the first of the next, and where loops are closed first."""
    mech = bennett()
    joint, body = next(iter(mech.joints)), next(iter(mech.bodies))
    times, effort = np.array([0.1, 0.15, 0.3]), np.array([0.0, 3.0, -1.0])
    mech.add_force(mb.JointEffort("drive", joint, effort=effort, times=times))
    mech.add_force(mb.Drag("air", body, quadratic=0.4, point=(0.3, 0.1, 0.2)))
    system = mech.assemble()
    q = system.close_loops(system.reference_configuration())
    u = system.close_loops(q, np.random.default_rng(1).normal(size=system.nv))[1]
    run = mb.simulate(
        system, SPAN, H, q=q, v=9.0 * u, integrator=METHOD, stabilisation=stabilisation
    )
    by = ["q", "v", "gravity", "bodies.rod 2.mass", "forces.air.point", "forces.drive.effort"]
    assert_adjoint(run, mb.sensitivities(run, by=by))


@pytest.mark.long
@pytest.mark.slow
def test_many_small_steps_have_the_derivatives_of_the_motion():
    """With an impact, at a time to which the method takes steps of its own choice."""
    system, state = arm()
    free = mb.simulate(system, SPAN, 5e-3, q=state.q, v=state.v)
    entry = next(k for k in range(system.nq) if "1" in system.position_names[k])
    level = 0.5 * (free.q[8, entry] + free.q[9, entry])
    rising = free.q[9, entry] > free.q[8, entry]
    stop = mb.Event(
        "stop", mb.JointPosition(system.position_names[entry], level=level), tolerance=0.0,
        direction="rising" if rising else "falling", reset=mb.Impact(0.5),
    )  # fmt: skip
    found = []
    for options in (
        {"h": 1e-3, "save_every": 60}, {"h": H, "integrator": attrs.evolve(METHOD, rtol=1e-11)}
    ):  # fmt: skip
        run = mb.simulate(system, SPAN, q=state.q, v=state.v, events=[stop], **options)
        found.append(mb.sensitivities(run, by=["q", "v", "bodies.body1.mass"]))
        assert_adjoint(run, found[-1], rtol=1e-10)
    for name in found[0].q:
        for exact, own in zip(*((each.q, each.v, each.events) for each in found), strict=True):
            size = np.abs(exact[name]).max()
            assert np.abs(exact[name] - own[name]).max() < 1e-7 * size, name
