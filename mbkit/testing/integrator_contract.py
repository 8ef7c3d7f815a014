"""The contract of an integrator's steps, looked at one law at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, UsageError
from mbkit.events import Event
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Rows
from mbkit.results import Result
from mbkit.simulation.preparation import Prepared, prepare
from mbkit.simulation.stabilisation import PROJECTION
from mbkit.testing.report import Line
from mbkit.testing.standard_problems import StandardProblem


def prepared(
    integrator: Integrator, problem: StandardProblem, *, tau: Any = None, save_every: int = 3
) -> Prepared:
    """Return a run of 100 steps of 0.01 s before its first."""
    return prepare(
        problem.system, integrator, (0.0, 1.0), 0.01, q=None, v=problem.velocity, tau=tau,
        forces=(), events=(), save_every=save_every, save_at=None, stabilisation=PROJECTION,
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


def contract(integrator: Integrator, problem: StandardProblem) -> Iterator[Line]:
    """Yield a line a law that is the same for all integrators."""
    whole = prepared(integrator, problem)
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
    run = prepared(integrator, problem)
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
    before, after = prepared(integrator, problem), prepared(integrator, problem)
    before.course(0, 37, _rows(before, 20))
    for name, value in before.problem.state.items():
        after.problem.state[name][:] = value
    after.course(37, 63, _rows(after, 30))
    different = _differences(_state(after), _state(whole))
    return Line("goes on from the problem's state alone", not different, remark=different)


def _after_failure(integrator: Integrator, problem: StandardProblem) -> Line:
    law = "a failure leaves the last complete step"

    class Failed(Exception):
        """The exception that a force raises."""

    def tau(t: float, q: Any, v: Any) -> Any:
        if t > 0.205:
            raise Failed
        return np.zeros(v.size)

    try:
        run, good = (prepared(integrator, problem, tau=force) for force in (tau, np.zeros(3)))
    except UsageError:
        return Line(law, True, remark="it takes no forces by tau, which could fail")
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


def far_too_large(integrator: Integrator, problem: StandardProblem) -> Iterator[Line]:
    """Yield the line on steps that are as long as the motion, and a quarter of it."""
    where = f" on the {problem.name}" if problem.is_constrained else ""
    law = f"a step that is far too large ends in finite numbers or an error{where}"
    ends: list[str] = []
    for steps in (1, 4):
        run: Result | None
        try:
            run = problem.run(integrator, steps)
        except MbkitError as error:
            ends.append(type(error).__name__)
            run = getattr(error, "result", None)
            if run is None:
                yield Line(law, False, remark=f"{ends[-1]} without what was computed before")
                return
        except Exception as error:
            yield Line(law, False, remark=f"{type(error).__name__}: {error}")
            return
        else:
            ends.append("finite")
        if not (np.isfinite(run.q).all() and np.isfinite(run.v).all()):
            yield Line(law, False, remark="numbers that are not finite")
            return
    yield Line(law, True, remark=", ".join(dict.fromkeys(ends)))
