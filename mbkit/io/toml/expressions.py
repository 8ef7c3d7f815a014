"""Parameters of model files, and expressions of them in the places of numbers."""

from __future__ import annotations

import contextlib
import contextvars
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mbkit.errors import ModelFileError
from mbkit.expressions import (
    CONSTANTS,
    FUNCTIONS,
    NotUnderstoodError,
    function_of,
    names,
    with_values,
)

__all__ = ["computed", "evaluate_all", "of_time", "with_parameters"]

#: Names that are taken: of the numbers of a mechanism, the one without a point.
_TAKEN = (*CONSTANTS, *FUNCTIONS, "gravity")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_parameters: contextvars.ContextVar[Mapping[str, float] | None] = contextvars.ContextVar(
    "parameters", default=None
)


@contextlib.contextmanager
def with_parameters(values: Mapping[str, float]) -> Iterator[None]:
    """Let expressions that are read inside know the values of parameters."""
    token = _parameters.set({**values, **CONSTANTS})
    try:
        yield
    finally:
        _parameters.reset(token)


def computed(value: Any) -> Any:
    """Return a value, a list or parts of one, with expressions where numbers belong computed.

    A number in quotes remains a fault; so does all text outside of `with_parameters`.
    ModelFileError if an expression has no value.

    Examples
    --------
    >>> with with_parameters({"L": 0.4}):
    ...     computed([1.0, "-L/2"])
    [1.0, -0.2]
    """
    values = _parameters.get()
    if isinstance(value, list):
        return [computed(each) for each in value]
    if values is None or not isinstance(value, str):
        return value
    try:
        float(value)
    except ValueError:
        return evaluate(value, values)
    return value


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """Return the value of an expression for values of its names."""
    try:
        number = float(function_of(text, values.keys(), "in [parameters]")(values))
    except ZeroDivisionError:
        raise ModelFileError(f"{text!r} divides by zero.") from None
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{text!r} has no value: {error}.") from None
    except (NotUnderstoodError, TypeError) as error:
        raise ModelFileError(f"must be a number, got {text!r:.200}: {error}") from None
    if not math.isfinite(number):
        raise ModelFileError(f"{text!r} is not finite.")
    return number


def of_time(motion: Any) -> Any:
    """Return a motion with numbers for parameters: expressions of the time t, or a table.

    ModelFileError if it is neither, or if a parameter has the name of the time.
    """
    values = _parameters.get() or {}
    if isinstance(motion, dict):
        return {key: computed(each) for key, each in motion.items()}
    texts = motion if isinstance(motion, list) else [motion]
    if not (texts and all(isinstance(each, str) for each in texts)):
        raise ModelFileError(
            f"must be an expression of the time t in quotes, or an array of them, or a table of "
            f"times and positions, got {motion!r:.200}."
        )
    if "t" in values:
        raise ModelFileError("has the time t, which is a parameter here; call that otherwise.")
    found = [with_values(each, values) for each in texts]
    return found if isinstance(motion, list) else found[0]


def evaluate_all(given: Mapping[str, Any], note: Callable[[str, str], None]) -> dict[str, float]:
    """Return the values of parameters, each a number or an expression of others.

    `note` is called with the name of a parameter that has none, and why.
    """
    values: dict[str, float] = {}
    waiting: dict[str, str] = {}
    for name, value in given.items():
        if name in _TAKEN:
            note(name, "stands for something else in expressions; choose another name.")
        elif not _NAME.fullmatch(name):
            note(name, "must be made of letters, digits and '_', as a name in an expression is.")
        elif isinstance(value, str):
            waiting[name] = value
        elif isinstance(value, bool) or not isinstance(value, int | float):
            note(
                name, f"must be a number or an expression of other parameters, got {value!r:.200}."
            )
        elif not math.isfinite(value):
            note(name, f"must be finite, got {value!r:.40}.")
        else:
            values[name] = float(value)
    while ready := [name for name, text in waiting.items() if not names(text) & waiting.keys()]:
        for name in ready:
            try:
                values[name] = evaluate(waiting.pop(name), {**values, **CONSTANTS})
            except ModelFileError as error:
                note(name, str(error))
    for name, text in waiting.items():
        note(name, f"{text!r} leads back to {name!r}; one of them must be a number.")
    return values
