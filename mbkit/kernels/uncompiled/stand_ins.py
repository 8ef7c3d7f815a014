"""Functions that have a meaning of their own for lanes, as Python computes them."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from mbkit.kernels import compile as door
from mbkit.kernels import (
    each_lane,
    elementary,
    integers_in_floats,
    lanes,
    new_numbers,
    of_lanes,
)
from mbkit.kernels.calls import transposition
from mbkit.kernels.constraints.solve import dense_calls
from mbkit.kernels.linear_algebra import lu, pivot_orders
from mbkit.kernels.simd import matrix_product
from mbkit.kernels.uncompiled.memory import Address, Array, numbers_at, records_of_lanes_at
from mbkit.kernels.uncompiled.numbers import Mask, Numbers, each, gathered, lanes_of, of_sample
from mbkit.kernels.validation import both

# ---------------------------------------------------------------------------------- memory


def floats_at(address: Any, count: int) -> Any:
    """Return the numbers at an address; its type determines theirs."""
    if isinstance(address, Address):
        return numbers_at(address, count)
    return door.floats_at(address, count)


def records_at(address: Any, count: int, dtype: np.dtype[Any]) -> Any:
    """Return records, likewise."""
    if isinstance(address, Address):
        return records_of_lanes_at(address, count, dtype)
    return door.records_at(address, count, dtype)


def numbers_like(like: Any, count: int) -> Any:
    """Return memory for numbers like those of an array."""
    if isinstance(like, Array):
        return Array(np.empty((count, like.memory.shape[-1]), like.memory.dtype))
    return new_numbers.new_numbers(like, count)


def _is_of_lanes(arguments: tuple[Any, ...]) -> bool:
    return any(isinstance(x, Numbers | Address) for x in arguments)


def of_one(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function that has no form for lanes, unless the arguments are lanes."""
    return 0 if _is_of_lanes(arguments) else function(*arguments)


