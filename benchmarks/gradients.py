"""The gradient of a run by all inertial parameters, against the run itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.trees import random_state

STEP = 1e-3
STEPS = sized(500, 20)

#: Most of the time of a run that its gradient may take.
BAR = 6.0

METHODS: dict[str, mb.Integrator] = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "generalized-alpha": mb.GeneralizedAlpha(),
}


def gradients(sizes: tuple[int, ...] = sized((7, 30), (7,))) -> Table:
    """Return times of gradients by all inertial parameters and the start, at most `BAR` runs."""
    rows = [
        _row(count, kinds, name)
        for name in METHODS
        for kinds in (REVOLUTE, MIXED)
        for count in sizes
    ]
    title = "Gradient of a run by all inertial parameters and its start, against the run"
    return Table(title, rows, peer="run")


def _row(count: int, kinds: tuple[str, ...], method: str) -> Row:
    system = benchmark_tree(count, kinds).assemble()
    state = random_state(np.random.default_rng(count), system, 0.1)
    by = ["q", "v", *(name for name in system.parameters if name.startswith("bodies."))]

    def taken() -> Any:
        return mb.simulate(
            system, (0.0, STEPS * STEP), STEP, integrator=METHODS[method],
            q=state.q, v=state.v, progress=False,
        )  # fmt: skip

    def loss(t: Any, q: Any, v: Any) -> Any:
        return 0.5 * (v * v).sum(), None, v

    run = taken()
    times = interleaved({"own": lambda: mb.gradient(run, loss, by), "peer": taken}, rounds=15)
    kind = "mixed" if len(kinds) > 1 else "revolute"
    return Row(
        f"{count} bodies, {kind}, {method}",
        times.best("own"),
        times.best("peer"),
        times.ratio("own", "peer"),
        BAR,
    )
