"""One number in all places of a vector."""

from typing import Any

from llvmlite import ir


def spread(builder: Any, number: Any, count: int) -> Any:
    """Return a vector of `count` numbers that are all this one, in LLVM's code."""
    vector = ir.VectorType(number.type, count)
    if isinstance(number, ir.Constant):
        return ir.Constant(vector, [number] * count)
    int32 = ir.IntType(32)
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, int32(0))
    everywhere = ir.Constant(ir.VectorType(int32, count), [int32(0)] * count)
    return builder.shuffle_vector(first, undefined, everywhere)
