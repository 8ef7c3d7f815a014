"""Events and output times within steps of implicit methods, which parts of any size lead to."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from mbkit.sparsity import step_blocks
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from tests.sparsity.test_block_matrix import ladder

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

each_formulation = pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])
each_problem = pytest.mark.parametrize("number", [1, 2], ids=["top", "four-bar"])
each_grid = pytest.mark.parametrize("h", [2e-3, 2e-2])

#: After a grid point, from where a part of a step leads to a moment.
OFFSETS = (1e-14, 1e-11, 1e-8, 1e-5)


def careful(rtol, formulation, start="second order"):
    return mb.GeneralizedAlpha(rtol=rtol, formulation=formulation, start=start)


def run(number, h, integrator, end=0.1, **options):
    problem = CONSTRAINED_PROBLEMS[number]
    return mb.simulate(
        problem.system, (0.0, end), h, v=problem.velocity, integrator=integrator, progress=False,
        **options,
    )  # fmt: skip


@functools.cache
def exact(number, *times):
    """The motion at those times."""
    method = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8, rtol=1e-11)
    return run(number, 2e-3, method, save_at=times)


def at(time):
    """An event that is recorded then."""
    return mb.Event("then", lambda t, q, v: t - time)


@pytest.mark.some(5)
@each_problem
@each_grid
@each_formulation
@pytest.mark.parametrize("start", ["second order", "plain"])
@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_a_moment_within_a_step_is_reached(number, h, formulation, start, rtol):
    """And what is only recorded changes no bit of the motion."""
    method = careful(rtol, formulation, start)
    alone = run(number, h, method)
    rng = np.random.default_rng(3)
    events = [mb.Event(f"{t}", at(t).when) for t in rng.uniform(0.0, 0.1, 4)]
    found = run(number, h, method, events=events)
    assert len(found.events.t) == 4
    for name in ("t", "q", "v", "multipliers"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
    system = CONSTRAINED_PROBLEMS[number].system
    truth = exact(number, *found.events.t)
    for event, q, v in zip(found.events, truth.q, truth.v, strict=True):
        assert np.linalg.norm(system.difference(q, event.q)) < 40.0 * rtol ** (2 / 3)
        assert np.linalg.norm(v - event.v) < 60.0 * rtol ** (2 / 3)


@pytest.mark.some(4)
@each_problem
@each_grid
@each_formulation
@pytest.mark.parametrize("rtol", [None, 1e-4, 1e-8])
def test_rounding_does_not_grow_in_small_parts(number, h, formulation, rtol):
    """Constraints of positions over a part s leave rounding / s in velocities."""
    times = tuple(0.06 + offset for offset in OFFSETS)
    system = CONSTRAINED_PROBLEMS[number].system
    truth = exact(number, *times)
    found = run(number, h, careful(rtol, formulation), save_at=times)
    bound = 60.0 * max(h**2 if rtol is None else 0.0, (rtol or 0.0) ** (2 / 3))
    assert np.abs(found.v - truth.v).max() < bound
    for t, q, v in zip(times, found.q, found.v, strict=True):
        assert np.abs(system.constraint_jacobian(q, t) @ v).max() < 1e-6


@each_grid
@each_formulation
@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_a_motion_goes_on_after_an_impact_in_a_step(h, formulation, rtol):
    """The crank hits a stop; the rest of the step is a part too, and a start follows it."""
    stop = mb.Event(
        "stop", mb.JointPosition("motor", 0.2), direction="rising", reset=mb.Impact(0.8)
    )  # fmt: skip
    explicit = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8, rtol=1e-11)
    truth = run(2, h, explicit, events=[stop])
    found = run(2, h, careful(rtol, formulation), events=[stop])
    assert len(found.events.t) == len(truth.events.t) == 1
    assert np.abs(found.v[-1] - truth.v[-1]).max() < 60.0 * rtol ** (2 / 3)


@each_formulation
def test_multipliers_keep_to_the_tolerance_where_steps_stay(formulation):
    """At the largest step, whose ends differ by rounding, nothing comes back into multipliers."""
    for number in (1, 2):
        truth = run(number, 1e-4, mb.RungeKuttaMuntheKaas(), 0.4, save_every=20)
        found = run(number, 2e-3, careful(1e-4, formulation), 0.4)
        apart = np.abs(found.multipliers - truth.multipliers)[1:].max()
        assert apart < 4e-4 * np.abs(truth.multipliers).max()


@pytest.mark.parametrize("by_blocks", [(True, False), (True, True)])
def test_parts_may_have_another_matrix(monkeypatch, by_blocks):
    """Stabilised ones have more unknowns, and theirs may be dense where others are by blocks."""
    system = ladder(2).assemble()
    monkeypatch.setattr(step_blocks, "LARGEST_PART", 1.0)
    monkeypatch.setattr(step_blocks, "SPARED", -np.inf if all(by_blocks) else 4.0)
    for stabilised in (False, True):
        found = step_blocks.step_blocks(system.arrays, stabilised=stabilised)
        assert (found is not None) == by_blocks[stabilised]
    options = {"integrator": mb.GeneralizedAlpha(formulation="index3"), "progress": False}
    alone = mb.simulate(system, (0.0, 0.02), 1e-3, **options)
    found = mb.simulate(system, (0.0, 0.02), 1e-3, events=[at(0.0105)], **options)
    assert len(found.events.t) == 1
    np.testing.assert_array_equal(found.q, alone.q)
    np.testing.assert_array_equal(found.multipliers, alone.multipliers)
