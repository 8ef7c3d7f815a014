"""Functions for lanes by their addresses: compiled, or copies where Python runs the kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbkit.kernels.compile import FunctionAddress

__all__ = ["EVALUATION", "address_in_lanes", "caller", "compiles", "is_for_lanes"]

#: The form of evaluations by address, with lanes: see `address_in_lanes`.
EVALUATION = "sipppp"


@functools.cache  # each batch calls it
def address_in_lanes(function: Callable[..., Any], form: str, lanes: Any, space: Any = None) -> int:
    """Return the address of a function for lanes; see `mbkit.kernels.lanes.address_in_lanes`.

    Where nothing is compiled it is that of a copy which computes with arrays, one number of each
    sample (`mbkit.kernels.uncompiled`).
    """
    from mbkit.kernels import lanes as compiled
    from mbkit.kernels.compile import UNCOMPILED

    space = compiled.LanesAddress if space is None else space
    if not UNCOMPILED:
        from mbkit.kernels import library_functions  # noqa: F401  (which users may call)

        return compiled.address_in_lanes(function, form, lanes, space)
    from mbkit.kernels.uncompiled.copies import address_in_lanes as in_python

    return in_python(function, form, lanes, space)


@functools.cache
def compiles(address_of: Callable[..., int], function: Callable[..., Any], *form: Any) -> bool:
    """Return whether a function of a joint compiles in a form.

    Functions of mbkit do.
    """
    from mbkit.kernels.compiling.refusals import REFUSALS

    if function.__module__.startswith("mbkit.kernels."):
        return True
    try:
        address_of(function, *form)
    except REFUSALS:
        return False
    return True


def caller(kernel: FunctionAddress) -> FunctionAddress:
    """Return the kernel for chunks of batches in lanes, of the form "ii" by address."""
    from mbkit.kernels.compile import UNCOMPILED

    if not UNCOMPILED:
        return kernel
    from mbkit.kernels.uncompiled.copies import copied

    return copied(kernel, "ii")


def is_for_lanes(kernel: Any) -> bool:
    """Return whether a function of a table, by its `FunctionAddress`, is written for lanes."""
    return bool(getattr(kernel, "in_lanes", False))
