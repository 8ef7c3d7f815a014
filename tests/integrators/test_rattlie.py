"""RATTLie: orders, invariants over long runs, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.variational_integrators.newton import is_rounding
from tests.integrators.motions import motion, orders
from tests.integrators.rattle_in_python import RattleInPython

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


@pytest.mark.some(3)
@pytest.mark.parametrize("name", ["ball top", "loop top", "fast loop top", "four-bar", "arm"])
def test_order_is_two(name: str) -> None:
    """Of q, v and the mean multipliers, where masses depend on the configuration too."""
    found = orders(name, mb.RATTLie(), [400, 566, 800, 1131])
    assert found == pytest.approx(dict.fromkeys(found, 2.0), abs=0.02)


@pytest.mark.parametrize("name", ["loop top", "arm"])
def test_a_method_in_python_says_the_same(name: str) -> None:
    """The equations of a step, written with the protocol alone and solved by differences."""
    system, q, v, _ = motion(name)
    one, other = (
        mb.simulate(system, (0.0, 0.02), 2e-3, q=q, v=v, integrator=each, progress=False)
        for each in (mb.RATTLie(), RattleInPython())
    )
    assert np.allclose(one.q, other.q, rtol=0, atol=1e-13)
    assert np.allclose(one.v, other.v, rtol=0, atol=1e-11)
    if system.num_velocity_constraints:
        assert np.allclose(one.multipliers, other.multipliers, rtol=0, atol=1e-8)


def test_energy_of_the_fast_top() -> None:
    """1e-4 of it at most for steps of 1 ms, falling with h^2."""
    system, q, v, _ = motion("fast ball top")
    errors = []
    for h in (1e-3, 5e-4):
        run = mb.simulate(
            system, (0.0, 2.0), h, q=q, v=v, integrator=mb.RATTLie(), save_every=10, progress=False
        )
        errors.append(float(np.abs(run.energy_drift).max() / run.energy[0]))
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def _means(run: mb.Result) -> float:
    """How the first and the last tenth of a run differ in energy, by its amplitude."""
    drift = run.energy_drift
    tenth = len(drift) // 10
    return float(abs(drift[:tenth].mean() - drift[-tenth:].mean()) / np.ptp(drift))


@pytest.mark.long
@pytest.mark.slow
def test_energy_does_not_drift_in_a_million_steps() -> None:
    system, q, v, _ = motion("fast ball top")
    run = mb.simulate(
        system, (0.0, 1000.0), 1e-3, q=q, v=v, integrator=mb.RATTLie(), save_every=7,
        progress=False,
    )  # fmt: skip
    assert np.abs(run.energy_drift).max() < 1e-4 * run.energy[0]
    assert _means(run) < 0.01


def test_momentum_about_the_vertical_stays() -> None:
    """Gravity has no moment about it; Noether's theorem holds for the discrete motion."""
    system, q, v, _ = motion("ball top")
    run = mb.simulate(system, (0.0, 20.0), 1e-2, q=q, v=v, integrator=mb.RATTLie(), progress=False)
    about_vertical = system.momentum(run.q, run.v)[:, 2]
    assert np.ptp(about_vertical) < 1e-11


@pytest.mark.parametrize("name", ["loop top", "arm", "four-bar"])
def test_steps_can_be_taken_back(name: str) -> None:
    """With the velocity turned round the motion returns to where it began."""
    system, q, v, _ = motion(name)
    options: dict[str, Any] = {"integrator": mb.RATTLie(), "progress": False, "save_every": 100}
    there = mb.simulate(system, (0.0, 0.5), 5e-3, q=q, v=v, **options)
    back = mb.simulate(system, (0.0, 0.5), 5e-3, q=there.q[-1], v=-there.v[-1], **options)
    assert np.abs(system.difference(q, back.q[-1])).max() < 1e-9
    assert np.abs(back.v[-1] + v).max() < 1e-8


def test_constraints_hold() -> None:
    """Of positions and velocities, to rounding, where three of five are redundant."""
    run = motion("four-bar").run(mb.RATTLie(), 200, save_every=1)
    assert run.residuals[:, 0].max() < 1e-13
    assert run.residuals[:, 1].max() < 1e-12


def test_cuts_and_events() -> None:
    """Steps have the same bits however they are cut; an event ends a run where it is."""
    system, q, v, _ = motion("loop top")
    options: dict[str, Any] = {"q": q, "v": v, "integrator": mb.RATTLie(), "progress": False}
    whole = mb.simulate(system, (0.0, 0.1), 1e-3, save_every=3, **options)
    times = [0.003 * k for k in range(1, 34)]
    cut = mb.simulate(system, (0.0, 0.1), 1e-3, save_at=times, **options)
    assert np.array_equal(whole.q[1:34], cut.q[: len(times)])
    event = mb.Event("moment", lambda t, q, v: t - 0.03456, terminal=True)
    ended = mb.simulate(system, (0.0, 0.1), 1e-3, events=[event], **options)
    assert ended.t[-1] == pytest.approx(0.03456, abs=1e-11)


def test_multipliers_of_the_last_row_are_those_of_its_time() -> None:
    """Also where save_every does not divide the steps: they are then found from the state."""
    system, q, v, _ = motion("loop top")
    options: dict[str, Any] = {"q": q, "v": v, "integrator": mb.RATTLie(), "progress": False}
    every = mb.simulate(system, (0.0, 0.5), 5e-3, **options)
    some = mb.simulate(system, (0.0, 0.5), 5e-3, save_every=30, **options)
    assert np.abs(some.multipliers[-1] - every.multipliers[-1]).max() < 0.02
    assert np.abs(every.multipliers[90] - every.multipliers[-1]).max() > 1.0


