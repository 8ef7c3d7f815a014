"""Values that nobody should give, and right ones in odd clothes."""

from __future__ import annotations

import decimal
import fractions
from typing import Any

import numpy as np

from tests.robustness.guarded_memory import guarded, guarded_copy

__all__ = ["NUMBERS", "dressed", "objects", "odd", "odd_array"]

NUMBERS = (
    0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, 1e-20, 1e20, 1e155, 1e200, 1e308, -1e308,
    float("inf"), float("-inf"), float("nan"), np.pi, 0.5,
)  # fmt: skip


class Unwilling:
    """Cannot become an array, and says so in its own way."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array")


class Endless:
    """Claims to have more entries than there are."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, k: int) -> float:
        if k > 1:
            raise IndexError(k)
        return 0.0


def objects() -> tuple[Any, ...]:
    return (
        None, "x", "", b"x", True, 1.5, -1, 0, 10**400, 2**63, 1j, float("nan"), float("inf"),
        1e308, object(), [], (), {}, set(), {"hinge": 1.0}, {"hinge": "x"}, {1: 2},
        [[1.0], [1.0, 2.0]],
        ["a"], [None], [[]], range(3), (k for k in range(2)), fractions.Fraction(1, 3),
        decimal.Decimal("NaN"), np.float32(2.0), np.datetime64("2020-01-01"), np.array(None),
        np.array("x"), np.zeros(0), np.zeros((0, 3)), memoryview(b"abc"), lambda *_: None,
        int, Exception(),
        Unwilling(), Endless(), np.ma.masked, np.ma.array([1.0, 2.0], mask=[True, False]), slice(2),
        np.zeros(2, [("a", float)]), Ellipsis,
    )  # fmt: skip


_KINDS = len(objects())


def odd(rng: np.random.Generator) -> Any:
    """Return something that is no sensible argument, mostly."""
    return objects()[rng.integers(_KINDS)]


def dressed(rng: np.random.Generator, right: Any) -> Any:
    """Return the same numbers as another kind of array: right, but unusual."""
    array = np.asarray(right, dtype=np.float64)
    frozen = array.copy()
    frozen.flags.writeable = False
    wide = np.repeat(array, 2, axis=-1) if array.ndim else array
    choices = (
        guarded_copy(array), frozen, wide[..., ::2] if array.ndim else array, array.tolist(),
        np.asfortranarray(array), array.astype(">f8"), array.astype(np.float32),
        array.astype(np.longdouble), array.astype(object), array[..., ::-1][..., ::-1]
        if array.ndim else array, np.lib.stride_tricks.as_strided(array), array.astype(int),
        array.view(np.recarray), np.broadcast_to(array, (2, *array.shape)),
        np.broadcast_to(array, (1, 3, *array.shape)), np.broadcast_to(array, (0, *array.shape)),
        np.broadcast_to(array, (600, *array.shape)), np.broadcast_to(array, (10**13, *array.shape)),
    )  # fmt: skip
    return choices[rng.integers(len(choices))]


def odd_array(rng: np.random.Generator, right: Any) -> Any:
    """Return an array like the right one with something wrong: numbers, shape or type."""
    array = np.array(right, dtype=np.float64)
    kind = rng.integers(10)
    if kind < 4 and array.size:
        for _ in range(rng.integers(1, 3)):
            array.flat[rng.integers(array.size)] = NUMBERS[rng.integers(len(NUMBERS))]
        return array
    if kind == 4:
        return np.full(array.shape, NUMBERS[rng.integers(len(NUMBERS))])
    if kind == 5 and array.ndim:
        shape = list(array.shape)
        axis = rng.integers(array.ndim)
        shape[axis] = max(0, shape[axis] + int(rng.integers(-2, 3)))
        made = guarded(*shape, before=bool(rng.integers(2)))
        made[...] = 0.0
        return made
    if kind == 6:
        shape = tuple(rng.integers(0, 4, size=rng.integers(0, 4)))
        return np.zeros(shape + array.shape[: rng.integers(array.ndim + 1)])
    if kind == 7:
        types = (complex, bool, "S3", "U3", object, np.int8, np.uint64, np.float16, "M8[s]")
        return np.zeros(array.shape, dtype=types[rng.integers(len(types))])
    if kind == 8:
        return np.ma.array(array, mask=rng.integers(2, size=array.shape, dtype=bool))
    return odd(rng)
