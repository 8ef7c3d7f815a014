"""The standard problems with constraints are what they are said to be."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import mbkit as mb
from mbkit.testing.constrained_problems import (
    CONSTRAINED_PROBLEMS,
    FAST_TOPS,
    FAST_TOPS_ON_LOOPS,
)
from mbkit.testing.standard_problems import STANDARD_PROBLEMS

HEAVY_TOP = json.loads((pathlib.Path(__file__).parents[1] / "data" / "heavy_top.json").read_text())

SLOW_TOP = STANDARD_PROBLEMS[1]
FREE, SHIFTED, FOUR_BAR = CONSTRAINED_PROBLEMS


def poses(problem):
    run = problem.solution
    return problem.system.poses(run.q)[:, 1]


@pytest.mark.parametrize("problem", [FAST_TOPS[0], *FAST_TOPS_ON_LOOPS], ids=lambda p: p.name)
def test_the_fast_top_moves_as_published(problem):
    """Place and spin at t = 0.25 s and 0.5 s against a Taylor series with 25 digits."""
    exact = {sample["t"]: sample for sample in HEAVY_TOP["samples"]}
    run = problem.solution
    for row in (4, 8):
        sample = exact[round(float(run.t[row]), 9)]
        T = problem.system.poses(run.q[row])[1]
        assert np.abs(T[:3, 1] - sample["x"]).max() < 2e-11  # the centre of mass is at (0, 1, 0)
        twist = problem.system.twists(run.q[row], run.v[row])[1]
        assert np.abs(twist[:3] - sample["spin"]).max() < 2e-10


@pytest.mark.parametrize("problem", FAST_TOPS_ON_LOOPS, ids=lambda p: p.name)
def test_the_ball_joint_holds_the_fast_top_as_published(problem):
    """The reaction from the multipliers, in the axes of the world, against the same series."""
    exact = {sample["t"]: sample for sample in HEAVY_TOP["samples"]}
    run = problem.solution
    force = problem.system.reaction(
        "tip", run.q[8], run.v[8], vdot=np.zeros(6), multipliers=run.multipliers[8]
    )
    assert np.abs(force[3:] - exact[0.5]["reaction"]).max() < 1e-7


@pytest.mark.parametrize("problem", [FREE, SHIFTED], ids=lambda p: p.name)
def test_a_top_on_a_loop_moves_as_on_a_ball_joint(problem):
    """With six coordinates and three rows as with three: the pose at the same time."""
    on_ball = SLOW_TOP.run(mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 4096)
    run = problem.run(
        mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 4096,
        save_at=[SLOW_TOP.end], save_every=1,
    )  # fmt: skip
    found = problem.system.poses(run.q[-1])[1]
    assert np.abs(found - SLOW_TOP.system.poses(on_ball.q[-1])[1]).max() < 1e-11


def test_the_four_bar_has_one_freedom_and_full_rank():
    """Far from singular all the way, in whatever joints."""
    system, run = FOUR_BAR.system, FOUR_BAR.solution
    for q in run.q:
        sizes = np.linalg.svd(system.constraint_jacobian(q))[1]
        assert len(sizes) == 3 == system.nv - 1
        assert sizes[-1] > 0.1
    assert np.abs(run.energy_drift).max() < 1e-11 * run.kinetic_energy.max()


@pytest.mark.parametrize("problem", CONSTRAINED_PROBLEMS, ids=lambda p: p.name)
def test_solutions_are_exact_to_rounding(problem):
    """Half as many steps lead to the same motion, and multipliers."""
    half = problem.sampled(mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 2048)
    assert max(problem.errors(half)) < 2e-13
