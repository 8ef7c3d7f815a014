"""Functions of one sample, called for one after another of those that are computed side by side.

For what samples seldom need, such as the logarithm of a large rotation, and for tables, in which
each sample looks elsewhere.
"""

from collections.abc import Callable
from typing import Any

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    intrinsic,
    overload,
    types,
)
from mbkit.kernels.simd.rounding import as_doubles, rounded


def each_lane(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a helper for each sample: of doubles once, of lanes (`mbkit.kernels.lanes`) for each.

    Its arguments may be tuples of numbers, arrays of them, which it may read, and what is the same
    for all samples. It returns a number, a truth value, or tuples of them.
    """
    return function(*arguments)


if not UNCOMPILED:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]
    _TUPLE: Any = types.BaseTuple

    def _lanes_in(kind: Any) -> Any:
        """Return the lanes that are among the entries of a tuple, or None."""
        if isinstance(kind, _TUPLE):
            return next((found for each in kind.types if (found := _lanes_in(each))), None)
        return kind if hasattr(kind, "mask") else None

    def _changed(kind: Any, change: Any) -> Any:
        """Return the type of a tuple whose entries have changed, or of an entry."""
        if isinstance(kind, _TUPLE):
            return types.Tuple([_changed(each, change) for each in kind.types])
        return change(kind)

    def _entries(builder: Any, kinds: Any, value: Any, change: Any) -> Any:
        """Return the entries of a tuple, of these types before and after, as they have changed."""
        before, after = kinds
        if not isinstance(before, _TUPLE):
            return change(before, value)
        found = [
            _entries(builder, each, builder.extract_value(value, k), change)
            for k, each in enumerate(zip(before.types, after.types, strict=True))
        ]
        whole = _ir.LiteralStructType([each.type for each in found])
        if isinstance(after, types.UniTuple):
            whole = _ir.ArrayType(found[0].type, len(found))
        packed = _ir.Constant(whole, _ir.Undefined)
        for k, each in enumerate(found):
            packed = builder.insert_value(packed, each, k)
        return packed

    @intrinsic
    def _of_sample(typing_context, arguments, j):
        """The arguments of one sample: a number for each entry that is lanes."""

        def codegen(context, builder, signature, values):
            def number(kind, value):
                if hasattr(kind, "mask"):
                    return as_doubles(builder, builder.extract_element(value, values[1]))
                if is_array_of_lanes(kind):
                    return column(kind, value)
                if context.enable_nrt:
                    context.nrt.incref(builder, kind, value)
                return value

            def column(kind, value):
                lanes = context.make_array(kind)(context, builder, value)
                found = context.make_array(of_one(kind))(context, builder)
                numbers = builder.bitcast(lanes.data, kind.dtype.element.as_pointer())
                found.data = builder.gep(numbers, [values[1]])
                found.itemsize = context.get_constant(types.intp, kind.dtype.bits // 8)
                for name in ("shape", "strides", "nitems"):
                    setattr(found, name, getattr(lanes, name))
                return found._getvalue()

            return _entries(builder, (arguments, one), values[0], number)

        def is_array_of_lanes(kind):
            return isinstance(kind, types.Array) and hasattr(kind.dtype, "mask")

        def of_one(kind):
            if is_array_of_lanes(kind):
                number = types.float64 if kind.dtype.bits == 64 else types.float32
                return types.Array(number, kind.ndim, "A")
            return types.float64 if hasattr(kind, "mask") else types.unliteral(kind)

        one = _changed(arguments, of_one)
        return one(arguments, types.int64), codegen

    @intrinsic
    def _spread(typing_context, result, arguments):
        """The result for one sample, spread over all lanes."""
        lanes = _lanes_in(arguments)

        def codegen(context, builder, signature, values):
            def everywhere(kind, value):
                if kind != types.boolean:
                    value = rounded(builder, value, lanes.element)
                vector = _ir.VectorType(value.type, lanes.width)
                many = _ir.Constant(vector, _ir.Undefined)
                for k in range(lanes.width):
                    many = builder.insert_element(many, value, _ir.IntType(32)(k))
                return many

            return _entries(builder, (result, many), values[0], everywhere)

        many = _changed(result, lambda kind: lanes.mask if kind == types.boolean else lanes)
        return many(result, arguments), codegen

    @intrinsic
    def _with_sample(typing_context, many, j, result):
        """The same with what another sample has in its lane."""

        def put(builder, kind, value, one, j):
            if not isinstance(kind, _TUPLE):
                if hasattr(kind, "element"):
                    one = rounded(builder, one, kind.element)
                return builder.insert_element(value, one, j)
            for k, each in enumerate(kind.types):
                old, new = builder.extract_value(value, k), builder.extract_value(one, k)
                value = builder.insert_value(value, put(builder, each, old, new, j), k)
            return value

        def codegen(context, builder, signature, values):
            return put(builder, many, values[0], values[2], values[1])

        return many(many, types.int64, result), codegen

    @overload(each_lane, jit_options={"error_model": "numpy", "forceinline": True})
    def _each_lane(function, arguments):
        lanes = _lanes_in(arguments)
        if lanes is None:
            return lambda function, arguments: function(*arguments)
        width = lanes.width

        def compute(function, arguments):
            found = _spread(function(*_of_sample(arguments, 0)), arguments)
            for j in range(1, width):
                found = _with_sample(found, j, function(*_of_sample(arguments, j)))
            return found

        return compute
