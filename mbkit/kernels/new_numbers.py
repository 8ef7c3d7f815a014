"""Memory that a kernel allocates for as long as it runs, for numbers of whatever kind it has."""

from typing import Any

import numpy as np

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    intrinsic,
    overload,
    types,
)


def new_numbers(like: Any, count: int) -> Any:
    """Return memory for so many numbers of the type that an array has."""
    return np.empty(count)


if not UNCOMPILED:
    _INLINE: Any = {"error_model": "numpy", "forceinline": True}

    #: Doubles in a line of the cache, at which memory of lanes begins.
    _IN_LINE = 8

    @intrinsic
    def _in_lines(typing_context, memory, like, count):
        """Doubles as numbers of another type, from the first whole line on."""
        kind = types.Array(like.dtype, 1, "C")

        def codegen(context, builder, signature, values):
            doubles = context.make_array(memory)(context, builder, values[0])
            size = kind.dtype.bitwidth // 8
            word = cgutils.ir.IntType(64)
            address = builder.add(builder.ptrtoint(doubles.data, word), word(8 * _IN_LINE - 1))
            address = builder.and_(address, word(-8 * _IN_LINE))
            array = context.make_array(kind)(context, builder)
            array.data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
            array.nitems, array.itemsize = values[2], word(size)
            array.shape = cgutils.pack_array(builder, [values[2]])
            array.strides = cgutils.pack_array(builder, [word(size)])
            array.meminfo, array.parent = doubles.meminfo, doubles.parent
            if context.enable_nrt:  # one owner more
                context.nrt.incref(builder, memory, values[0])
            return array._getvalue()

        return kind(memory, like, types.intp), codegen

    @overload(new_numbers, jit_options=_INLINE)
    def _new_numbers(like, count):
        if not hasattr(like.dtype, "number"):
            return lambda like, count: np.empty(count)
        doubles = like.dtype.bitwidth // 64

        def of_lanes(like, count):
            return _in_lines(np.empty(doubles * count + _IN_LINE), like, count)

        return of_lanes
