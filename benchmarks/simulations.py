"""The whole time loop, against MuJoCo."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.peers.mujoco_twin import MujocoTwin
from tests.trees import random_state

STEP = 1e-3
STEPS = sized(500, 20)

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

    def own(save_every: int) -> None:
        mb.simulate(
            system, (0.0, STEPS * STEP), STEP,
            q=state.q, v=state.v, save_every=save_every, progress=False,
        )  # fmt: skip

    def other() -> None:
        twin.set_state(state.q, state.v)
        twin.step(STEPS)

    functions = {"bare": lambda: own(STEPS), "saving": lambda: own(1), "peer": other}
    times = interleaved(functions, rounds=15)
    kind = "mixed" if len(kinds) > 1 else "revolute"
    return [
        Row(
            f"{count} bodies, {kind}{label}",
            times.best(name) / STEPS,
            times.best("peer") / STEPS,
            times.ratio(name, "peer"),
            bar,
        )
        for name, label, bar in (
            ("bare", "", BARS.get(count)),
            ("saving", ", all states and energies saved", None),
        )
    ]
