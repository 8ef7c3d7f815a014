"""A law at many samples: the largest difference between found and expected values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mbkit.errors import MbkitError
from mbkit.systems import System
from mbkit.testing.report import Line, Report

#: Name of the compared quantity, found value, expected value.
Found = Iterator[tuple[str, Any, Any]]


#: Instants at which constraints and forces are evaluated. [s]
TIMES = (0.0, 0.45, 1.3)

#: Lengths of the steps from the reference configuration, for each velocity.
SIZES = (1e-2, 0.7, 2.0)


class Nothing(Exception):
    """There is nothing to check; the message has the reason."""


def line_of(
    law: str, bound: float, function: Callable[..., Found], subject: Any, samples: Iterable[Any]
) -> Line:
    """Return the line of a law, with the worst error and its sample, or the message of an error.

    ``function(subject, sample)`` yields the name of a value, found and expected; both may differ by
    the bound in units of the larger of one and the largest number. Samples print as remarks.
    """
    worst, where = 0.0, ""
    looked = False
    try:
        for sample in samples:
            for what, found, expected in function(subject, sample):
                looked = True
                error = error_of(found, expected)
                if not error <= worst:
                    worst, where = error, f"{what} at {sample}"
    except Nothing as nothing:
        return Line(law, None, remark=str(nothing))
    except Exception as error:
        return Line(law, False, remark=text_of(error))
    if not looked:
        return Line(law, None, remark="there are none")
    holds = bool(worst <= bound)
    return Line(law, holds, worst, bound, "" if holds else where)


def repeated(calls: Sequence[Callable[[], Any]], between: Callable[[], Any]) -> Found:
    """Compare the results of calls at first, and after another call, in any order."""
    first = [np.array(call()) for call in calls]
    between()
    for call, kept in zip(reversed(calls), reversed(first), strict=True):
        yield "a second call", call(), kept


def random_state(system: System, rng: np.random.Generator, size: float) -> tuple[Any, Any]:
    """Return a configuration, a step of a size from the reference, and a velocity."""
    q = system.retract(system.reference_configuration(), size * rng.normal(size=system.nv))
    return q, rng.normal(size=system.nv)


def state_text(t: float, q: Any, v: Any) -> str:
    """Return a state as a remark."""
    q, v = (np.array2string(x, precision=4, threshold=8) for x in (q, v))
    return f"t = {t:g}, q = {q}, v = {v}"


def refused(name: str, law: str, error: Exception) -> Report:
    """Return the report on an object that cannot be checked: its definition is wrong."""
    remark = str(error) if isinstance(error, MbkitError) else text_of(error)
    return Report(name, (Line(law, False, remark=remark),))


def text_of(error: BaseException) -> str:
    """Return an exception as a remark."""
    return f"{type(error).__name__}: {error}"


def error_of(found: Any, expected: Any) -> float:
    """Return the largest difference by the largest entry, or by one where that is less."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape != expected.shape:
        return np.inf
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    error = float(np.abs(found - expected).max(initial=0.0)) / scale
    return np.inf if np.isnan(error) else error
