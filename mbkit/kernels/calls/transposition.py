"""Squares of numbers that are transposed in registers, on the way between samples and lanes.

One by one, each number that lies apart from its neighbours takes an instruction to read and one to
write. A square of n rows takes 2 n in all, and n log2 n that exchange numbers between registers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from mbkit.kernels.simd.rounding import rounded


def _chosen(builder: Any, a: Any, b: Any, places: Any) -> Any:
    """Return the numbers at these places of two vectors, counted through both."""
    kind = ir.VectorType(ir.IntType(32), len(places))
    return builder.shuffle_vector(a, b, ir.Constant(kind, list(places)))


def _columns(builder: Any, left: Any, right: Any) -> Any:
    """Return the columns of a square whose rows are given as their left and right halves.

    Blocks off the diagonal change places, of half the size first: that is how halves are put
    together. Then the same within each block, of half the size again, down to single numbers.
    """
    count = len(left)
    half = count // 2
    every = range(count)
    found = [
        _chosen(builder, side[i], side[i + half], every)
        for side in (left, right)
        for i in range(half)
    ]
    distance = half // 2
    while distance:
        upper = [c + count - distance if c & distance else c for c in every]
        lower = [c + count if c & distance else c + distance for c in every]
        for i in every:
            if not i & distance:
                pair = found[i], found[i + distance]
                found[i] = _chosen(builder, *pair, upper)
                found[i + distance] = _chosen(builder, *pair, lower)
        distance //= 2
    return found


def _transposition(count: int) -> Any:
    @intrinsic
    def transpose(typing_context, source, rows, target, columns):
        """Write the columns of a square of `source` as rows of `target`, both counted flat.

        rows: (first, step), the row j of the square begins at first + j step; or
        (places, k, shift), it begins at places[k + j] + shift. columns: (first, step), where the
        columns go. Numbers are rounded where those of `target` are of single precision.
        """
        element = target.dtype

        def codegen(context, builder, signature, values):
            def integer(position, k):
                value = builder.extract_value(values[position], k)
                return context.cast(builder, value, signature.args[position][k], types.int64)

            def vector(position, place, size):
                array = context.make_array(signature.args[position])
                data = array(context, builder, values[position]).data
                kind = ir.VectorType(data.type.pointee, size).as_pointer()
                return builder.bitcast(builder.gep(data, [place]), kind)

            def begin(j):
                last = integer(1, 1)
                if isinstance(rows[0], types.Array):
                    listed = builder.extract_value(values[1], 0)
                    data = context.make_array(rows[0])(context, builder, listed).data
                    place = builder.load(builder.gep(data, [builder.add(last, last.type(j))]))
                    return builder.add(place, integer(1, 2))
                return builder.add(integer(1, 0), builder.mul(last, last.type(j)))

            halves: Any = ([], [])
            for j in range(count):
                for side in (0, 1):
                    place = builder.add(begin(j), ir.IntType(64)(side * count // 2))
                    half = builder.load(
                        vector(0, place, count // 2), align=source.dtype.bitwidth // 8
                    )
                    halves[side].append(rounded(builder, half, context.get_data_type(element)))
            first, step = integer(3, 0), integer(3, 1)
            for i, column in enumerate(_columns(builder, *halves)):
                place = builder.add(first, builder.mul(step, step.type(i)))
                builder.store(column, vector(2, place, count), align=element.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(source, rows, target, columns), codegen

    return transpose


transpose_four = _transposition(4)
transpose_eight = _transposition(8)
