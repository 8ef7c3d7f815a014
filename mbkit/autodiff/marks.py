"""Marks of functions and classes that are traced in a way of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)

_STAND_IN = "stand_in_when_traced"
#: The attribute by which a class is marked.
COPIED = "copied_when_traced"


def traced_as(stand_in: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Return a decorator of a function in whose place `stand_in` is called with traced numbers.

    `unchanged` is for functions that check an array and return it, `without` for those that only
    check, which is skipped for numbers that are being traced.

    Examples
    --------
    >>> @traced_as(without)
    ... def check_positive(x):
    ...     if x <= 0.0:
    ...         raise ValueError(x)
    >>> stand_in_of(check_positive) is without
    True
    """

    def mark(function: _Function) -> _Function:
        setattr(function, _STAND_IN, stand_in)
        return function

    return mark


def stand_in_of(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the replacement of a function, if it has such a mark."""
    found: Callable[..., Any] | None = getattr(function, _STAND_IN, None)
    return found


def unchanged(value: Any, *_others: Any, **_options: Any) -> Any:
    """Return the first argument as an array that may hold traced numbers."""
    return np.array(value, dtype=object)


def without(*_arguments: Any, **_options: Any) -> None:
    """Do nothing."""


def copied_when_traced(kind: _Class) -> _Class:
    """Mark a class whose functions, with those of its subclasses, are copied where they are called.

    Its instances are copied in any case; this is for functions of the class itself.
    """
    setattr(kind, COPIED, True)
    return kind


def is_copied(kind: type) -> bool:
    """Return whether a class, or one that it derives from, has that mark."""
    return any(vars(base).get(COPIED, False) for base in kind.__mro__)
