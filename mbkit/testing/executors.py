"""Laws of executors: each task once, with its value or the reason why it has none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from mbkit.errors import check_kind
from mbkit.executors import Executor, Outcome
from mbkit.testing.laws import text_of
from mbkit.testing.report import Line, Report

__all__ = ["check_executor"]

#: Seconds that a task may take, and those that one takes which does not end.
LIMIT, FOREVER = 3.0, 600.0


def _square(number: int) -> int:
    return number * number


def _faulty(number: int) -> int:
    if number == 1:
        os._exit(3)
    if number == 2:
        time.sleep(FOREVER)
    return number * number


def check_executor(executor: Executor) -> Report:
    """Return a report on the laws that an executor keeps or breaks.

    Parameters
    ----------
    executor : Executor
        Any executor.

    Returns
    -------
    Report
        It prints as a table; ``raise_if_failed()`` makes an exception of it.

    Raises
    ------
    UsageError
        If it is no executor.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.testing.check_executor(mb.studies.ThreadsExecutor(2)).holds
    True
    """
    check_kind("executor", executor, Executor, "an mbkit.studies.Executor")
    lines = [
        _line("each task is run once, with its value", lambda: _values(executor)),
        _line("no tasks are no outcomes", lambda: _differences(executor, [])),
    ]
    if executor.ends_tasks:
        lines.append(
            _line("a task that fails has a reason, and stops no other", lambda: _faults(executor))
        )
    return Report(repr(executor), tuple(lines))


def _line(law: str, broken: Callable[[], str]) -> Line:
    try:
        remark = broken()
    except Exception as error:
        remark = text_of(error)
    return Line(law, not remark, remark=remark)


def _values(executor: Executor) -> str:
    return _differences(executor, list(range(7)))


def _differences(executor: Executor, tasks: list[int]) -> str:
    expected = [Outcome(k, _square(task)) for k, task in enumerate(tasks)]
    found = _sorted(executor.run(_square, tasks))
    return "" if found == expected else f"{found!r:.200}"


def _faults(executor: Executor) -> str:
    found = _sorted(executor.run(_faulty, list(range(6)), time_limit=LIMIT))
    if [outcome.index for outcome in found] != list(range(6)):
        return f"{found!r:.200}"
    wrong = [
        each
        for k, each in enumerate(found)
        if bool(each.reason) != (k in (1, 2)) or (not each.reason and each.value != k * k)
    ]
    return f"{wrong!r:.200}" if wrong else ""


def _sorted(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return sorted(outcomes, key=lambda outcome: outcome.index)
