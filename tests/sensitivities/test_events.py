"""Derivatives of runs whose events stop them or reset their state: differences, closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.errors import UsageError
from tests.constraints.closed_mechanisms import four_bar
from tests.sensitivities.differences import assert_adjoint, assert_same
from tests.sensitivities.test_closed_runs import Closed
from tests.trees import random_mechanism, random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: Times of events are found to rounding, so that differences do not see it.
EXACT = {"tolerance": 0.0}

METHODS = (mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(0.8, tolerance=1e-14))

INDEX3 = mb.GeneralizedAlpha(0.8, tolerance=1e-14, formulation="index3")


def ball(*events, h=1e-2, height=1.0, **options):
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(0.2, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("height"), mech.world, body)
    return mb.simulate(mech.assemble(), (0.0, 1.0), h, q=[height], events=events, **options)


def test_a_ball_that_bounces():
    """It hits the floor at t1 = sqrt(2 h / g) with u = sqrt(2 g h), and leaves it with e u."""
    e, g, t1, u = 0.8, 9.81, np.sqrt(2.0 / 9.81), np.sqrt(2.0 * 9.81)
    floor = mb.Event("floor", "height", direction="falling", reset=mb.Impact(e))
    apex = mb.Event("apex", mb.JointVelocity("height"), direction="falling")
    times = np.linspace(0.0, 1.0, 29)
    for options in ({}, {"save_at": times}):
        run = ball(floor, apex, **options)
        found = mb.sensitivities(run, by=["q", "v", "gravity"])
        assert np.abs(found.events["q"].ravel() - [1 / u, 1 / u + e / u]).max() < 1e-10
        assert np.abs(found.events["v"].ravel() - [1 / g, 1 / g]).max() < 1e-10
        late = run.t > t1
        # v = e u - g (t - t1), q its integral
        by_v = np.where(late, e * g / u + g / u, 0.0)
        by_q = np.where(late, (e * g / u + g / u) * (run.t - t1) - e * u / u, 1.0)
        assert np.abs(found.v["q"].ravel() - by_v).max() < 1e-9
        assert np.abs(found.q["q"].ravel() - by_q).max() < 1e-9
        assert_adjoint(run, found)


def test_the_end_of_a_run_and_its_time():
    end = mb.Event("floor", "height", direction="falling", terminal=True)
    run = ball(end)
    found = mb.sensitivities(run, by=["q", "v", "gravity"])
    assert np.abs(found.q["q"][-1]).max() < 1e-12  # it lies on the floor, whatever it fell from
    assert abs(found.v["q"][-1, 0, 0] + np.sqrt(9.81 / 2.0)) < 1e-10
    last = np.eye(run.t.size)[-1]
    fall = mb.gradient(run, lambda t, q, v: (t[-1], None, None, last), by=list(found.q))
    assert abs(fall["q"][0] - 1.0 / np.sqrt(2.0 * 9.81)) < 1e-10
    for name, each in found.events.items():
        assert np.abs(fall[name] - each[-1]).max() < 1e-13
    assert_adjoint(run, found)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=lambda each: type(each).__name__)
def test_the_impact_of_a_tree(method, terminal):
    rng = np.random.default_rng(3)
    mechanism = random_mechanism(rng, 4, ("revolute", "spherical", "free", "universal"))
    system = mechanism.assemble(mb.RelativeCoordinates(mb.Hybrid()))
    state = random_state(rng, system)
    options = {"h": 5e-3, "integrator": method, "save_at": np.linspace(0.0, 0.05, 6)}

    def run(system=system, q=state.q, v=state.v, **more):
        return mb.simulate(system, (0.0, 0.05), q=q, v=v, **options, **more)

    wall = mb.PlaneDistance("body3", point=(0.1, 0.2, 0.0), normal=(1, 2, 3.0))
    free = mb.simulate(system, (0.0, 0.05), 5e-3, q=state.q, v=state.v, integrator=method)
    there = [wall.value(system, 0.0, q, v) for q, v in zip(free.q, free.v, strict=True)]
    wall = mb.PlaneDistance(
        "body3", (0.1, 0.2, 0.0), (1, 2, 3.0), offset=0.6 * there[4] + 0.4 * there[5]
    )
    direction = "falling" if there[5] < there[4] else "rising"
    reset = mb.Impact(0.6)
    hit = mb.Event("hit", wall, direction=direction, terminal=terminal, reset=reset, **EXACT)
    level = 0.5 * float(free.q[2:4, system.position_slice("joint3")].sum())
    turn = mb.Event("turn", mb.JointPosition("joint3", level=level))
    options["events"] = [hit] if terminal else [hit, turn]
    base = run()
    assert "hit" in base.events.names
    name = "bodies.body2.mass"
    found = mb.sensitivities(base, by=["q", "v", "tau", name])
    unit, mass = np.eye(system.nv), system.parameters[name]
    changes = {
        ("q", 6): lambda e: run(q=system.retract(state.q, e * unit[6])),
        ("v", 3): lambda e: run(v=state.v + e * unit[3]),
        ("tau", 5): lambda e: run(tau=e * unit[5]),
        (name, ()): lambda e: run(system.with_parameters({name: mass + e})),
    }
    for (name, entry), change in changes.items():
        assert_same(system, base, found, name, entry, change, h=1e-3, rtol=1e-10)
        later, earlier = change(1e-4).events.t, change(-1e-4).events.t
        times = found.events[name][(..., *([entry] if entry != () else []))]
        assert np.abs((later - earlier) / 2e-4 - times).max() < 1e-6 * max(1.0, np.abs(times).max())
    assert_adjoint(base, found)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [*METHODS, INDEX3], ids=("Munthe-Kaas", "generalized-alpha", "index 3")
)
def test_a_stop_of_a_four_bar(method):
    stop = mb.Event("stop", mb.JointPosition("A", level=0.1265), direction="rising",
                    reset=mb.Impact(0.5), **EXACT)  # fmt: skip
    closed = Closed(four_bar(), [3.0, 0, 0], h=1e-2, events=[stop], integrator=method)
    assert abs(closed.run(0.0).events.t[0] - 0.045) < 1e-3
    # in index 3 velocities have the rounding of positions by h, and differences by theirs besides
    rtol = 1e-8 if method is INDEX3 else 1e-9
    closed.assert_same([("bodies.rod 1.mass", 0)], rtol)


@pytest.mark.slow
def test_output_times_in_index_3_where_velocities_are_off_the_constraints():
    """They are brought back before the part of a step that leads to them."""
    times = [0.0, 0.012, 0.0275, 0.06]
    closed = Closed(four_bar(), [3.0, 0, 0], h=1e-2, save_at=times, integrator=INDEX3)
    closed.assert_same([("bodies.rod 1.mass", 0)], rtol=1e-8)  # see the stop of a four-bar


@pytest.mark.slow
def test_resets_by_functions_of_time_beside_a_prescribed_joint():
    mech = mb.Mechanism("cart", gravity=(0, 0, -9.81))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(1.0, size=(1, 1, 1))))
    rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.from_com(2.0, (0.1, 0, -0.5), np.eye(3))))
    drive = mb.PrismaticJoint("drive", axis=(1, 0, 0))
    mech.add_joint(drive, mech.world, cart)
    mech.add_joint(mb.SphericalJoint("ball"), cart, rod)
    drive.prescribe(lambda t: np.sin(3.0 * t))
    system = mech.assemble()

    def reset(t, q, v):
        q, v = system.retract(q, np.array([0.0, 0.1 * t, 0.0, 0.2 * v[0]])), v * (1.0 - t)
        return q, v

    event = mb.Event("kick", lambda t, q, v: q[2] + 0.1 * v[3] + t * q[0] + 0.0287, reset=reset,
                     **EXACT)  # fmt: skip

    def run(q, v):
        return mb.simulate(system, (0.0, 0.3), 1e-2, q=q, v=v, events=[event])

    q, v = system.start_of_tree(0.0)
    v = np.array([0.0, 0.3, 1.0, -0.5])
    base = run(q, v)
    assert len(base.events) == 1
    found = mb.sensitivities(base, by=["q", "v"])
    unit = np.eye(4)
    for k in (1, 2, 3):
        change = lambda e, k=k: run(system.retract(q, e * unit[k]), v)  # noqa: E731
        assert_same(system, base, found, "q", k, change, h=2e-4, rtol=1e-8)
        change = lambda e, k=k: run(q, v + e * unit[k])  # noqa: E731
        assert_same(system, base, found, "v", k, change, h=2e-4, rtol=1e-8)
    assert_adjoint(base, found)


def test_events_without_derivatives_are_refused():
    floor = mb.Event("floor", "height", direction="falling", reset=mb.Impact(0.8))
    other = mb.Event("second", "height", direction="falling", reset=mb.Impact(0.8))
    with pytest.raises(UsageError, match="'floor' and 'second' happen at once"):
        mb.sensitivities(ball(floor, other), by=["q"])
    graze = mb.Event("graze", lambda t, q, v: (q[0] - 0.5) ** 3, terminal=True)
    with pytest.raises(UsageError, match="'graze' only touches"):
        mb.sensitivities(ball(graze), by=["q"])
