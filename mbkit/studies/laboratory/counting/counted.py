"""A number that counts the operations on it."""

from __future__ import annotations

import collections
import contextlib
import math
import operator
import sys
from collections.abc import Callable, Hashable, Iterator
from types import FrameType
from typing import Any

#: The counts of operations, by kind; `counting` sets them.
_tally: collections.Counter[str] = collections.Counter()

KINDS = ("additions", "multiplications", "divisions", "roots", "angles")


class _Places:
    """Operations by the place in the program that they are done in."""

    def __init__(self) -> None:
        self.of: Callable[[FrameType], Hashable] | None = None
        self.tally: collections.Counter[Hashable] = collections.Counter()
        self.frame: FrameType | None = None
        self.place: Hashable = None

    def note(self, frame: FrameType) -> None:
        if self.of is not None:
            if frame is not self.frame:  # operations of one call follow each other
                self.frame, self.place = frame, self.of(frame)
            self.tally[self.place] += 1


_places = _Places()


def _operator(kind: str, function: Callable[[Any, Any], Any], turned: bool = False) -> Any:
    def apply(self: Counted, other: Any) -> Counted:
        _tally[kind] += 1
        _places.note(sys._getframe(1))
        a, b = self.value, getattr(other, "value", other)
        return Counted(function(b, a) if turned else function(a, b))

    return apply


def _comparison(function: Callable[[Any, Any], bool]) -> Any:
    return lambda self, other: function(self.value, getattr(other, "value", other))


def _function(kind: str, function: Callable[..., float]) -> Any:
    def apply(self: Counted, *others: Any) -> Counted:
        _tally[kind] += 1
        _places.note(sys._getframe(1))
        return Counted(function(self.value, *(getattr(x, "value", x) for x in others)))

    return apply


class Counted:
    """A float; additions and subtractions, products, quotients, roots and angles are counted.

    One that stands for sin, cos or arctan2 is an angle. Signs, comparisons and absolute values are
    free. Operations on two Python floats are not seen: so are those of constants with each other.
    It is not made of integers: `mbkit.kernels.elementary.grain` recognises doubles by that.
    """

    __slots__ = ("value",)
    __array_ufunc__ = None  # numpy's scalars leave the operation to this class

    def __init__(self, value: float) -> None:
        if isinstance(value, int):
            raise TypeError("a counted number is made of a float")
        self.value = float(value)

    def __repr__(self) -> str:
        return f"Counted({self.value!r})"

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)

    def __neg__(self) -> Counted:
        return Counted(-self.value)

    def __abs__(self) -> Counted:
        return Counted(abs(self.value))

    __hash__ = None  # type: ignore[assignment]

    __add__ = _operator("additions", operator.add)
    __radd__ = _operator("additions", operator.add, turned=True)
    __sub__ = _operator("additions", operator.sub)
    __rsub__ = _operator("additions", operator.sub, turned=True)
    __mul__ = _operator("multiplications", operator.mul)
    __rmul__ = _operator("multiplications", operator.mul, turned=True)
    __truediv__ = _operator("divisions", operator.truediv)
    __rtruediv__ = _operator("divisions", operator.truediv, turned=True)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    sqrt = _function("roots", math.sqrt)
    sin = _function("angles", math.sin)
    cos = _function("angles", math.cos)
    arctan2 = _function("angles", math.atan2)

    def isfinite(self) -> bool:
        """Whether it is a finite number; free."""
        return math.isfinite(self.value)


@contextlib.contextmanager
def counting() -> Iterator[collections.Counter[str]]:
    """Give a counter that has, after the block, the operations of each kind in it."""
    before = _tally.copy()
    found: collections.Counter[str] = collections.Counter()
    yield found
    found.update({kind: _tally[kind] - before[kind] for kind in KINDS})


@contextlib.contextmanager
def counting_places(
    place: Callable[[FrameType], Hashable],
) -> Iterator[collections.Counter[Hashable]]:
    """Give a counter that has, after the block, the operations in it by ``place(frame)``.

    The frame is that of the function that does an operation.
    """
    found: collections.Counter[Hashable] = collections.Counter()
    _places.of, _places.tally = place, found
    try:
        yield found
    finally:
        _places.of = _places.frame = None
