"""Each parameter of everything public in turn, given each odd value; all else is right.

    python -m tests.robustness.one_by_one

Random calls seldom meet one parameter of many with the one value that its check forgot.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mbkit as mb
from tests.robustness.calls import (
    COUNTS,
    MOST,
    SPAN,
    Broken,
    functions,
    methods_of,
    momentum_form,
    outcome,
    regular,
    simulation,
    studies,
    words,
    words_of,
)
from tests.robustness.odd_values import objects
from tests.robustness.progress import Progress, say
from tests.robustness.subjects import SUBJECTS, subject

__all__ = ["calls", "faults"]

_EMPTY = inspect.Parameter.empty


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return every call in words, and a function that makes it."""
    for label, function, right in _callables():
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            continue
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        named = [each for each in parameters if each.kind in kinds]
        if any(each.default is _EMPTY and each.name not in right for each in named):
            continue  # what is right is not known: random calls do these
        needed = {each.name: right[each.name] for each in named if each.default is _EMPTY}
        yield from _with_each(label, function, needed, [each.name for each in named])
    for name in SUBJECTS:
        system = subject(name)
        needed = {"system": system, **SPAN, "progress": False}
        changed = [*SPAN, *simulation(system)]
        yield from _with_each(f"{name}: simulate", mb.simulate, needed, changed)
    for name, right in studies().items():
        yield from _with_each(name, getattr(mb.studies, name), right, list(right))
    needed = {"system": momentum_form(), **SPAN, "progress": False}
    changed = [*SPAN, *simulation(subject("tree")), "integrator", "output"]
    yield from _with_each("tree in momenta: simulate", mb.simulate, needed, changed)


def _with_each(
    label: str, function: Callable[..., Any], needed: dict[str, Any], changed: list[str]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    for key in changed:
        for k, value in enumerate(objects()):
            if key in COUNTS and isinstance(value, int) and value > MOST:
                continue  # so many are computed
            given = {**needed, key: objects()[k]}
            yield f"{label}({key}={value!r})", functools.partial(function, **given)


def _callables() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    rng = np.random.default_rng(0)
    tree = subject(next(iter(SUBJECTS)))
    for label, function in functions():
        parameters = _parameters(function)
        yield label, function, words_of(tree, rng) if "system" in parameters else words()
    for name in SUBJECTS:
        system = subject(name)
        for key in methods_of(system):
            yield f"{name}.{key}", getattr(system, key), regular(system, rng)
    for key in methods_of(momentum_form()):
        yield f"tree in momenta.{key}", getattr(momentum_form(), key), regular(tree, rng)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def faults(every: int = 1, first: int = 0) -> list[str]:
    """Return what broke the law, by kind; of every so many calls, from one on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of numpy: nobody learns from it which argument was wrong
        warnings.simplefilter("ignore", UserWarning)  # mbkit's own, which name it
        return _faults(every, first)


def _faults(every: int, first: int) -> list[str]:
    found: dict[str, str] = {}
    progress = Progress("calls")
    number = -1
    for number, (text, call) in enumerate(calls()):
        if number % every != first:
            continue
        try:
            outcome(call)
        except Broken as error:
            lines = [line for line in str(error).splitlines() if "mbkit/mbkit/" in line]
            kind = f"{str(error).split(':')[0]} {lines[-1] if lines else text}"
            if kind not in found:
                found[kind] = f"{text[:300]}\n{error}"
                say(f"\n{found[kind]}\n")
        progress.tell(number + 1, len(found))
    progress.close(number + 1, len(found))
    return list(found.values())


if __name__ == "__main__":
    sys.exit(1 if faults() else 0)
