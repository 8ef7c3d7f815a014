"""Calls of dense strategies: of samples side by side for one after another, each with its memory.

What a strategy does is a function of numbers alone, by address, and may be a user's.
"""

from typing import Any

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    call_address,
    floats_at,
    helper,
    overload,
    pointer_at,
)
from mbkit.kernels.validation import both


def prepare_matrix(closure, sizes, B, limits, kept):
    """Call `prepare`: sizes (nv, m), B (nv m,), limits (m,), kept (m,)."""
    nv, m = sizes
    arguments = (nv, m, B, limits, kept, pointer_at(closure.memory))
    return call_address(closure.dense_prepare, arguments)


def solve_matrix(closure, sizes, B, target, found):
    """Call `solve`: target (m,); found: efforts (nv,) and multipliers (m,)."""
    nv, m = sizes
    efforts, multipliers = found
    arguments = (nv, m, B, target, efforts, multipliers, pointer_at(closure.memory))
    return call_address(closure.dense_solve, arguments)


def memory_alone(nv: int, m: int, memory: int) -> int:
    """Return how many numbers a sample has of its own: B, two vectors a row, efforts, the rest."""
    return nv * m + 2 * m + nv + memory


if not UNCOMPILED:
    from mbkit.kernels.lanes import lane, width_of, with_lane

    _INLINE: Any = {"error_model": "numpy", "forceinline": True}

    @helper
    def own_memory(closure, nv, m, j):
        """B, limits or target, kept or multipliers, efforts, and what is left, of one sample."""
        count = closure.num_alone
        memory = floats_at(closure.memory + 8 * j * count, count)
        first = nv * m
        after = first + 2 * m
        return (
            memory[:first], memory[first : first + m], memory[first + m : after],
            memory[after : after + nv], memory[after + nv :],
        )  # fmt: skip

    @helper
    def take_lane(x, j, out):
        """The numbers of one sample."""
        for k in range(out.shape[0]):
            out[k] = lane(x[k], j)

    @helper
    def put_lane(x, j, own):
        """The way back."""
        for k in range(own.shape[0]):
            x[k] = with_lane(x[k], j, own[k])

    @overload(prepare_matrix, jit_options=_INLINE)
    def _prepare_matrix(closure, sizes, B, limits, kept):
        if not hasattr(B.dtype, "mask"):
            return prepare_matrix

        def of_lanes(closure, sizes, B, limits, kept):
            nv, m = sizes
            status = 0
            for j in range(width_of(B[0])):
                matrix, own_limits, own_kept, _, rest = own_memory(closure, nv, m, j)
                take_lane(B, j, matrix)
                take_lane(limits, j, own_limits)
                take_lane(kept, j, own_kept)
                arguments = (nv, m, matrix, own_limits, own_kept, rest)
                status = both(status, call_address(closure.dense_prepare, arguments))
                put_lane(kept, j, own_kept)
            return status

        return of_lanes

    @overload(solve_matrix, jit_options=_INLINE)
    def _solve_matrix(closure, sizes, B, target, found):
        if not hasattr(B.dtype, "mask"):
            return solve_matrix

        def of_lanes(closure, sizes, B, target, found):
            nv, m = sizes
            efforts, multipliers = found
            status = 0
            for j in range(width_of(B[0])):
                matrix, own_target, own, own_efforts, rest = own_memory(closure, nv, m, j)
                take_lane(target, j, own_target)
                arguments = (nv, m, matrix, own_target, own_efforts, own, rest)
                status = both(status, call_address(closure.dense_solve, arguments))
                put_lane(efforts, j, own_efforts)
                put_lane(multipliers, j, own)
            return status

        return of_lanes
