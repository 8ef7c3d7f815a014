"""Products of 3x3 matrices, a row at a time, in the instructions of vector units.

A compiler that is given one number at a time leaves three of four lanes empty: it takes 4 ns for a
pose in the world, this 2.7 ns.
"""

from typing import Any

import numpy as np

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    intrinsic,
    types,
)
from mbkit.kernels.compiling.fusing import multiplied_and_added
from mbkit.kernels.simd.spread import spread

if UNCOMPILED:

    def multiply(A: Any, B: Any, out: Any) -> None:
        """Let out be A B."""
        out[...] = np.array(A) @ np.array(B)

else:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]
    _ROW = _ir.VectorType(_ir.DoubleType(), 4)
    #: Where a row of four begins. The last begins one before its own, lest it ends beyond.
    _STARTS = 0, 3, 5

    def _at(builder, data, index, kind):
        pointer = builder.gep(data, [_ir.Constant(_ir.IntType(64), index)])
        return builder.bitcast(pointer, kind.as_pointer())

    def _shuffled(builder, a, b, order):
        lanes = _ir.Constant(_ir.VectorType(_ir.IntType(32), 4), order)
        return builder.shuffle_vector(a, b, lanes)

    def _sum_of_products(builder, a, b):
        """a_0 b_0 + a_1 b_1 + a_2 b_2."""
        total = builder.fmul(a[0], b[0])
        for factors in zip(a[1:], b[1:], strict=True):
            total = multiplied_and_added(builder, *factors, total)
        return total

    @intrinsic
    def multiply(typing_context, A, B, out):
        """Let out be A B: contiguous arrays (3, 3), out none of the others or one of them.

        Row i of it is the sum of A_ik times row k of B, of four numbers of which three count. Rows
        overlap, in memory too: what is stored beyond the one is overwritten by the next.
        """
        if not all(kind.layout == "C" and kind.ndim == 2 for kind in (A, B, out)):
            raise TypeError("Matrices that are multiplied by rows must be contiguous.")

        def codegen(context, builder, signature, values):
            a, b, c = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args, values, strict=True)
            )
            rows = [builder.load(_at(builder, b, start, _ROW), align=8) for start in _STARTS]
            rows[2] = _shuffled(builder, rows[2], rows[2], [1, 2, 3, 3])
            found = []
            for i in range(3):
                factors = []
                for k in range(3):
                    number = builder.load(_at(builder, a, 3 * i + k, _ir.DoubleType()))
                    factors.append(spread(builder, number, 4))
                found.append(_sum_of_products(builder, factors, rows))
            found[2] = _shuffled(builder, found[1], found[2], [2, 4, 5, 6])
            for start, row in zip(_STARTS, found, strict=True):
                builder.store(row, _at(builder, c, start, _ROW), align=8)
            return context.get_dummy_value()

        def entry_by_entry(context, builder, signature, values):
            """The same sums of lanes, each of which fills a register, or of dual numbers."""
            products = getattr(out.dtype, "sum_of_products", _sum_of_products)

            def entries(kind, value):
                data = context.make_array(kind)(context, builder, value).data
                places = [builder.gep(data, [_ir.Constant(_ir.IntType(64), j)]) for j in range(9)]
                numbers = [builder.load(place) for place in places]
                return [context.cast(builder, x, kind.dtype, out.dtype) for x in numbers]

            a, b = entries(A, values[0]), entries(B, values[1])
            data = context.make_array(out)(context, builder, values[2]).data
            for i in range(3):
                for k in range(3):
                    total = products(builder, a[3 * i : 3 * i + 3], b[k::3])
                    place = _ir.Constant(_ir.IntType(64), 3 * i + k)
                    builder.store(total, builder.gep(data, [place]))
            return context.get_dummy_value()

        in_rows = out.dtype == types.float64
        return types.void(A, B, out), codegen if in_rows else entry_by_entry
