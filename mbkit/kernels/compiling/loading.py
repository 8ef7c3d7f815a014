"""Kernels are loaded without what numba compiles with, which takes a quarter of a second.

Before numba loads a function from its cache it imports everything that it could compile, numpy's
functions and with them scipy's linear algebra. Machine code that is there needs none of it. Where a
kernel has to be compiled, numba's compiler imports it. Nor is the code in LLVM's words parsed that
is kept with machine code for functions that link it, which takes as long as all else. This module
is not part of `caching`, on which the stamps of all kernels depend.
"""

import functools
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    from numba.core.caching import FunctionCache
    from numba.core.codegen import JITCodeLibrary, ll  # type: ignore[attr-defined]
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.runtime.nrt import rtsys

    from mbkit.kernels.compiling.caching import PACKAGE, _KernelCache


class _Library(JITCodeLibrary):
    """Machine code from the cache; its code in LLVM's words is parsed when a function links it."""

    _bitcode = b""

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(codegen, state)
        library = codegen.create_library(name)
        machine_code, library._bitcode = data
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        return library

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        address: int = self._codegen._engine.get_function_address(name)
        return address

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = ll.parse_bitcode(self._bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return super()._get_module_for_linking()


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

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        with global_compiler_lock:  # nobody else makes libraries meanwhile
            usual, codegen._library_class = codegen._library_class, _Library
            try:
                return super()._load_overload(sig, target_context)
            finally:
                codegen._library_class = usual


@functools.cache
def load_alone() -> None:
    """Let kernels of mbkit be loaded like this from now on."""
    _KernelCache.__bases__ = (_Loading,)
