"""Numbers of double and single precision, one or many, made of each other in LLVM's code."""

from typing import Any

from llvmlite import ir


def rounded(builder: Any, x: Any, element: Any) -> Any:
    """Return a number, or a vector of numbers, as of the type of LLVM `element`."""
    is_vector = isinstance(x.type, ir.VectorType)
    if (x.type.element if is_vector else x.type) == element:
        return x
    kind = ir.VectorType(element, x.type.count) if is_vector else element
    return builder.fptrunc(x, kind) if element == ir.FloatType() else builder.fpext(x, kind)


def as_doubles(builder: Any, x: Any) -> Any:
    """Return a number, or a vector of numbers, in double precision."""
    return rounded(builder, x, ir.DoubleType())
