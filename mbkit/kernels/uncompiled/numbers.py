"""Lanes where nothing is compiled: several numbers as an array, and results of comparisons.

What `mbkit.kernels.lanes` is to compiled code. Operations are those of doubles, lane by lane, and
no product is fused with a sum, so that each lane has the bits of one sample in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np


class Numbers:
    """The numbers of as many samples, side by side; they are not changed.

    Attributes
    ----------
    lanes : ndarray, shape (width,)
        One for each sample.
    """

    __slots__ = ("lanes",)
    __array_ufunc__ = None  # a scalar of numpy leaves operations to these

    def __init__(self, lanes: Any) -> None:
        self.lanes = lanes

    def __bool__(self) -> bool:
        raise TypeError("Numbers of several samples have no truth value.")

    def __neg__(self) -> Numbers:
        return Numbers(-self.lanes)

    def __abs__(self) -> Numbers:
        return Numbers(np.abs(self.lanes))

    def __repr__(self) -> str:
        return f"Numbers({self.lanes.tolist()})"

    __hash__ = None  # type: ignore[assignment]


class Mask:
    """Truth values, one a sample; of all together there is none.

    Attributes
    ----------
    lanes : ndarray of bool, shape (width,)
        One for each sample.
    """

    __slots__ = ("lanes",)
    __array_ufunc__ = None

    def __init__(self, lanes: Any) -> None:
        self.lanes = lanes

    def __bool__(self) -> bool:
        raise TypeError(
            "A comparison of several samples has no truth value; a kernel that is written for "
            "lanes says any_lane, all_lanes or select."
        )

    def __invert__(self) -> Mask:
        return Mask(~self.lanes)

    def __repr__(self) -> str:
        return f"Mask({self.lanes.tolist()})"


#: What is spread where it meets numbers, as doubles are; single precision stays single.
_SPREAD = int | float | np.integer | np.bool_


def lanes_of(x: Any) -> Any:
    """Return the array that numpy computes with: the lanes of numbers; else the value itself."""
    return x.lanes if isinstance(x, Numbers | Mask) else x


def _give(kind: Any, name: str, made: Any, operation: Callable[..., Any], taken: Any) -> None:
    """Give a class an operation of two, of which one may be the same for all samples."""

    def of_two(a: Any, b: Any) -> Any:
        if type(b) is kind:
            return made(operation(a.lanes, b.lanes))
        return made(operation(a.lanes, taken(b))) if isinstance(b, _SPREAD) else NotImplemented

    def the_other_way(a: Any, b: Any) -> Any:
        return made(operation(taken(b), a.lanes)) if isinstance(b, _SPREAD) else NotImplemented

    setattr(kind, f"__{name}__", of_two)
    if made is kind:  # Python turns comparisons round itself
        setattr(kind, f"__r{name}__", the_other_way)


for _name in ("add", "sub", "mul", "truediv"):
    _give(Numbers, _name, Numbers, getattr(operator, _name), float)
_give(Numbers, "pow", Numbers, np.vectorize(operator.pow), float)  # numpy's has other bits
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _give(Numbers, _name, Mask, getattr(operator, _name), float)
for _name in ("and", "or"):
    _give(Mask, _name, Mask, getattr(operator, f"{_name}_"), bool)


def each(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a function of doubles, of one sample after another: numpy may do arrays otherwise."""
    width = next(x.lanes.size for x in arguments if isinstance(x, Numbers))
    samples = [[of_sample(x, j) for x in arguments] for j in range(width)]
    return gathered([function(*sample) for sample in samples])


def of_sample(x: Any, j: int) -> Any:
    """Return the entry of one sample in a number, an array, or a tuple of them."""
    if isinstance(x, Numbers):
        return float(x.lanes[j])
    if isinstance(x, tuple):
        found = [of_sample(entry, j) for entry in x]
        return type(x)(*found) if hasattr(x, "_fields") else tuple(found)
    return x.of_sample(j) if hasattr(x, "of_sample") else x


def gathered(found: list[Any]) -> Any:
    """Return the lanes of all samples from the results of each: a number, truth value, or tuple."""
    if isinstance(found[0], tuple):
        return tuple(gathered(list(entries)) for entries in zip(*found, strict=True))
    lanes = np.array(found)
    return Mask(lanes) if lanes.dtype == bool else Numbers(lanes.astype(np.float64))
