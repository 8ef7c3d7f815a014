"""Orders of rows, such as those of pivots: samples side by side have one each.

In doubles a place in an order is an integer, and what is there is looked up. In lanes it is a whole
number in each lane. Rows are few: all are gone through, and each sample takes its own.
"""

from typing import Any

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    floats_at,
    helper,
    integers_at,
    overload,
)
from mbkit.kernels.elementary import any_lane, select


def own_integers_at(address: Any, count: int) -> Any:
    """Return `count` integers at `address` of which each sample has its own, as an array."""
    return integers_at(address, count)


def entry(x: Any, i: Any) -> Any:
    """Return x[i], where each sample has its own i."""
    return x[i]


def put(x: Any, i: Any, value: Any, condition: Any) -> None:
    """Let x[i] be a value where the condition holds, where each sample has its own i."""
    if condition:
        x[i] = value


def row_at(G: Any, i: Any, room: Any) -> Any:
    """Return row i of a matrix, where each sample has its own i; room for one of its rows."""
    return G[i]


if not UNCOMPILED:
    _INLINE: Any = {"error_model": "numpy", "forceinline": True}

    @overload(own_integers_at, jit_options=_INLINE)
    def _own_integers_at(address, count):
        read = floats_at if hasattr(address, "number") else integers_at

        def numbers(address, count):
            return read(address, count)

        return numbers

    @overload(entry, jit_options=_INLINE)
    def _entry(x, i):
        if not hasattr(x.dtype, "mask"):
            return lambda x, i: x[i]

        def of_lanes(x, i):
            found = x[0]
            for k in range(1, x.shape[0]):
                found = select(i == k, x[k], found)
            return found

        return of_lanes

    @overload(put, jit_options=_INLINE)
    def _put(x, i, value, condition):
        if not hasattr(x.dtype, "mask"):

            def of_one(x, i, value, condition):
                if condition:
                    x[i] = value

            return of_one

        def of_lanes(x, i, value, condition):
            for k in range(x.shape[0]):
                x[k] = select((i == k) & condition, value, x[k])

        return of_lanes

    @overload(row_at, jit_options=_INLINE)
    def _row_at(G, i, room):
        if not hasattr(G.dtype, "mask"):
            return lambda G, i, room: G[i]

        def of_lanes(G, i, room):
            for r in range(G.shape[0]):
                is_here = i == r
                if any_lane(is_here):
                    for k in range(G.shape[1]):
                        room[k] = select(is_here, G[r, k], room[k])
            return room

        return of_lanes


@helper
def exchange(x, i, k, condition):
    """x[i] and x[k] change places where the condition holds; i and k are the same for all."""
    a, b = x[i], x[k]
    x[i] = select(condition, b, a)
    x[k] = select(condition, a, b)
