"""Kernels are loaded without what numba compiles with, which takes a quarter of a second.

Before numba loads a function from its cache it imports everything that it could compile, numpy's
functions and with them scipy's linear algebra. Machine code that is there needs none of it. Where a
kernel has to be compiled, numba's compiler imports it. This module is not part of `caching`, on
which the stamps of all kernels depend.
"""

import functools
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    from numba.core.caching import FunctionCache
    from numba.core.runtime.nrt import rtsys

    from mbkit.kernels.caching import PACKAGE, _KernelCache


class _Loading(FunctionCache):
    """numba's cache of one function, which loads what is compiled and nothing else."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._py_func.__module__.startswith(f"{PACKAGE}."):
            return super().load_overload(sig, target_context)  # a user's may call anything
        rtsys.initialize(target_context)  # arrays as arguments need it
        with self._guard_against_spurious_io_errors():
            try:
                return self._load_overload(sig, target_context)
            except (AttributeError, ImportError):
                self.flush()  # written by another version, with classes that are gone
        return None


@functools.cache
def load_alone() -> None:
    """Let kernels of mbkit be loaded like this from now on."""
    _KernelCache.__bases__ = (_Loading,)
