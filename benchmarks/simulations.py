"""The whole time loop, against MuJoCo."""

from __future__ import annotations

import functools

import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.peers.mujoco_twin import MujocoTwin
from tests.trees import random_state

STEP = 1e-3

#: So many that the start of a run, which takes as long as a hundred steps, is no part of a step.
STEPS = sized(5000, 20)

#: Of a short run, whose start counts.
FEW_STEPS = sized(500, 20)

#: Most of MuJoCo's time that a step may take, by size. MuJoCo records nothing: neither does mbkit,
#: but for the last state.
BARS = {30: 0.45}


def against_mujoco(sizes: tuple[int, ...] = sized((7, 30, 100), (7,))) -> Table:
    """Return times of a step of order 4: both programs evaluate the dynamics four times."""
    rows = [row for kinds in (REVOLUTE, MIXED) for count in sizes for row in _rows(count, kinds)]
    title = "Simulation: a step of RKMK4, against a step of MuJoCo's RK4 (contacts off)"
    return Table(title, rows, peer="MuJoCo")


def _rows(count: int, kinds: tuple[str, ...]) -> list[Row]:
    mechanism = benchmark_tree(count, kinds)
    system = mechanism.assemble()
    state = random_state(np.random.default_rng(count), system, 0.1)
    twin = MujocoTwin(mechanism, system, STEP)
    found = system.forward_dynamics(state.q, state.v, state.tau)
    expected = twin.forward_dynamics(state.q, state.v, state.tau)
    difference = np.abs(found - expected).max() / np.abs(expected).max()
    if not difference < 1e-8:
        raise RuntimeError(f"{system!r} differs from MuJoCo by {difference:.1e}")

    def own(steps: int, save_every: int) -> None:
        mb.simulate(
            system, (0.0, steps * STEP), STEP,
            q=state.q, v=state.v, save_every=save_every, progress=False,
        )  # fmt: skip

    def other(steps: int) -> None:
        twin.set_state(state.q, state.v)
        twin.step(steps)

    kind = "mixed" if len(kinds) > 1 else "revolute"
    rows = []
    for steps, label, save_every, bar in (
        (STEPS, "", STEPS, BARS.get(count)),
        (FEW_STEPS, f", runs of {FEW_STEPS} steps", FEW_STEPS, None),
        (FEW_STEPS, f", runs of {FEW_STEPS} steps, all states and energies saved", 1, None),
    ):
        functions = {
            "own": functools.partial(own, steps, save_every),
            "peer": functools.partial(other, steps),
        }
        times = interleaved(functions, rounds=sized(9, 2))
        rows.append(
            Row(
                f"{count} bodies, {kind}{label}",
                times.best("own") / steps,
                times.best("peer") / steps,
                times.ratio("own", "peer"),
                bar,
            )
        )
    return rows
