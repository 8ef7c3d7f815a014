"""Loading of compiled kernels without numba's compiler, whose import takes a quarter of a second.

Before numba loads a function from its cache it imports all that it could compile, numpy's functions
and with them scipy's linear algebra. Machine code from the cache needs none of it; where a kernel
has to be compiled, numba's compiler imports it. LLVM's intermediate code, which is kept with
machine code for functions that link it, is not parsed either (that takes as long as all else), and
numba's functions that count references are not compiled (30 ms): machine code contains its own.
Helpers are registered with numba only when a kernel that calls them is compiled. This module is
not part of `caching`, on which the stamps of all kernels depend.
"""

import functools
from collections.abc import Callable
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    from numba.core import environment
    from numba.core.caching import FunctionCache
    from numba.core.codegen import JITCodeLibrary, ll  # type: ignore[attr-defined]
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

    from mbkit.kernels import compile as door
    from mbkit.kernels.compiling.caching import PACKAGE, _KernelCache
    from mbkit.kernels.compiling.linking import linked


class _Library(JITCodeLibrary):
    """Machine code from the cache; its LLVM code is parsed only when a function links it."""

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


_usual_environment = environment._rebuild_env


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of one compiled function, without importing numba's own modules.

    Only functions that run in Python's interpreter use the module, which takes 20 ms to import.
    """
    if not module.startswith("numba.") or environment.lookup_environment(name) is not None:
        return _usual_environment(module, constants, name)
    found = environment.Environment({"__name__": module})
    found.consts[:] = constants
    found.env_name = name
    environment.Environment._memo[name] = found
    return found


class _Loading(FunctionCache):
    """numba's cache of one function, which loads its machine code and nothing else."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._py_func.__module__.startswith(f"{PACKAGE}."):
            return super().load_overload(sig, target_context)  # a user's function may call anything
        _name_functions_of_memory()
        with self._guard_against_spurious_io_errors():
            try:
                return self._load_overload(sig, target_context)
            except (AttributeError, ImportError):
                self.flush()  # written by another version, with classes that are gone
        return None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        with global_compiler_lock:  # no other thread makes libraries meanwhile
            usual, codegen._library_class = codegen._library_class, _Library
            environment._rebuild_env = _environment
            try:
                return super()._load_overload(sig, target_context)
            finally:
                codegen._library_class = usual
                environment._rebuild_env = _usual_environment


@functools.cache
def _name_functions_of_memory() -> None:
    """Register numba's C functions that machine code with arrays calls, by name, with LLVM.

    numba's runtime registers them before it compiles; the rest of its start is only needed for
    compilation.
    """
    for name, address in _nrt_python.c_helpers.items():
        ll.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class _Helper:
    """A helper that is registered with numba only when a kernel that calls it is compiled.

    Kernels that are loaded have their helpers in their machine code. Hundreds of helpers are
    imported with them, and numba takes 50 us to register each.
    """

    def __init__(
        self, py_func: Callable[..., Any], options: dict[str, Any], *, copied: bool = True
    ) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self._options = options
        self._copied = copied

    @functools.cached_property
    def _linked(self) -> Any:
        return linked(self.py_func, self._options, copied=self._copied)

    @property
    def _numba_type_(self) -> Any:
        return self._linked._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        return self._linked(*arguments)


@functools.cache
def load_alone() -> None:
    """Load kernels of mbkit in this way from now on."""
    _KernelCache.__bases__ = (_Loading,)
    door.linked = _Helper  # type: ignore[attr-defined]
