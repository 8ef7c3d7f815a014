"""Integrators of constrained and stiff systems: what they reach, and what they cost."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np

import mbkit as mb
from benchmarks.catalogue import SQUEEZED, STIFF
from benchmarks.report import Row, Table
from benchmarks.timing import sized
from examples.closed_loops import andrews_squeezer, flyball_governor
from mbkit.integrators.step_memory import StepMemory
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS, FAST_TOPS, FAST_TOPS_ON_LOOPS
from mbkit.testing.standard_problems import StandardProblem

#: Andrews' squeezer: its error at t = 0.03 s. [rad]
SQUEEZER_BAR = 1e-10

#: Step sizes of Newton's matrix [s], and by what factor its condition may differ among them.
STEPS = sized((1e-2, 1e-3, 1e-4, 1e-5, 1e-6), (1e-2, 1e-3))
CONDITION_BAR = 3.0

#: Steps of the governor, beyond the limit of 3.4e-4 s of explicit methods of order 4 [s], and how
#: far its sleeve may then be off at t = 0.5 s. [m]
GOVERNOR_STEPS = sized((1e-3, 2e-3), (2e-3,))
GOVERNOR_BAR = 1e-4

#: Steps of RATTLie whose error is extrapolated.
EXTRAPOLATED_STEPS = sized(32_000, 1000)

#: The long run of the variational method: its step [s] and the number of steps, bars of the energy
#: error over the total, and of the difference of its means over the first and last tenth of the run
#: over its amplitude.
LONG_STEP, LONG_STEPS = 1e-3, sized(1_000_000, 1000)
ENERGY_BAR, MEANS_BAR = 1e-4, 0.01


def constrained_runs() -> list[Table]:
    """Return four tables: Andrews' squeezer, conditions, the governor, energy in long runs."""
    return [squeezer(), conditions(), governor(), *long_runs()]


# ----------------------------------------------------------------------------- Andrews' squeezer


def squeezer(chosen: Mapping[str, tuple[mb.Integrator, int]] = SQUEEZED) -> Table:
    """Return errors of Andrews' squeezer at t = 0.03 s, each method at the step named for it."""
    rows = []
    for name, (integrator, steps) in chosen.items():
        error, wall = squeezer_error(integrator, steps)
        extra = (f"{0.03 / steps:.3g} s", str(steps), f"{error:.1e} rad")
        rows.append(Row(name, wall, value=error / SQUEEZER_BAR, bar=1.0, extra=extra))
    if chosen is SQUEEZED:
        error, wall = extrapolated_error(mb.RATTLie(), EXTRAPOLATED_STEPS)
        extra = (f"{0.03 / EXTRAPOLATED_STEPS:.3g} s", str(EXTRAPOLATED_STEPS), f"{error:.1e} rad")
        name = "RATTLie, with half the step"
        rows.append(Row(name, wall, value=error / SQUEEZER_BAR, bar=1.0, extra=extra))
    title = "Andrews' squeezer to 1e-10 rad at t = 0.03 s; measured: error over that"
    return Table(title, rows, extra=("step", "steps", "error"))


def squeezer_error(integrator: mb.Integrator, steps: int) -> tuple[float, float]:
    """Return the largest error of the seven angles at t = 0.03 s [rad], and the time taken [s]."""
    found, wall = _squeezer_angles(integrator, steps)
    return _largest_error(found), wall


def extrapolated_error(integrator: mb.Integrator, steps: int) -> tuple[float, float]:
    """Return what is left of the error of order 2 when two runs are extrapolated, and their time.

    By (4 x(h/2) - x(h)) / 3: rounding, which is divided by h, leaves no room for steps so small
    that the method alone would be as exact.
    """
    coarse, first = _squeezer_angles(integrator, steps)
    fine, second = _squeezer_angles(integrator, 2 * steps)
    found = {name: (4.0 * fine[name] - coarse[name]) / 3.0 for name in fine}
    return _largest_error(found), first + second


