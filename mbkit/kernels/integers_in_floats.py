"""Integers that lie among numbers of floating point, such as places in a row of a matrix."""

from typing import Any

import numpy as np

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    helper,
    intrinsic,
    types,
)
from mbkit.kernels.simd.rounding import as_doubles

if UNCOMPILED:

    def shared(x: Any) -> Any:
        """The number that all of those side by side are."""
        return x

else:
    _ir: Any = cgutils.ir  # type: ignore[attr-defined]

    @intrinsic
    def shared(typing_context, x):
        """The number that all of those side by side are: the first, where there are several."""

        def codegen(context, builder, signature, values):
            if not isinstance(values[0].type, _ir.VectorType):
                return values[0]
            return as_doubles(builder, builder.extract_element(values[0], _ir.IntType(32)(0)))

        return (types.float64 if hasattr(x, "mask") else x)(x), codegen


@helper
def whole(x):
    """A whole number that is the same for all samples, as an integer."""
    return int(shared(x))


@helper
def index(k):
    """A whole number, not negative, as an index: compiled code does not look for its sign."""
    return np.uint64(whole(k))
