"""Weighted sums of numbers side by side, eight at once, in the instructions of vector units.

A compiler that is to find this out by itself asks at each start of a loop whether arrays overlap,
and leaves short loops, of which trees consist, one number at a time.
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

#: Numbers side by side; those of a block that lie one behind the other are this far apart.
SIDE_BY_SIDE = 8


def weigh_in_python(blocks: Any, first: int, weights: Any, target: int) -> None:
    """blocks[target + k] = sum_j weights[j] blocks[first + 8 j + k], k = 0 to 7."""
    for k in range(SIDE_BY_SIDE):
        numbers = blocks[first + k :: SIDE_BY_SIDE]
        terms = [weight * x for weight, x in zip(weights, numbers, strict=False)]
        blocks[target + k] = sum(terms[1:], terms[0])


if UNCOMPILED:
    weigh = weigh_in_python
else:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]
    _VECTOR = _ir.VectorType(_ir.DoubleType(), SIDE_BY_SIDE)

    def _everywhere(builder, number):
        undefined = _ir.Constant(_VECTOR, _ir.Undefined)
        first = builder.insert_element(undefined, number, _ir.Constant(_ir.IntType(32), 0))
        lanes = _ir.Constant(_ir.VectorType(_ir.IntType(32), SIDE_BY_SIDE), [0] * SIDE_BY_SIDE)
        return builder.shuffle_vector(first, undefined, lanes)

    @intrinsic
    def weigh(typing_context, blocks, first, weights, target):
        """blocks[target + k] = sum_j weights[j] blocks[first + 8 j + k], k = 0 to 7."""

        def codegen(context, builder, signature, values):
            data = context.make_array(signature.args[0])(context, builder, values[0]).data

            def lanes(position, offset):
                place = context.cast(
                    builder, values[position], signature.args[position], types.int64
                )
                place = builder.add(place, _ir.Constant(_ir.IntType(64), offset))
                return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())

            sums = []
            for j in range(len(signature.args[2])):
                weight = _everywhere(builder, builder.extract_value(values[2], j))
                numbers = builder.load(lanes(1, SIDE_BY_SIDE * j), align=8)
                if j < 2:
                    sums.append(builder.fmul(weight, numbers))
                else:  # two sums, which do not wait for each other
                    sums[j % 2] = multiplied_and_added(builder, weight, numbers, sums[j % 2])
            total = builder.fadd(*sums)
            builder.store(total, lanes(3, 0), align=8)
            return context.get_dummy_value()

        def number_by_number(context, builder, signature, values):
            """The same sums of lanes, each of which fills a register."""
            kind = signature.args[0].dtype
            data = context.make_array(signature.args[0])(context, builder, values[0]).data
            first, target = (
                context.cast(builder, values[k], signature.args[k], types.int64) for k in (1, 3)
            )

            def place(start, offset):
                return builder.gep(data, [builder.add(start, _ir.Constant(start.type, offset))])

            weights = [
                context.cast(builder, builder.extract_value(values[2], j), weight, kind)
                for j, weight in enumerate(signature.args[2].types)
            ]
            for k in range(SIDE_BY_SIDE):
                sums = []
                for j, weight in enumerate(weights):
                    number = builder.load(place(first, SIDE_BY_SIDE * j + k))
                    if j < 2:
                        sums.append(builder.fmul(weight, number))
                    else:
                        sums[j % 2] = multiplied_and_added(builder, weight, number, sums[j % 2])
                builder.store(builder.fadd(*sums), place(target, k))
            return context.get_dummy_value()

        side_by_side = blocks.dtype == types.float64
        code = codegen if side_by_side else number_by_number
        return types.void(blocks, first, weights, target), code
