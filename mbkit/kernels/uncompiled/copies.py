"""Copies of kernels that compute with lanes where nothing is compiled.

Copies (`mbkit.function_copies`) find `stand_ins` where functions have a meaning of their own for
lanes, and copies of all other functions. Originals stay what they are, for one sample.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from mbkit.function_copies import ConvertedModule, copied_function
from mbkit.kernels.compile import FunctionAddress, address_kernel
from mbkit.kernels.uncompiled.memory import called_in_lanes
from mbkit.kernels.uncompiled.stand_ins import BUILTINS, pairs

#: Whose functions are not copied.
_LEFT = sys.stdlib_module_names | {"numpy", "scipy", "numba", "llvmlite"}


def _is_left(module: str) -> bool:
    return module.partition(".")[0] in _LEFT


class Copies:
    """Copies of functions, each made once, when it is first looked up."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []  # or an id might come back
        for original, made in pairs():
            self._keep(original, made)

    def of(self, value: Any) -> Any:
        """Return the replacement of a value in copies: itself, unless it is a function."""
        if id(value) in self._made:
            return self._made[id(value)]
        if isinstance(value, ModuleType):
            made = value if _is_left(value.__name__) else ConvertedModule(value, self.of)
            self._keep(value, made)
            return made
        if type(value) is tuple:
            return tuple(map(self.of, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.of, value))
        function = getattr(value, "py_func", value)  # of a kernel
        if isinstance(function, FunctionType) and not _is_left(function.__module__ or ""):
            return copied_function(function, self.of, BUILTINS, self._keep)
        return value

    def _keep(self, original: Any, made: Any) -> None:
        self._made[id(original)] = made
        self._kept.append(original)


@functools.cache
def _copies() -> Copies:
    return Copies()


def copied(kernel: FunctionAddress, form: str) -> FunctionAddress:
    """Return a kernel that is called by address, with a copy of its function."""
    return _addressed(kernel.function, form)


@functools.cache
def _addressed(function: Callable[..., int], form: str) -> FunctionAddress:
    return address_kernel(form)(_copies().of(function))


@functools.cache
def address_in_lanes(function: Callable[..., int], form: str, lanes: Any, space: Any) -> int:
    """Return the address of a function for lanes; see `mbkit.kernels.lanes.address_in_lanes`."""
    made = called_in_lanes(_copies().of(function), form, lanes, space)
    return address_kernel(form)(made).address
