"""Rows of three numbers, as tuples, multiplied and added at once, in vector instructions.

A compiler that is given one number at a time leaves three of four places of a register empty. Here
a row stays in one register from one operation to the next: what is taken out of a tuple and put
into another is a permutation of a register to LLVM, or nothing at all. Results are those of the
same operations number by number, bit by bit.
"""

from typing import Any

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    intrinsic,
    types,
)
from mbkit.kernels.compiling.fusing import multiplied_and_added
from mbkit.kernels.simd.spread import spread


def times_in_python(a: Any, b: Any) -> Any:
    """Return a b, a a number or a row."""
    x, y, z = a if isinstance(a, tuple) else (a, a, a)
    return x * b[0], y * b[1], z * b[2]


def plus_times_in_python(c: Any, a: Any, b: Any) -> Any:
    """Return c + a b, a a number or a row."""
    x, y, z = a if isinstance(a, tuple) else (a, a, a)
    return c[0] + x * b[0], c[1] + y * b[1], c[2] + z * b[2]


def add_to_in_python(X: Any, numbers: Any) -> None:
    """X += numbers, as many as an array has."""
    for k, number in enumerate(numbers):
        X[k] += number


if UNCOMPILED:
    times = times_in_python
    plus_times = plus_times_in_python
    add_to = add_to_in_python
else:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]

    def _vector(builder, numbers, count):
        """A vector of so many places, which the numbers need not fill; one number fills it."""
        if len(numbers) == 1:
            return spread(builder, numbers[0], count)
        vector = _ir.Constant(_ir.VectorType(_ir.DoubleType(), count), _ir.Undefined)
        for k, number in enumerate(numbers):
            vector = builder.insert_element(vector, number, _ir.IntType(32)(k))
        return vector

    def _kinds(argument):
        return argument.types if isinstance(argument, types.BaseTuple) else (argument,)

    def _on_rows(compute, *arguments):
        """The signature and the code of an operation on rows, and on numbers in place of rows."""
        kinds = [kind for argument in arguments for kind in _kinds(argument)]
        number = next((kind for kind in kinds if hasattr(kind, "number")), types.float64)

        def unpacked(context, builder, value, argument):
            is_row = isinstance(argument, types.BaseTuple)
            numbers = cgutils.unpack_tuple(builder, value) if is_row else [value]
            pairs = zip(numbers, _kinds(argument), strict=True)
            return [context.cast(builder, x, kind, number) for x, kind in pairs]

        def codegen(context, builder, signature, values):
            pairs = zip(values, arguments, strict=True)
            rows = [unpacked(context, builder, *pair) for pair in pairs]
            if number == types.float64:
                row = compute(number, builder, *(_vector(builder, each, 4) for each in rows))
                found = [builder.extract_element(row, _ir.IntType(32)(k)) for k in range(3)]
            else:  # each of lanes, or of dual numbers, fills a register
                whole = (row * (3 // len(row)) for row in rows)
                found = [compute(number, builder, *each) for each in zip(*whole, strict=True)]
            return context.make_tuple(builder, signature.return_type, found)

        return types.UniTuple(number, 3)(*arguments), codegen

    def _times(number, builder, a, b):
        if hasattr(number, "sum_of_products"):
            return number.sum_of_products(builder, [a], [b])
        return builder.fmul(a, b)

    def _plus_times(number, builder, c, a, b):
        if hasattr(number, "sum_of_products"):
            return builder.fadd(c, number.sum_of_products(builder, [a], [b]))
        return multiplied_and_added(builder, a, b, c)

    @intrinsic
    def times(typing_context, a, b):
        """a b, a a number or a row."""
        return _on_rows(_times, a, b)

    @intrinsic
    def plus_times(typing_context, c, a, b):
        """c + a b, a a number or a row; fused as in an expression."""
        return _on_rows(_plus_times, c, a, b)

    @intrinsic
    def add_to(typing_context, X, numbers):
        """X += numbers, as many as an array has.

        Two at once: soon they are read one by one, or written by others so, and what is in memory
        in other pieces than it is read in costs a processor more than what is saved.
        """
        width = 2 if X.dtype == types.float64 else 1

        def codegen(context, builder, signature, values):
            data = context.make_array(X)(context, builder, values[0]).data
            pairs = zip(cgutils.unpack_tuple(builder, values[1]), numbers.types, strict=True)
            given = [context.cast(builder, x, kind, X.dtype) for x, kind in pairs]
            for first in range(0, len(given), width):
                piece = given[first : first + width]
                place = builder.gep(data, [_ir.IntType(64)(first)])
                change = piece[0] if len(piece) == 1 else _vector(builder, piece, len(piece))
                place = builder.bitcast(place, change.type.as_pointer())
                align = None if len(piece) == 1 else 8
                total = builder.fadd(builder.load(place, align=align), change)
                builder.store(total, place, align=align)
            return context.get_dummy_value()

        return types.void(X, numbers), codegen
