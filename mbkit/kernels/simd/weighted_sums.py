"""Weighted sums of numbers side by side, eight at once, in the instructions of vector units.

A compiler that vectorises such loops by itself tests at each start whether arrays overlap,
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
from mbkit.kernels.simd.spread import spread

#: Numbers side by side; those of a block that lie one behind the other are this far apart.
SIDE_BY_SIDE = 8


def weigh_in_python(blocks: Any, first: int, weights: Any, target: int) -> None:
    """blocks[target + k] = sum_j weights[j] blocks[first + 8 j + k], k = 0 to 7."""
    for k in range(SIDE_BY_SIDE):
        numbers = blocks[first + k :: SIDE_BY_SIDE]
        terms = [weight * x for weight, x in zip(weights, numbers, strict=False)]
        blocks[target + k] = sum(terms[1:], terms[0])


def solve_and_spread_in_python(
    blocks: Any, first: int, weights: Any, steps: Any, entries: Any, place: int
) -> None:
    """x = entries[place + k] + sum_j weights[j] a_j,  a_j += steps[j] x.

    For k = 0 to 7; a_j is blocks[first + 8 j + k], and x takes the place of the entry. Without
    steps nothing is spread.
    """
    for k in range(SIDE_BY_SIDE):
        numbers = blocks[first + k :: SIDE_BY_SIDE]
        terms = [weight * x for weight, x in zip(weights, numbers, strict=False)]
        entries[place + k] = x = sum(terms, entries[place + k])
        for j, step in enumerate(steps):
            blocks[first + SIDE_BY_SIDE * j + k] += step * x


if UNCOMPILED:
    weigh = weigh_in_python
    solve_and_spread = solve_and_spread_in_python
else:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]
    _VECTOR = _ir.VectorType(_ir.DoubleType(), SIDE_BY_SIDE)

    class _Array:
        """Numbers of an array: eight side by side at once, or those of samples one by one."""

        def __init__(self, context, builder, kind, value):
            self.context, self.builder, self.kind = context, builder, kind.dtype
            self.data = context.make_array(kind)(context, builder, value).data
            self.is_wide = kind.dtype == types.float64

        def everywhere(self, weights, kinds):
            """Return the numbers of a tuple, each as often as there are numbers side by side."""
            return [
                self._repeated(self.builder.extract_value(weights, j), kinds[j])
                for j in range(len(kinds))
            ]

        def _repeated(self, number, kind):
            if not self.is_wide:
                return self.context.cast(self.builder, number, kind, self.kind)
            return spread(self.builder, number, SIDE_BY_SIDE)

        def _place(self, first, offset):
            place = self.builder.add(first, _ir.Constant(_ir.IntType(64), offset))
            pointer = self.builder.gep(self.data, [place])
            return self.builder.bitcast(pointer, _VECTOR.as_pointer()) if self.is_wide else pointer

        def load(self, first, offset):
            align = 8 if self.is_wide else None
            return self.builder.load(self._place(first, offset), align=align)

        def store(self, numbers, first, offset):
            align = 8 if self.is_wide else None
            self.builder.store(numbers, self._place(first, offset), align=align)

        def offsets(self):
            """Return where numbers begin that are taken at once."""
            return (0,) if self.is_wide else range(SIDE_BY_SIDE)

    def _sum_of(builder, weights, numbers, first=None):
        """Return the weighted sum, as two sums, which do not wait for each other."""
        sums = [first, None]
        for j, (weight, number) in enumerate(zip(weights, numbers, strict=True)):
            if sums[j % 2] is None:
                sums[j % 2] = builder.fmul(weight, number)
            else:
                sums[j % 2] = multiplied_and_added(builder, weight, number, sums[j % 2])
        return builder.fadd(*sums)

    def _as_places(context, builder, values, kinds):
        return (
            context.cast(builder, value, kind, types.int64)
            for value, kind in zip(values, kinds, strict=True)
        )

    @intrinsic
    def weigh(typing_context, blocks, first, weights, target):
        """blocks[target + k] = sum_j weights[j] blocks[first + 8 j + k], k = 0 to 7."""

        def codegen(context, builder, signature, values):
            kinds = signature.args
            array = _Array(context, builder, kinds[0], values[0])
            start, end = _as_places(context, builder, values[1::2], kinds[1::2])
            by = array.everywhere(values[2], kinds[2])
            for k in array.offsets():
                numbers = [array.load(start, SIDE_BY_SIDE * j + k) for j in range(len(by))]
                array.store(_sum_of(builder, by, numbers), end, k)
            return context.get_dummy_value()

        return types.void(blocks, first, weights, target), codegen

    @intrinsic
    def solve_and_spread(typing_context, blocks, first, weights, steps, entries, place):
        """x = entries[place + k] + sum_j weights[j] a_j,  a_j += steps[j] x.

        For k = 0 to 7; a_j is blocks[first + 8 j + k], and x takes the place of the entry. Without
        steps nothing is spread.
        """

        def codegen(context, builder, signature, values):
            kinds = signature.args
            array = _Array(context, builder, kinds[0], values[0])
            unknowns = _Array(context, builder, kinds[4], values[4])
            start, end = _as_places(context, builder, values[1::4], kinds[1::4])
            by = array.everywhere(values[2], kinds[2])
            changes = array.everywhere(values[3], kinds[3])
            for k in array.offsets():
                numbers = [array.load(start, SIDE_BY_SIDE * j + k) for j in range(len(by))]
                x = _sum_of(builder, by, numbers, unknowns.load(end, k))
                unknowns.store(x, end, k)
                for j, change in enumerate(changes):
                    changed = multiplied_and_added(builder, change, x, numbers[j])
                    array.store(changed, start, SIDE_BY_SIDE * j + k)
            return context.get_dummy_value()

        return types.void(blocks, first, weights, steps, entries, place), codegen
