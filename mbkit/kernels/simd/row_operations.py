"""Multiples of rows of a matrix subtracted from another of its rows, four numbers at once.

A compiler that vectorises such loops by itself tests at each start whether rows overlap,
and leaves short rows, of which Newton's matrices consist, one number at a time.
"""

from typing import Any

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    helper,
    intrinsic,
    overload,
    types,
)
from mbkit.kernels.compiling.fusing import multiplied_and_added
from mbkit.kernels.simd.spread import spread

#: Rows that are subtracted at once: what is in memory is read and written once for all of them.
PANEL = 4


def subtract_panel(A: Any, i: Any, first: Any) -> None:
    """A_i -= sum_k A_ik A_k for k = first to first + 3, right of these columns."""
    f0, f1, f2, f3 = A[i, first], A[i, first + 1], A[i, first + 2], A[i, first + 3]
    for j in range(first + PANEL, A.shape[1]):
        x = A[i, j] - f0 * A[first, j] - f1 * A[first + 1, j]
        A[i, j] = x - f2 * A[first + 2, j] - f3 * A[first + 3, j]


if not UNCOMPILED:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]
    _ROW = _ir.VectorType(_ir.DoubleType(), PANEL)

    @intrinsic
    def _subtract_in_rows(typing_context, A, i, first):
        """The same for doubles: four numbers at once, the rest one by one."""

        def codegen(context, builder, signature, values):
            array = context.make_array(A)(context, builder, values[0])
            i, first = (
                context.cast(builder, value, kind, types.intp)
                for value, kind in zip(values[1:], signature.args[1:], strict=True)
            )
            width = cgutils.unpack_tuple(builder, array.shape)[1]

            def place(row, column):
                return builder.gep(array.data, [builder.add(builder.mul(row, width), column)])

            four = first.type(PANEL)
            rows = [builder.add(first, first.type(k)) for k in range(PANEL)]
            factors = [builder.fneg(builder.load(place(i, row))) for row in rows]
            start = builder.add(first, four)
            count = builder.sdiv(builder.sub(width, start), four)
            middle = builder.add(start, builder.mul(count, four))

            def subtract(column, load, factors):
                x = load(place(i, column))
                for row, factor in zip(rows, factors, strict=True):
                    x = multiplied_and_added(builder, factor, load(place(row, column)), x)
                return x

            def four_at(pointer):
                return builder.load(builder.bitcast(pointer, _ROW.as_pointer()), align=8)

            in_all = [spread(builder, factor, PANEL) for factor in factors]
            with cgutils.for_range_slice(builder, start, middle, four) as (column, _):
                pointer = builder.bitcast(place(i, column), _ROW.as_pointer())
                builder.store(subtract(column, four_at, in_all), pointer, align=8)
            with cgutils.for_range_slice(builder, middle, width, first.type(1)) as (column, _):
                builder.store(subtract(column, builder.load, factors), place(i, column))
            return context.get_dummy_value()

        return types.void(A, i, first), codegen

    _of_any = helper(subtract_panel)

    @overload(subtract_panel, jit_options={"error_model": "numpy", "forceinline": True})
    def _subtract_panel(A, i, first):
        if A.dtype == types.float64 and A.layout == "C":

            def subtract_in_rows(A, i, first):
                _subtract_in_rows(A, i, first)

            return subtract_in_rows

        def of_any(A, i, first):
            _of_any(A, i, first)

        return of_any
