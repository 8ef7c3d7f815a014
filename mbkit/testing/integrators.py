"""A check of integrators: their order, what they keep, and the contract of their steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, UsageError
from mbkit.events import Event
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Rows
from mbkit.simulation.preparation import Prepared, prepare
from mbkit.simulation.stabilisation import Projection
from mbkit.testing.convergence import POINTS, errors_of_steps, fitted_slope, last_points
from mbkit.testing.report import Line, Report
from mbkit.testing.standard_problems import STANDARD_PROBLEMS, StandardProblem

__all__ = ["check_integrator"]

#: How far a measured order may be from the one that is claimed.
ORDER_BOUND = 0.1

#: Errors below are those of the reference solution, and of rounding.
FLOOR = 1e-11

#: Steps from which the order is measured, by order, and the most there are.
FIRST_STEPS = {1: 512, 2: 128, 3: 64}
MOST_STEPS = 16384

#: Step sizes that are halved need a wide range, which high orders do not have above the floor.
RATIOS = {1: 2.0, 2: 2.0, 3: 2.0}

#: Steps of the long run in which the energy is looked at.
LONG = 4096


def check_integrator(
    integrator: Integrator, *, problems: Iterable[StandardProblem] = STANDARD_PROBLEMS
) -> Report:
    """Measure an integrator on standard problems, and look whether its steps keep their contract.

    1. Order: error of q, on its group, and of v at the end, for the four smallest step sizes above
       the floor of rounding, each half of the one before (from order 4 on 0.7 of it); the slope is
       within 0.1 of ``integrator.order``.
    2. Energy: with the step it falls at least as the order says; how it drifts over 4096 steps is a
       remark.
    3. Group: quaternions keep length one.
    4. Contract of `mbkit.Integrator`: steps give the same bits however they are cut into calls,
       go on from the problem's state alone, save the rows that are asked for, look at events, and
       leave the last complete step after a failure. A step that is far too large ends in finite
       numbers or in an error of mbkit.

    Parameters
    ----------
    integrator : Integrator
        What is checked.
    problems : iterable of StandardProblem
        Motions on which the order is measured.

    Returns
    -------
    Report
        A line a law; print it, or call its ``raise_if_failed()``.

    Raises
    ------
    UsageError
        If it is no integrator, or claims no order.

    Examples
    --------
    >>> import mbkit as mb
    >>> import mbkit.testing
    >>> report = mbkit.testing.check_integrator(mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN))
    >>> report.holds
    True
    """
    if not isinstance(integrator, Integrator):
        raise UsageError(
            f"check_integrator needs an mbkit.Integrator, got {integrator!r}; call it with an "
            "instance, such as check_integrator(MyIntegrator())."
        )
    order = integrator.order
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise UsageError(
            f"The order of {integrator!r} must be an integer from 1 on, got {order!r}."
        )
    lines: list[Line] = []
    for problem in problems:
        lines += _orders(integrator, problem)
    top = STANDARD_PROBLEMS[1]
    lines += _group(integrator, top)
    lines += _contract(integrator, top)
    lines.append(_far_too_large(integrator, top))
    return Report(f"{integrator!r}, order {order}", tuple(lines))


# ----------------------------------------------------------------------------- order and energy


def _orders(integrator: Integrator, problem: StandardProblem) -> Iterator[Line]:
    """Yield the orders of q, v and of the energy."""
    claimed = integrator.order

    def measure(steps: int) -> tuple[float, float]:
        return problem.errors(problem.run(integrator, steps))

    first = FIRST_STEPS.get(claimed, 16)
    try:
        counts, errors = errors_of_steps(
            measure, first, ratio=RATIOS.get(claimed, 2.0**0.5), floor=FLOOR, most=MOST_STEPS
        )
    except MbkitError as error:
        yield Line(f"order on the {problem.name}", False, remark=f"{type(error).__name__}: {error}")
        return
    for column, what in enumerate(("q", "v")):
        law = f"order of {what} on the {problem.name}"
        points, found = last_points(counts, errors[:, column], FLOOR)
        if len(points) < POINTS:
            few = f"only {len(points)} step sizes have errors above {FLOOR:g}"
            yield Line(law, False, remark=few)
            continue
        slope = fitted_slope(points, found)
        missed = abs(slope.value - claimed)
        yield Line(law, missed <= ORDER_BOUND, missed, ORDER_BOUND, f"order {slope}")
    if problem.conservative:
        yield _energy(integrator, problem, counts[-1] // 4)


def _energy(integrator: Integrator, problem: StandardProblem, steps: int) -> Line:
    """Return the line on the energy: it converges; its drift over many steps is a remark."""
    scale = float(problem.run(integrator, steps).kinetic_energy.max())

    def largest(count: int) -> float:
        run = problem.run(integrator, count, save_every=max(1, count // 64))
        return max(float(abs(run.energy_drift).max()) / scale, 1e-14)

    coarse, fine = largest(steps), largest(4 * steps)
    slope = np.log(coarse / fine) / np.log(4.0)
    at_floor = fine < 1e-12
    missed = 0.0 if at_floor else max(0.0, integrator.order - float(slope))
    run = problem.run(integrator, LONG, save_every=LONG // 128)
    drift = run.energy_drift / scale
    ends = float(abs(drift[-13:].mean() - drift[:13].mean()))
    remark = f"falls with order {slope:.2f}; {ends:.0e} from first to last tenth of {LONG} steps"
    return Line(f"energy on the {problem.name}", missed <= 0.2, missed, 0.2, remark)


def _group(integrator: Integrator, problem: StandardProblem) -> Iterator[Line]:
    run = problem.run(integrator, 256, save_every=1)
    missed = float(abs(np.linalg.norm(run.q, axis=1) - 1.0).max())
    yield Line("quaternions keep length one", missed <= 1e-14, missed, 1e-14)


# ----------------------------------------------------------------------------- contract


def _prepared(
    integrator: Integrator, problem: StandardProblem, *, tau: Any = None, save_every: int = 3
) -> Prepared:
    return prepare(
        problem.system, integrator, (0.0, 1.0), 0.01, q=None, v=problem.v, tau=tau, forces=(),
        events=(), save_every=save_every, save_at=None, stabilisation=Projection(),
        constraint_solver=None,
    )  # fmt: skip


def _rows(run: Prepared, count: int) -> Rows:
    problem = run.problem
    rows = Rows.empty(count, problem.nq, problem.nv, problem.multipliers.size)
    for part in rows:
        part.fill(np.nan)
    return rows


def _state(run: Prepared) -> dict[str, Any]:
    return {name: value.copy() for name, value in run.problem.state.items()}


def _differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    return ", ".join(n for n in one if not np.array_equal(one[n], other[n]))


def _contract(integrator: Integrator, problem: StandardProblem) -> Iterator[Line]:
    whole = _prepared(integrator, problem)
    rows = _rows(whole, 40)
    status, taken, saved = whole.course(0, 100, rows)
    counted = (status, taken, saved) == (0, 100, 33)
    yield Line(
        "100 steps are taken and 33 rows saved", counted,
        remark="" if counted else f"status {status}, {taken} steps, {saved} rows",
    )  # fmt: skip
    times = np.arange(3, 100, 3) * 0.01
    missed = float(np.nan_to_num(abs(rows.t[:33] - times), nan=np.inf).max())
    yield Line("rows are at t0 + k h", missed <= 1e-15, missed, 1e-15)
    yield _cut(integrator, problem, whole, rows)
    yield _goes_on(integrator, problem, whole)
    yield _after_failure(integrator, problem)
    yield _sees_events(integrator, problem)


def _cut(integrator: Integrator, problem: StandardProblem, whole: Prepared, expected: Rows) -> Line:
    run = _prepared(integrator, problem)
    rows = _rows(run, 40)
    step = written = 0
    for size in (1, 2, 5, 1, 31, 60):
        rest = Rows(*(part[written:] for part in rows))
        _, taken, saved = run.course(step, size, rest)
        step, written = step + taken, written + saved
    different = _differences(_state(run), _state(whole))
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(rows, expected, strict=True)):
        different = f"{different}, rows".removeprefix(", ")
    return Line("the same bits, however steps are cut into calls", not different, remark=different)


def _goes_on(integrator: Integrator, problem: StandardProblem, whole: Prepared) -> Line:
    before, after = _prepared(integrator, problem), _prepared(integrator, problem)
    before.course(0, 37, _rows(before, 20))
    for name, value in before.problem.state.items():
        after.problem.state[name][:] = value
    after.course(37, 63, _rows(after, 30))
    different = _differences(_state(after), _state(whole))
    return Line("goes on from the problem's state alone", not different, remark=different)


def _after_failure(integrator: Integrator, problem: StandardProblem) -> Line:
    law = "a failure leaves the last complete step"

    class Failed(Exception):
        pass

    def tau(t: float, q: Any, v: Any) -> Any:
        if t > 0.205:
            raise Failed
        return np.zeros(v.size)

    run, good = (_prepared(integrator, problem, tau=force) for force in (tau, np.zeros(3)))
    status, taken, _ = run.course(0, 100, _rows(run, 40))
    if status == 0 or taken not in (19, 20, 21):
        return Line(law, False, remark=f"a failure in step 21: status {status}, {taken} steps")
    good.course(0, taken, _rows(good, 40))
    different = _differences(_state(run), _state(good))
    return Line(law, not different, remark=different)


def _sees_events(integrator: Integrator, problem: StandardProblem) -> Line:
    law = "events are seen"
    event = Event("moment", lambda t, q, v: t - 0.3456, terminal=True)
    try:
        run = problem.run(integrator, 100, events=[event], save_every=1)
    except MbkitError as error:
        return Line(law, False, remark=f"{type(error).__name__}: {error}")
    found = float(run.t[-1])
    return Line(law, abs(found - 0.3456) <= 1e-11, abs(found - 0.3456), 1e-11)


def _far_too_large(integrator: Integrator, problem: StandardProblem) -> Line:
    law = "a step that is far too large ends in finite numbers or an error"
    try:
        run = problem.run(integrator, 1)
    except MbkitError as error:
        return Line(law, True, remark=type(error).__name__)
    except Exception as error:
        return Line(law, False, remark=f"{type(error).__name__}: {error}")
    finite = bool(np.isfinite(run.q).all() and np.isfinite(run.v).all())
    return Line(law, finite, remark="finite" if finite else "numbers that are not finite")
