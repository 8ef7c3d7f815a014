"""Integers that several threads change: each function here is one operation, which no other splits.

All are sequentially consistent: what a thread has written before it, a thread that sees its result
sees as well.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from mbkit.kernels.compile import UNCOMPILED, integers_at

_ORDER = "seq_cst"
_SIZE = 8


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


if UNCOMPILED:  # there is one thread

    def read(address: int) -> int:
        """Return the integer at an address."""
        return int(integers_at(address, 1)[0])

    def write(address: int, number: int) -> int:
        """Write an integer to an address; return it."""
        integers_at(address, 1)[0] = number
        return number

    def add_to(address: int, number: int) -> int:
        """Add to the integer at an address; return its value before."""
        before = read(address)
        write(address, before + number)
        return before

    def replace(address: int, expected: int, number: int) -> bool:
        """Write `number` if `expected` is at the address; return whether it was."""
        was_there = read(address) == expected
        if was_there:
            write(address, number)
        return was_there

else:

    @intrinsic
    def read(typing_context, address):
        """Return the integer at an address."""

        def codegen(context, builder, signature, values):
            return builder.load_atomic(_pointer(builder, values[0]), _ORDER, _SIZE)

        return types.int64(types.int64), codegen

    @intrinsic
    def write(typing_context, address, number):
        """Write an integer to an address; return it."""

        def codegen(context, builder, signature, values):
            builder.store_atomic(values[1], _pointer(builder, values[0]), _ORDER, _SIZE)
            return values[1]

        return types.int64(types.int64, types.int64), codegen

    @intrinsic
    def add_to(typing_context, address, number):
        """Add to the integer at an address; return its value before."""

        def codegen(context, builder, signature, values):
            return builder.atomic_rmw("add", _pointer(builder, values[0]), values[1], _ORDER)

        return types.int64(types.int64, types.int64), codegen

    @intrinsic
    def replace(typing_context, address, expected, number):
        """Write `number` if `expected` is at the address; return whether it was."""

        def codegen(context, builder, signature, values):
            place = _pointer(builder, values[0])
            found = builder.cmpxchg(place, values[1], values[2], _ORDER, _ORDER)
            return builder.extract_value(found, 1)

        return types.boolean(types.int64, types.int64, types.int64), codegen
