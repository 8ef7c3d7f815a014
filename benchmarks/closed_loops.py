"""Closed mechanisms: what a step costs and how exact it is, against formulas and Exudyn."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from examples.closed_loops import n_four_bar
from tests.closed_loops.errors import COMPARED
from tests.closed_loops.mechanisms import CASES, Case
from tests.peers.exudyn_twin import ExudynFourBars

#: Windows of the row of four-bar linkages, and how long it moves: past the singular posture. [s]
WINDOWS, SPAN = 40, 1.0
#: Greatest errors of the angles at the end. [rad]
ACCURACIES = sized((1e-4, 1e-5, 1e-6), (1e-2,))
#: Most of Exudyn's time that mbkit may take.
BAR = 0.5

#: Bodies of chains held at both ends, and the greatest slope of the time over them, in logarithms.
CHAINS = sized((100, 1000, 10_000), (5, 10))
SLOPE = 1.1


def closed_loops() -> list[Table]:
    """Return three tables: the mechanisms of the examples, Exudyn, long chains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        return [mechanisms(), against_exudyn(), chains()]


def mechanisms(cases: Sequence[Case] = CASES) -> Table:
    """Return what a step of each mechanism costs, and what is kept at it."""
    return Table(
        "Closed mechanisms: a step of RKMK4, and what is kept over the span",
        [_kept(case) for case in cases],
        extra=(
            "step",
            "rows",
            "rank",
            "error",
            "after",
            "span",
            "positions",
            "velocities",
            "energy",
        ),
    )


def _kept(case: Case) -> Row:
    system = case.system()
    run = case.run(system, case.span, save_every=10)
    A = system.constraint_jacobian(run.q[1])
    change = run.energy_drift if case.conservative else run.energy_balance
    positions = np.abs(system.constraint_residual(run.q)).max()
    velocities = np.abs(system.constraint_velocity(run.q, run.v)).max()
    energy = np.abs(change).max() / run.kinetic_energy.max()
    error = after = ""
    if case.name in COMPARED:
        other = COMPARED[case.name]
        end = case.run(system, other.until, save_every=10**9).q[-1]
        error, after = f"{other.error(system, end):.0e}", f"{other.until:g} s"
    extra = (
        f"{case.h:g} s", f"{len(A)}", f"{np.linalg.matrix_rank(A, tol=1e-9)}", error, after,
        f"{case.span:g} s", f"{positions:.0e} m", f"{velocities:.0e} m/s", f"{energy:.0e}",
    )  # fmt: skip
    return Row(case.name, run.options["wall_time"] / run.options["steps_taken"], extra=extra)


def against_exudyn(accuracies: Sequence[float] = ACCURACIES) -> Table:
    """Return times by simulated second of both programs where they are equally exact.

    Exudyn has the rods as bodies of a plane, its trapezoidal rule of index 2, its modified Newton
    method and its sparse solver: of the methods tried the one of the least error, and as fast as
    any by step. mbkit has the rods in space. Both save the last state only.
    """
    exact = float(n_four_bar.exact_angle(WINDOWS, SPAN))
    own, peer = _Own(), ExudynFourBars(WINDOWS, SPAN)
    rows = []
    for accuracy in accuracies:
        steps = [
            _fewest_steps(
                lambda n, each=each: np.abs(each.angles(n) - exact).max(), accuracy, order
            )
            for each, order in ((own, 4), (peer, 2))
        ]
        found = interleaved(
            {
                "own": functools.partial(own.angles, steps[0]),
                "peer": functools.partial(peer.angles, steps[1]),
            },
            rounds=5,
        )
        rows.append(
            Row(
                f"{accuracy:.0e} rad",
                found.best("own") / SPAN,
                found.best("peer") / SPAN,
                found.ratio("own", "peer"),
                BAR,
                extra=[str(each) for each in steps],
            )
        )
    return Table(
        f"{WINDOWS} four-bar linkages in a row: a simulated second at equal accuracy",
        rows, peer="Exudyn", extra=("steps of mbkit", "of Exudyn"),
    )  # fmt: skip


@attrs.frozen
class _Own:
    """The row of linkages in mbkit."""

    system: mb.System = attrs.field(factory=lambda: n_four_bar.build(WINDOWS).assemble())

    def angles(self, steps: int) -> Any:
        v = n_four_bar.initial_velocity(self.system)
        run = mb.simulate(
            self.system, (0.0, SPAN), SPAN / steps, v=v, save_every=steps, progress=False
        )
        at = [self.system.position_slice(f"ground{i}").start for i in range(WINDOWS + 1)]
        return run.q[-1, at]


def _fewest_steps(error: Callable[[int], float], accuracy: float, order: int) -> int:
    """Return a number of steps at which the error is as small, from its order."""
    steps = 20
    while (found := error(steps)) > accuracy:
        wanted = (found / accuracy) ** (1.0 / order)
        steps = int(np.ceil(steps * min(max(1.02, wanted), 4.0)))
    return steps


def chains(sizes: Sequence[int] = CHAINS) -> Table:
    """Return times of the forward dynamics of chains whose both ends are held."""
    rows = []
    times = []
    for count in sizes:
        system = _chain(count).assemble(mb.RelativeCoordinates(loop_joints=["end"]))
        rng = np.random.default_rng(count)
        q, v = system.reference_configuration(), np.zeros(system.nv)
        tau = rng.normal(size=system.nv)
        found = interleaved({"own": functools.partial(system.solve_dynamics, q, v, tau)}, rounds=15)
        times.append(found.best("own"))
        slope = np.log(times[-1] / times[0]) / np.log(count / sizes[0]) if rows else None
        rows.append(
            Row(
                f"{count} bodies",
                times[-1],
                value=slope,
                bar=SLOPE if count == max(sizes) else None,
            )
        )
    return Table("Chains held at both ends: forward dynamics, and slope in logarithms", rows)


def _chain(count: int) -> mb.Mechanism:
    """Return a chain of rods on revolute joints about random axes, on a ball joint at its end."""
    rng = np.random.default_rng(count)
    mech = mb.Mechanism(f"chain of {count}")
    rod = mb.SpatialInertia.cylinder(1.0, radius=0.02, length=0.5)
    place, body = np.zeros(3), mech.world
    for k in range(count):
        direction = rng.normal(size=3)
        step = 0.5 * direction / np.linalg.norm(direction)
        pose = np.eye(4)
        pose[:3, 3] = place + step / 2
        rotation, _ = np.linalg.qr(np.column_stack([step, *rng.normal(size=(2, 3))]))
        rotation *= np.linalg.det(rotation)
        pose[:3, :3] = rotation[:, [1, 2, 0]]
        link = mech.add_body(mb.Body(f"rod{k}", rod, pose))
        joint = mb.RevoluteJoint(f"joint{k}", axis=rng.normal(size=3), point=place)
        mech.add_joint(joint, body, link)
        place, body = place + step, link
    mech.add_joint(mb.SphericalJoint("end", point=place), "world", body)
    return mech
