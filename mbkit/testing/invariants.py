"""Invariants of an integrator's steps: energy, momentum, length one, constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mbkit.errors import MbkitError
from mbkit.integrators import Integrator
from mbkit.results import Result
from mbkit.testing.laws import text_of
from mbkit.testing.report import Line
from mbkit.testing.standard_problems import StandardProblem
from mbkit.testing.verdicts import NEAR_FLOOR, falling_line

__all__ = ["drift", "energy", "group", "loops", "momentum", "multipliers_of_every_step"]

#: Steps with which a change is looked at, at least, where smaller ones show rounding alone.
LEAST_STEPS = 32

#: Changes below are rounding, relative to the quantity.
FLOOR = 1e-12

#: The same of quantities that a method keeps up to its iteration.
ITERATED = 1e-10

#: The largest rounding of a thousand steps, in units of the mean.
LARGEST = 4.0

#: How far loops may be open, by their sizes of about a metre; rounding of a Newton iteration. [m]
CLOSED = 1e-9


def energy(integrator: Integrator, problem: StandardProblem, steps: int, long: int) -> Line:
    """Return the line on the energy: it converges; its drift over many steps is a remark."""
    law = f"energy on the {problem.name}"

    def change(run: Result) -> float:
        return float(np.abs(run.energy_drift).max() / run.kinetic_energy.max())

    line = _falls(law, integrator, problem, steps, change)
    if line.holds is None or long < 64:
        return line
    run = problem.run(integrator, long, save_every=long // 64)
    tenths = run.energy_drift / run.kinetic_energy.max()
    ends = float(abs(tenths[-7:].mean() - tenths[:7].mean()))
    remark = f"{line.remark}; {ends:.0e} from first to last tenth of {long} steps"
    return Line(law, line.holds, line.error, line.bound, remark)


def momentum(integrator: Integrator, problem: StandardProblem, steps: int) -> Line:
    """Return the line on the angular momentum of a body that nothing acts on."""

    def change(run: Result) -> float:
        L = problem.system.momentum(run.q, run.v)[:, :3]
        return float(np.linalg.norm(L - L[0], axis=1).max() / np.linalg.norm(L[0]))

    law = f"momentum of the {problem.name}"
    return _falls(law, integrator, problem, steps, change, floor=lambda _: ITERATED)


def group(integrator: Integrator, problem: StandardProblem) -> Iterator[Line]:
    """Yield the line on quaternions; of an integrator that lets them drift, how it does."""

    def off(run: Result) -> float:
        return float(abs(np.linalg.norm(run.q, axis=1) - 1.0).max())

    if not integrator.stays_on_group:
        law = "quaternions drift no faster than the order says"
        if integrator.adaptive:
            yield Line(law, None, remark="its step size is adaptive")
            return
        yield _falls(law, integrator, problem, 256, off)
        return
    missed = off(problem.run(integrator, 256, save_every=1))
    yield Line("quaternions keep length one", missed <= 1e-14, missed, 1e-14)


def loops(
    integrator: Integrator, problem: StandardProblem, steps: int
) -> tuple[Line, Result | None]:
    """Return the line on how open loops are, and the motion; None where there is none."""
    law = f"loops stay closed on the {problem.name}"
    try:
        run = problem.run(integrator, steps, save_every=1)
    except MbkitError as error:
        return Line(law, False, remark=text_of(error)), None
    missed = float(run.residuals[:, 0].max())
    return Line(law, missed <= CLOSED, missed, CLOSED), run


def drift(integrator: Integrator, problem: StandardProblem, steps: int) -> Iterator[Line]:
    """Yield the lines on the constraints: how open loops are, and how fast they open."""
    line, run = loops(integrator, problem, steps)
    yield line
    if run is None:
        return
    law = f"velocities keep them closed on the {problem.name}"
    if run.residuals[:, 1].max() <= CLOSED:
        found = float(run.residuals[:, 1].max())
        yield Line(law, True, found, CLOSED)
        return

    def rate(run: Result) -> float:
        return float(run.residuals[:, 1].max() / np.abs(run.v).max())

    yield _falls(law, integrator, problem, steps, rate)


def multipliers_of_every_step(integrator: Integrator, problem: StandardProblem, steps: int) -> Line:
    """Return the line on multipliers step by step, but for the first ones.

    Those of the states, by the equations of motion, have the order of q and v; how far the
    integrator's own are from them shows an error that samples at instants miss: of the start.
    """
    law = f"multipliers of every step on the {problem.name}"
    left_out = 2 * integrator.order
    early = {}

    def distance(run: Result) -> float:
        exact = problem.system.solve_dynamics(run.q, run.v, t=run.t)[1]
        found = np.abs(run.multipliers - exact).max(axis=1) / np.abs(exact).max()
        early[len(found) - 1] = float(found[: left_out + 1].max())
        return float(found[left_out + 1 :].max())

    def floor(count: int) -> float:
        return LARGEST * problem.rounding_of_multipliers(count)

    line = _falls(law, integrator, problem, steps, distance, floor=floor, save_every=1)
    if line.holds is None or len(early) < 2:
        return line
    coarse, fine = min(early), max(early)
    order = np.log(early[coarse] / early[fine]) / np.log(fine / coarse) if early[fine] else np.inf
    remark = f"{line.remark}; the first {left_out}: {early[fine]:.0e}, order {order:.1f}"
    return Line(law, line.holds, line.error, line.bound, remark)


def _falls(
    law: str,
    integrator: Integrator,
    problem: StandardProblem,
    steps: int,
    measure: Callable[[Result], float],
    *,
    floor: Callable[[int], float] = lambda _: FLOOR,
    save_every: int | None = None,
) -> Line:
    """Return the line on a number that falls with the step by the order.

    Where it is near the floor, which is an estimate, and does not, larger steps are looked at.
    """

    def measured(count: int) -> float:
        every = max(1, count // 64) if save_every is None else save_every
        return measure(problem.run(integrator, count, save_every=every))

    try:
        coarse, fine = measured(steps), measured(4 * steps)
        rounding = floor(4 * steps)
        if fine < rounding:
            return Line(law, True, remark="kept to rounding")
        line = falling_line(law, (coarse, fine), integrator.order, rounding)
        if line.holds:
            return line
        larger = 3 * steps // 4
        if fine < NEAR_FLOOR * rounding and larger >= LEAST_STEPS:
            return _falls(
                law, integrator, problem, larger, measure, floor=floor, save_every=save_every
            )
        return falling_line(law, (coarse, measured(2 * steps), fine), integrator.order, rounding)
    except MbkitError as error:
        return Line(law, False, remark=text_of(error))