def for_lanes(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function that is for lanes alone, if the arguments are lanes."""
    return function(*arguments) if _is_of_lanes(arguments) else 0


# ------------------------------------------------------------------------------- functions


def sqrt(x: Any) -> Any:
    """Return the square root."""
    return Numbers(np.sqrt(x.lanes)) if isinstance(x, Numbers) else elementary.sqrt(x)


def _by_sample(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the library that is called for one sample after another."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if any(isinstance(x, Numbers) for x in arguments):
            return each(function, *arguments)
        return function(*arguments)

    return call


def sin_cos(x: Any) -> Any:
    """Return the sine and the cosine."""
    return SIN(x), COS(x)


SIN, COS = _by_sample(elementary.sin), _by_sample(elementary.cos)


def grain(x: Any) -> Any:
    """Return the rounding of numbers like x, by that of doubles."""
    return 1.0 if isinstance(x, Numbers) else elementary.grain(x)


def _one_of(first: Callable[[Any, Any], Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    """Return `max` or `min`: of two numbers the second, where `first` is true of them."""

    @functools.wraps(usual)
    def call(*arguments: Any) -> Any:
        if not any(isinstance(x, Numbers) for x in arguments):
            return usual(*arguments)
        found, *others = arguments
        for x in others:
            found = select(first(found, x), x, found)
        return found

    return call


# ------------------------------------------------------------------------------ conditions


def select(condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition holds, y elsewhere."""
    if not isinstance(condition, Mask):
        return x if condition else y
    return Numbers(np.where(condition.lanes, lanes_of(x), lanes_of(y)).astype(_kind(x, y)))


def _kind(*numbers: Any) -> Any:
    """Return of which precision numbers are of which some may be the same for all samples."""
    return next((x.lanes.dtype for x in numbers if isinstance(x, Numbers)), np.float64)


def any_lane(condition: Any) -> bool:
    """Return whether it holds for one at least."""
    return bool(np.any(lanes_of(condition)))


def all_lanes(condition: Any) -> bool:
    """Return whether it holds for all."""
    return bool(np.all(lanes_of(condition)))


# ----------------------------------------------------------------------------- lane by lane


def for_each_lane(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function for one sample after another."""
    width = _width_among(arguments)
    if not width:
        return function(*arguments)
    return gathered([function(*of_sample(arguments, j)) for j in range(width)])


def _width_among(x: Any) -> int:
    """Return how many samples there are side by side, 0 where no number of a tuple has several."""
    if isinstance(x, Numbers):
        return int(x.lanes.size)
    return max(map(_width_among, x), default=0) if isinstance(x, tuple) else 0


def lane(x: Any, j: int) -> float:
    """Return the number of one sample."""
    return float(x.lanes[j])


def with_lane(x: Any, j: int, value: float) -> Numbers:
    """Return the numbers with another one of one sample."""
    found = x.lanes.copy()
    found[j] = value
    return Numbers(found)


def width_of(x: Any) -> int:
    """Return how many samples there are side by side."""
    return int(x.lanes.size)


def shared(x: Any) -> Any:
    """Return the number that those of all samples are: the first."""
    return float(x.lanes[0]) if isinstance(x, Numbers) else x


# ---------------------------------------------------- rows of which each sample has its own


def own_integers_at(address: Any, count: int) -> Any:
    """Return whole numbers of which each sample has its own."""
    at = floats_at if isinstance(address, Address) else door.integers_at
    return at(address, count)


def _each_place(x: Array, i: Any) -> tuple[Any, Any]:
    """Return places of which each sample has its own, and whether they are in an array."""
    places = np.broadcast_to(lanes_of(i), x.memory.shape[-1:]).astype(np.int64)
    return places, (places >= 0) & (places < len(x))


def entry(x: Any, i: Any) -> Any:
    """Return x[i], where each sample has its own i; the first, where it is none."""
    if not isinstance(x, Array):
        return x[i]
    places, are_there = _each_place(x, i)
    return Numbers(x.memory[np.where(are_there, places, 0), np.arange(places.size)])


def put(x: Any, i: Any, value: Any, condition: Any) -> None:
    """Let x[i] be a value where the condition holds, where each sample has its own i."""
    if not isinstance(x, Array):
        pivot_orders.put(x, i, value, condition)
        return
    places, are_there = _each_place(x, i)
    (lanes,) = np.nonzero(are_there & lanes_of(condition))
    x.memory[places[lanes], lanes] = np.broadcast_to(lanes_of(value), places.shape)[lanes]


def row_at(G: Any, i: Any, room: Any) -> Any:
    """Return row i of a matrix, where each sample has its own i; room for one of its rows."""
    if not isinstance(G, Array):
        return G[i]
    places, are_there = _each_place(G, i)
    (lanes,) = np.nonzero(are_there)
    room.memory[: G.shape[1], lanes] = G.memory[places[lanes], :, lanes].T
    return room


def exchange_entries(x: Any, k: int, other: Any) -> None:
    """Let x[k] and x[other] change places, where each sample has its own other."""
    if isinstance(x, Array):
        _exchange(x, k, other)
    else:
        lu.exchange_entries(x, k, other)


def exchange_rows(A: Any, k: int, other: Any) -> None:
    """Let rows k and other of a matrix change places, likewise."""
    if isinstance(A, Array):
        _exchange(A, k, other)
    else:
        lu.exchange_rows(A, k, other)


def _exchange(x: Array, k: int, other: Any) -> None:
    for j, i in enumerate(_each_place(x, other)[0].tolist()):
        x.memory[[k, i], ..., j] = x.memory[[i, k], ..., j]


# ------------------------------------------------------------------------ blocks of numbers


def multiply(A: Any, B: Any, out: Any) -> None:
    """Let out be A B."""
    if not isinstance(out, Array):
        matrix_product.multiply(A, B, out)
        return
    for j in range(out.memory.shape[-1]):
        matrix_product.multiply(of_sample(A, j), of_sample(B, j), out.memory[..., j])


def _memory_alone(closure: Any, nv: int, m: int, j: int) -> Any:
    """Return B, two vectors a row, efforts and the rest of the memory that one sample has."""
    count = closure.num_alone
    memory = door.pointer_at(closure.memory)[j * count : (j + 1) * count]
    return np.split(memory, np.cumsum([nv * m, m, m, nv]))


def prepare_matrix(closure: Any, sizes: Any, B: Any, limits: Any, kept: Any) -> int:
    """Call `prepare` of a dense strategy, which works on doubles, for one sample after another."""
    if not isinstance(B, Array):
        return int(dense_calls.prepare_matrix(closure, sizes, B, limits, kept))
    nv, m = sizes
    status = 0
    for j in range(B.memory.shape[-1]):
        matrix, own_limits, own_kept, _, rest = _memory_alone(closure, nv, m, j)
        given = (matrix, B), (own_limits, limits), (own_kept, kept)
        for own, x in given:
            own[:] = x.of_sample(j)
        arguments = (nv, m, matrix, own_limits, own_kept, rest)
        status = both(status, door.call_address(closure.dense_prepare, arguments))
        kept.of_sample(j)[:] = own_kept
    return status


def solve_matrix(closure: Any, sizes: Any, B: Any, target: Any, found: Any) -> int:
    """Call `solve` likewise."""
    if not isinstance(B, Array):
        return int(dense_calls.solve_matrix(closure, sizes, B, target, found))
    nv, m = sizes
    efforts, multipliers = found
    status = 0
    for j in range(B.memory.shape[-1]):
        matrix, own_target, own, own_efforts, rest = _memory_alone(closure, nv, m, j)
        own_target[:] = target.of_sample(j)
        arguments = (nv, m, matrix, own_target, own_efforts, own, rest)
        status = both(status, door.call_address(closure.dense_solve, arguments))
        efforts.of_sample(j)[:] = own_efforts
        multipliers.of_sample(j)[:] = own
    return status


def _transposition(count: int) -> Callable[..., None]:
    """Return the function that writes the columns of a square as rows: see `transposition`."""

    def transpose(source: Any, rows: tuple[Any, ...], target: Any, columns: Any) -> None:
        first, step = columns
        given, found = source.reshape(-1), target.reshape(-1)
        places = np.arange(count)
        if len(rows) == 3:
            begins = rows[0][rows[1] + places] + rows[2]
        else:
            begins = rows[0] + rows[1] * places
        found[first + step * places[:, None] + places] = given[begins + places[:, None]]

    return transpose


#: Functions of `math` that kernels and users may call.
_OF_LIBRARY = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "exp", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc", "pow", "hypot",
)  # fmt: skip


def pairs() -> list[tuple[Any, Any]]:
    """Return functions and the replacement of each in copies of kernels."""
    library = {name: _by_sample(getattr(math, name)) for name in _OF_LIBRARY}
    library["sqrt"] = lambda x: sqrt(x) if isinstance(x, Numbers) else math.sqrt(x)
    return [
        (door.floats_at, floats_at), (door.records_at, records_at), (door.of_one, of_one),
        (of_lanes.of_lanes, for_lanes),
        (elementary.sqrt, sqrt), (elementary.sin, SIN), (elementary.cos, COS),
        (elementary.sin_cos, sin_cos), (elementary.arctan2, _by_sample(elementary.arctan2)),
        (elementary.select, select), (elementary.any_lane, any_lane),
        (elementary.all_lanes, all_lanes), (elementary.grain, grain),
        (each_lane.each_lane, for_each_lane), (new_numbers.new_numbers, numbers_like),
        (lanes.lane, lane), (lanes.with_lane, with_lane), (lanes.width_of, width_of),
        (integers_in_floats.shared, shared),
        (pivot_orders.own_integers_at, own_integers_at), (pivot_orders.entry, entry),
        (pivot_orders.put, put), (pivot_orders.row_at, row_at),
        (lu.exchange_entries, exchange_entries), (lu.exchange_rows, exchange_rows),
        (dense_calls.prepare_matrix, prepare_matrix), (dense_calls.solve_matrix, solve_matrix),
        (matrix_product.multiply, multiply),
        (transposition.transpose_four, _transposition(4)),
        (transposition.transpose_eight, _transposition(8)),
        (math, SimpleNamespace(**{**vars(math), **library})),
    ]  # fmt: skip


#: What copies of kernels find in the place of Python's own functions.
BUILTINS = {
    **vars(builtins),
    "max": _one_of(lambda a, b: b > a, max),
    "min": _one_of(lambda a, b: b < a, min),
}