def test_far_from_the_origin() -> None:
    """Places of 1 km have the rounding of 1 km, and steps are solved to that."""
    mech = mb.Mechanism("dock")
    ball = mb.SpatialInertia.sphere(10.0, radius=1.0)
    bodies = [mech.add_body(mb.Body(name, ball)) for name in "ab"]
    for body in bodies:
        mech.add_joint(mb.FreeJoint(f"free {body.name}"), mech.world, body)
    frames = (mb.spatial.translation((1, 0, 0)), mb.spatial.translation((-1, 0, 0)))
    mech.add_joint(mb.SphericalJoint("dock"), *bodies, frames=frames)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["dock"]))
    ends = []
    for x in (0.0, 1000.0):
        q = [1, 0, 0, 0, x, 0, 0, 1, 0, 0, 0, x + 2, 0, 0]
        v = [0, 0, 0.1, 0, 0.1, 0, 0, 0, -0.1, 0, 0.1, 0]
        run = mb.simulate(
            system, (0.0, 0.2), 1e-3, q=q, v=system.close_loops(q, v)[1], integrator=mb.RATTLie(),
            progress=False,
        )  # fmt: skip
        ends.append(run.v[-1])
    assert np.abs(ends[1] - ends[0]).max() < 1e-8


def test_nothing_that_moves() -> None:
    """A mechanism without velocities has a result."""
    mech = mb.Mechanism("still", gravity=(0, 0, -9.81))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FixedJoint("weld"), mech.world, body)
    run = mb.simulate(mech.assemble(), (0, 1), 0.1, integrator=mb.RATTLie(), progress=False)
    assert run.completed
    assert run.v.shape == (11, 0)


def test_a_constant_effort_has_a_potential() -> None:
    """What it supplies is f times the angle, and with it the energy balance has no drift."""
    motor = mb.JointEffort("motor", "hinge", effort=2.0)
    system = _pendulum(forces=[motor])
    options: dict[str, Any] = {"integrator": mb.RATTLie(), "progress": False}
    errors = []
    for h in (1e-2, 5e-3):
        run = mb.simulate(system, (0.0, 20.0), h, **options)
        errors.append(np.abs(run.energy_balance).max())
        assert np.allclose(run.supplied_energy, 2.0 * (run.q[:, 0] - run.q[0, 0]), atol=1e-12)
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def _pendulum(**parts: Any) -> mb.System:
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    joint = mb.RevoluteJoint("hinge", axis=(0, 1, 0))
    moved = parts.get("prescribed")
    mech.add_joint(joint.prescribe(moved) if moved else joint, mech.world, bob)
    for force in parts.get("forces", ()):
        mech.add_force(force)
    return mech.assemble()


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (
            lambda: _pendulum(forces=[mb.JointDamper("oil", "hinge", damping=1.0)]), {},
            "RATTLie takes forces with a potential alone, and force 'oil'",
        ),
        (
            lambda: _pendulum(
                forces=[
                    mb.LimitStop("stop", "hinge", lower=-1.0, upper=1.0, stiffness=9.0, damping=1.0)
                ]
            ),
            {}, "force 'stop' of system 'pendulum' is not conservative",
        ),
        (
            lambda: _pendulum(
                forces=[mb.JointEffort("motor", "hinge", effort=[0.0, 1.0], times=[0.0, 1.0])]
            ),
            {}, "force 'motor' of system 'pendulum' has no potential_energy",
        ),
        (_pendulum, {"tau": [1.0]}, "and tau was given"),
        (lambda: _pendulum(prescribed=np.sin), {}, "RATTLie does not take prescribed joints"),
    ],
)  # fmt: skip
def test_what_has_no_potential_is_refused(system: Any, options: Any, message: str) -> None:
    with pytest.raises(mb.UsageError, match=message):
        mb.simulate(system(), (0.0, 1.0), 1e-2, integrator=mb.RATTLie(), progress=False, **options)


def test_rolling_is_refused() -> None:
    """Its rows are of velocity level alone: there is no action that has them."""
    mech = mb.Mechanism("disc", gravity=(0, 0, -9.81))
    disc = mech.add_body(mb.Body("disc", mb.SpatialInertia.cylinder(1.0, radius=0.3, length=0.1)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, disc)
    mech.add_constraint(mb.RollingDisc("ground", "world", "disc", radius=0.3, axis=(0, 1, 0)))
    system, q = mech.assemble(), [1, 0, 0, 0, 0, 0, 0.3]
    with pytest.raises(mb.UsageError, match="RATTLie takes constraints of positions"):
        mb.simulate(system, (0.0, 1.0), 1e-2, q=q, integrator=mb.RATTLie(), progress=False)


@pytest.mark.parametrize("part", [0.4, 1e-3, 1e-8])
def test_corrections_that_change_nothing_end_the_iteration(part: float) -> None:
    """They may shrink by the same part down to the smallest numbers, and never become zero."""
    rounding = 1e-13
    size, before = 1e-9, np.inf
    while not is_rounding(size, before, rounding):
        assert size > 1e-30 * rounding
        size, before = part * size, size
    assert size <= rounding
    assert not is_rounding(1e-14, 1e-9, rounding)  # it still helps
    assert is_rounding(1e-14, 1.1e-14, rounding)  # no more
    assert not is_rounding(np.nan, 1.0, rounding)