def _squeezer_angles(integrator: mb.Integrator, steps: int) -> tuple[dict[str, float], float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        system = andrews_squeezer.build().assemble()
        run = mb.simulate(
            system, (0.0, 0.03), 0.03 / steps, save_every=steps, integrator=integrator,
            progress=False,
        )  # fmt: skip
    return andrews_squeezer.angles(system, run.q[-1]), float(run.options["wall_time"])


def _largest_error(angles: Mapping[str, float]) -> float:
    exact = andrews_squeezer.AFTER_30_MS
    return max(abs(value - exact[name]) for name, value in angles.items())


# --------------------------------------------------------------------------- Newton's matrix


def conditions(
    problems: Sequence[StandardProblem] = (*FAST_TOPS_ON_LOOPS, CONSTRAINED_PROBLEMS[2]),
    steps: Sequence[float] = STEPS,
) -> Table:
    """Return the condition numbers of Newton's matrix of the generalized-alpha method."""
    rows = []
    for problem in problems:
        for formulation in ("stabilized_index2", "index3"):
            found = [condition(problem, formulation, h) for h in steps]
            rows.append(
                Row(
                    f"{problem.name}, {formulation}",
                    value=max(found) / min(found), bar=CONDITION_BAR,
                    extra=[f"{each:.1e}" for each in found],
                )
            )  # fmt: skip
    title = "Condition number of Newton's matrix; measured: the largest over the least"
    return Table(title, rows, extra=[f"h = {h:g} s" for h in steps])


def condition(problem: StandardProblem, formulation: str, h: float) -> float:
    """Return the condition number of Newton's matrix in the first step of size h."""
    kept: list[StepMemory] = []

    class Kept(StepMemory):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            kept.append(self)

    with mock.patch("mbkit.integrators.generalized_alpha.StepMemory", Kept):
        mb.simulate(
            problem.system, (0.0, h), h, v=problem.velocity, progress=False,
            integrator=mb.GeneralizedAlpha(formulation=formulation),
        )  # fmt: skip
    return float(np.linalg.cond(matrix_of(kept[0])))


def matrix_of(step: StepMemory) -> Any:
    """Return the matrix whose factors a step has in its memory: P S = L U."""
    n = int(step["n"])
    LU, pivots = step["matrix"].reshape(n, n), step["pivots"]
    S = (np.tril(LU, -1) + np.eye(n)) @ np.triu(LU)
    for k in range(n - 1, -1, -1):
        S[[k, pivots[k]]] = S[[pivots[k], k]]
    return S


# ---------------------------------------------------------------------------------- governor


def governor(
    chosen: Mapping[str, mb.Integrator] = STIFF, steps: Sequence[float] = GOVERNOR_STEPS
) -> Table:
    """Return errors of the flyball governor with its hard springs, and how RKMK4 fails."""
    rows = []
    for h in steps:
        for name, integrator in {"RKMK4": mb.RungeKuttaMuntheKaas(), **chosen}.items():
            try:
                error = governor_error(integrator, h)
            except mb.NotFiniteError as failure:
                said = str(failure).split(", the velocity")[0]
                rows.append(Row(name, extra=(f"{h:g} s", said)))
            else:
                extra = (f"{h:g} s", f"{error:.1e} m")
                value = error / GOVERNOR_BAR
                rows.append(Row(name, value=value, bar=1.0, extra=extra))
    title = "Flyball governor, sleeve at t = 0.5 s; measured: error over 1e-4 m"
    return Table(title, rows, extra=("step", "error"))


def governor_error(integrator: mb.Integrator, h: float) -> float:
    """Return how far the sleeve is off at t = 0.5 s [m]."""
    system = flyball_governor.build().assemble()
    run = mb.simulate(
        system, (0.0, 0.5), h, v=flyball_governor.initial_velocity(system), save_every=10**6,
        integrator=integrator, progress=False,
    )  # fmt: skip
    height = flyball_governor.HEIGHT + run.q[-1, system.position_slice("slide")][0]
    return abs(float(height) - flyball_governor.HEIGHT_AFTER_500_MS)


# ------------------------------------------------------------------------------ long runs


def long_runs(
    problems: Sequence[StandardProblem] = (*FAST_TOPS, *FAST_TOPS_ON_LOOPS),
    steps: int = LONG_STEPS,
) -> list[Table]:
    """Return the energy of the variational method on the fast top: its error, and its drift."""
    rows = []
    for problem in problems:
        error, ratio, means = energy_of(problem, steps)
        rows.append(
            Row(
                problem.name, value=max(error / ENERGY_BAR, means / MEANS_BAR), bar=1.0,
                extra=(f"{error:.1e}", f"{ratio:.2f}", f"{means:.1e}"),
            )
        )  # fmt: skip
    title = (
        f"RATTLie on the fast top, {steps:.0e} steps of {LONG_STEP:g} s; measured: the worse of "
        f"the error over {ENERGY_BAR:g} and the means over {MEANS_BAR:g}"
    )
    heads = ("energy error / total", "at twice the step", "means / amplitude")
    return [Table(title, rows, extra=heads)]


def energy_of(problem: StandardProblem, steps: int) -> tuple[float, float, float]:
    """Return the energy error over the total, its ratio to that of twice the step, and the drift.

    The last is the difference of the means over the first and the last tenth of the run, over the
    amplitude: half the distance of the extremes.
    """
    drift = _drift(problem, LONG_STEP, steps)
    short = min(steps, 20_000)
    double = _drift(problem, 2.0 * LONG_STEP, short // 2)
    tenth = len(drift) // 10
    amplitude = 0.5 * (drift.max() - drift.min())
    means = abs(drift[-tenth:].mean() - drift[:tenth].mean()) / amplitude
    ratio = np.abs(double).max() / np.abs(drift[: max(2, short * len(drift) // steps)]).max()
    return float(np.abs(drift).max()), float(ratio), float(means)


def _drift(problem: StandardProblem, h: float, steps: int) -> Any:
    """Return the change of the energy over the total, at every step of those that are saved."""
    run = mb.simulate(
        problem.system, (0.0, h * steps), h, v=problem.velocity, integrator=mb.RATTLie(),
        save_every=max(1, steps // 100_000), progress=False,
    )  # fmt: skip
    total = run.kinetic_energy[0] + run.potential_energy[0]
    return run.energy_drift / abs(total)
