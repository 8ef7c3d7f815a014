"""Derivatives of runs against those of runs that another process takes with 40 digits."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb
from tests.sensitivities import closed_forty_digits
from tests.sensitivities.forty_digits import STEPS, H, directions, tree

ROOT = pathlib.Path(__file__).parents[2]


def exactly(module):
    """Return what a module writes, by name."""
    done = subprocess.run(
        [sys.executable, "-m", module], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {name: np.array(row, dtype=float) for name, row in json.loads(done.stdout).items()}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_a_run_of_a_closed_mechanism():
    """Loop, multipliers, steps and the way back to closed loops are written anew there."""
    exact = exactly("tests.sensitivities.closed_forty_digits")
    system, q, v = closed_forty_digits.linkage()
    span = (0.0, closed_forty_digits.STEPS * closed_forty_digits.H)
    run = mb.simulate(system, span, closed_forty_digits.H, q=q, v=v)
    assert np.abs(np.concatenate([run.q[-1], run.v[-1]]) - exact["end"]).max() < 1e-11
    directions = closed_forty_digits.directions()
    found = mb.sensitivities(run, by=list(directions))
    weights = np.random.default_rng(0).normal(size=6)
    by_q, by_v = np.zeros((2, len(run.t), 3))
    by_q[-1], by_v[-1] = np.split(weights, 2)
    gradient = mb.gradient(run, lambda t, q, v: (0.0, by_q, by_v), by=list(directions))
    for name, along in directions.items():
        own = np.concatenate([np.tensordot(x[name][-1], along, np.ndim(along))
                              for x in (found.q, found.v)])  # fmt: skip
        size = np.abs(exact[name]).max()
        assert np.abs(own - exact[name]).max() < 1e-10 * size, name
        assert abs(np.sum(gradient[name] * along) - weights @ exact[name]) < 1e-10 * size


@pytest.mark.long
@pytest.mark.slow
def test_a_run_of_joints_with_several_velocities_and_an_impact():
    """Steps, time of the impact and impact are written anew there; 1e-24 is left by differences."""
    exact = exactly("tests.sensitivities.forty_digits")
    system, state, stop = tree()
    run = mb.simulate(
        system, (0.0, STEPS * H), H, q=state.q, v=state.v, tau=state.tau, events=[stop]
    )
    end = np.concatenate([run.events.t, run.q[-1], run.v[-1]])
    assert np.abs(end - exact["end"]).max() < 1e-12
    found = mb.sensitivities(run, by=["q", "v", "tau"])
    weights = np.random.default_rng(0).normal(size=system.ndx + system.nv)
    by_q, by_v = np.zeros((2, STEPS + 1, system.nv))
    by_q[-1], by_v[-1] = np.split(weights, 2)
    gradient = mb.gradient(run, lambda t, q, v: (0.0, by_q, by_v), by=["q", "v", "tau"])
    for name, along in directions(system).items():
        time, dq, dv = (getattr(found, part)[name][-1] @ along for part in ("events", "q", "v"))
        own = np.concatenate([[time], system.position_rates(run.q[-1], dq), dv])
        assert np.abs(own - exact[name]).max() < 1e-10 * np.abs(exact[name]).max(), name
        expected = by_q[-1] @ dq + by_v[-1] @ exact[name][-system.nv :]
        assert abs(gradient[name] @ along - expected) < 1e-10 * np.abs(exact[name]).max()
