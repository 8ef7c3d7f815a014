"""A law at many samples: the largest difference between what is found and what is expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mbkit.testing.report import Line

#: What is compared, what is found, what is expected.
Found = Iterator[tuple[str, Any, Any]]


class Nothing(Exception):
    """There is nothing to look at; the message says why."""


def line_of(
    law: str, bound: float, function: Callable[..., Found], subject: Any, samples: Iterable[Any]
) -> Line:
    """Return the line of a law, with the worst error and its sample, or the message of what raises.

    ``function(subject, sample)`` yields what is compared, found and expected; both may differ by
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
    """Compare what calls return first, and after another one, in whatever order they are asked."""
    first = [np.array(call()) for call in calls]
    between()
    for call, kept in zip(reversed(calls), reversed(first), strict=True):
        yield "a second call", call(), kept


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
