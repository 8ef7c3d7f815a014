"""Many runs of one system at once, against its bare compiled loop and MuJoCo's rollout.

The loop takes one run after the other; ensembles take eight or four of them in vector registers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import mujoco
import numpy as np
from mujoco.rollout import Rollout

import mbkit as mb
from benchmarks.constraints import four_bars
from benchmarks.mechanisms import REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from examples.closed_loops import delta_robot
from mbkit.integrators.integrator import Rows
from mbkit.simulation.preparation import prepare
from mbkit.systems.calls.threads import cores
from tests.constraints.loops import consistent
from tests.peers.mujoco_twin import MujocoTwin
from tests.trees import random_state

STEP = 1e-3
STEPS = sized(1000, 20)
RUNS = sized(1000, 4)

#: Every so many states are saved, with their energies; MuJoCo saves all, without energies.
SAVED = 10

#: Runs beside the same runs one after another, and of closed mechanisms the most of their time.
CLOSED_RUNS = 256
CLOSED_BAR = 0.5

#: Most of the bare loop's time, and of MuJoCo's by bodies.
OVERHEAD = 1.1
BARS = {7: 0.15, 30: 0.15}


def ensembles(sizes: tuple[int, ...] = sized((7, 30), (7,))) -> list[Table]:
    """Return times of a step of one run, on all cores."""
    rows = [row for count in sizes for row in _against_rollout(count)]
    title = f"Ensembles: a step of RKMK4 of one of many runs, {cores()} cores, against"
    return [
        Table(f"{title} the bare compiled loop", [_overhead()], peer="bare loop"),
        Table(f"{title} mujoco.rollout (RK4, contacts off)", rows, peer="MuJoCo"),
        Table(
            "Ensembles of closed mechanisms: the call by run, against runs one after another",
            [row for case in _closed() for row in _side_by_side(*case, _EXPLICIT, CLOSED_BAR)],
            peer="one by one",
        ),
        Table(
            "Ensembles of implicit steps: the call by run, against runs one after another",
            [row for case in _implicit(sizes) for row in _side_by_side(*case, _IMPLICIT, None)],
            peer="one by one",
        ),
    ]


def _overhead() -> Row:
    system = benchmark_tree(2, REVOLUTE, reach=1).assemble()
    rng = np.random.default_rng(2)
    q = np.array([random_state(rng, system, 0.5).q for _ in range(RUNS)])

    def whole() -> None:
        mb.simulate(
            system, (0.0, STEPS * STEP), STEP, q=q, save_every=SAVED, progress=False
        )  # fmt: skip

    functions = {"mbkit": whole, "peer": _bare(system, q)}
    times = interleaved(functions, rounds=sized(15, 1))
    steps = RUNS * STEPS
    return Row(
        f"{RUNS} double pendulums of 1 s, every tenth state and energies saved",
        times.best("mbkit") / steps, times.best("peer") / steps, times.ratio("mbkit", "peer"),
        OVERHEAD,
    )  # fmt: skip


def _bare(system: mb.System, q: np.ndarray) -> Callable[[], None]:
    """Return what takes all steps with no more than the loop, a thread for each core.

    Memory is made anew each time, as for an ensemble: where it lies costs or saves 15 %.
    """

    def part(first: int) -> None:
        run = prepare(
            system, mb.RungeKuttaMuntheKaas(), (0.0, STEPS * STEP), STEP, q=q[0], v=None, tau=None,
            forces=(), events=(), save_every=SAVED, save_at=None,
            stabilisation=mb.Projection(), constraint_solver=None,
        )  # fmt: skip
        rows = Rows.empty(STEPS, system.nq, system.nv, 0)
        for start in q[first :: cores()]:
            run.problem.q[:], run.problem.v[:] = start, 0.0
            run.course.advance(0, STEPS, rows)

    def every() -> None:
        threads = [threading.Thread(target=part, args=(k,)) for k in range(cores())]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return every


def _against_rollout(count: int) -> list[Row]:
    mechanism = benchmark_tree(count, REVOLUTE)
    system = mechanism.assemble()
    twin = MujocoTwin(mechanism, system, STEP)
    rng = np.random.default_rng(count)
    runs, steps = sized(max(96, 1000 // count), 4), sized(200, 5)
    states = [random_state(rng, system, 0.1) for _ in range(runs)]
    q, v = np.array([each.q for each in states]), np.array([each.v for each in states])
    starts = []
    for state in states:
        twin.set_state(state.q, state.v)
        full = np.empty(mujoco.mj_stateSize(twin.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(twin.model, twin.data, full, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        starts.append(full)
    data = [mujoco.MjData(twin.model) for _ in range(cores())]

    def own(save_every: int) -> mb.Ensemble:
        runs: mb.Ensemble = mb.simulate(  # type: ignore[assignment]
            system, (0.0, steps * STEP), STEP, q=q, v=v, save_every=save_every, progress=False
        )  # fmt: skip
        return runs

    with Rollout(nthread=cores()) as rollout:

        def other() -> None:
            rollout.rollout(twin.model, data, np.array(starts), nstep=steps)

        functions = {"some": lambda: own(SAVED), "all": lambda: own(1), "peer": other}
        times = interleaved(functions, rounds=sized(15, 1))
    each = runs * steps
    return [
        Row(
            f"{count} bodies, {runs} runs, {label}", times.best(name) / each,
            times.best("peer") / each, times.ratio(name, "peer"), bar,
        )
        for name, label, bar in (
            ("some", "every tenth state and energies saved", BARS.get(count)),
            ("all", "all states and energies saved", None),
        )
    ]  # fmt: skip


def _closed() -> list[tuple[str, mb.System]]:
    """Return closed mechanisms, of 15 and of 40 rows, with what they are."""
    return [
        ("delta robot", delta_robot.build().assemble()),
        ("row of 8 four-bars", four_bars(8).assemble()),
    ]


_EXPLICIT: dict[str, dict[str, Any]] = {
    "RKMK4, 200 steps": {"t_span": (0.0, 200 * STEP), "h": STEP, "save_every": SAVED},
    "steps of its own": {
        "t_span": (0.0, 0.2), "h": 0.02,
        "integrator": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6),
    },
}  # fmt: skip
_IMPLICIT: dict[str, dict[str, Any]] = {
    "GeneralizedAlpha, 200 steps": {
        "t_span": (0.0, 200 * STEP), "h": STEP, "save_every": SAVED,
        "integrator": mb.GeneralizedAlpha(),
    },
    "GeneralizedAlpha, steps of its own": {
        "t_span": (0.0, 0.2), "h": 0.02, "integrator": mb.GeneralizedAlpha(rtol=1e-5),
    },
}  # fmt: skip


def _implicit(sizes: tuple[int, ...]) -> list[tuple[str, mb.System]]:
    """Return trees of so many bodies, and closed mechanisms, with what they are."""
    trees = [(f"tree of {n} bodies", benchmark_tree(n, REVOLUTE).assemble()) for n in sizes]
    closed = [("row of 4 four-bars", four_bars(4).assemble()), *_closed()[:1]]
    return [*trees, *closed]


def _side_by_side(
    name: str, system: mb.System, methods: dict[str, dict[str, Any]], bar: float | None
) -> list[Row]:
    """Compare runs in vector registers with the same runs one after another, on all cores."""
    count = sized(CLOSED_RUNS, 2)
    q, v = _along_a_motion(system, count)
    rows = []
    for method, options in methods.items():

        def whole(options: Any = options) -> None:
            mb.simulate(system, q=q, v=v, **options, progress=False)

        def one_by_one(whole: Any = whole) -> None:
            with mock.patch("mbkit.simulation.ensembles.ensemble.lanes_of", return_value=None):
                whole()

        times = interleaved({"mbkit": whole, "peer": one_by_one}, rounds=sized(7, 1))
        rows.append(
            Row(
                f"{count} runs of a {name}, {method}", times.best("mbkit") / count,
                times.best("peer") / count, times.ratio("mbkit", "peer"), bar,
            )
        )  # fmt: skip
    return rows


def _along_a_motion(system: mb.System, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return states that follow each other in a run, at speeds of their own."""
    rng = np.random.default_rng(8)
    q = system.reference_configuration()
    v = consistent(system, q, rng.normal(size=system.nv))
    run = mb.simulate(system, (0.0, (count - 1) * 2e-4), 2e-4, q=q, v=v, progress=False)
    return run.q, run.v * rng.permutation(np.geomspace(0.1, 3.0, count))[:, None]
