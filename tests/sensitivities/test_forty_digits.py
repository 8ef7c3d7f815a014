"""Derivatives of a run with an impact against one that another process takes with 40 digits."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb
from tests.sensitivities.forty_digits import STEPS, H, directions, tree

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.slow
def test_a_run_of_joints_with_several_velocities_and_an_impact():
    """Steps, time of the impact and impact are written anew there; 1e-24 is left by differences."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.sensitivities.forty_digits"],
        cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    exact = {name: np.array(row, dtype=float) for name, row in json.loads(done.stdout).items()}
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
