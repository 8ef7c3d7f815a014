"""Helpers: functions that are linked into kernels, and have neither machine code nor wrappers.

numba gives every function machine code, a wrapper for Python and one for C. Those of helpers would
never be called, but the wrappers would be linked into each caller, and optimised again each time.
See decision 24.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    import numba
    from numba.core.codegen import JITCodeLibrary
    from numba.core.registry import CPUDispatcher

    from mbkit.kernels.compiling.fusing import FusingCompiler


class _Library(JITCodeLibrary):
    """Code of a helper in LLVM's intermediate form, simplified, for its callers to link.

    numba's cheap optimisation passes run once here, all passes run in the kernel. Without any here,
    kernels have more code to optimise; with all, they are repeated in each caller: Dormand-Prince
    steps take a third longer to compile, and run 3 to 6 % slower.

    Attributes
    ----------
    is_copied : bool
        Whether the code is inlined at each call, as for all helpers except subroutines.
    """

    is_copied: bool

    def _optimize_final_module(self) -> None:
        codegen = self._codegen
        manager, builder = codegen._module_pass_manager(
            loop_vectorize=codegen._loopvect,
            slp_vectorize=True,  # without it, derivatives take 2 to 5 % longer
            opt=codegen._opt_level,
            cost="cheap",
        )
        manager.run(self._final_module, builder)
        if not self.is_copied:
            self._keep_apart()

    def _keep_apart(self) -> None:
        """Mark the function noinline: LLVM inlines even large ones that have one caller only."""
        name = f"{len(self.name)}{self.name}"  # as in numba's mangled names
        for function in self._final_module.functions:
            if name in function.name and not function.is_declaration:
                function.add_function_attribute("noinline")

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return self  # numba calls `set_env` of it alone

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: environments are for Python objects in machine code."""


class _Compiler(FusingCompiler):
    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.is_copied = state.flags.forceinline
        return super().define_pipelines()


class _Helper(CPUDispatcher):
    """A function that kernels call; where Python calls it, it is compiled once more for that."""

    options: dict[str, Any]

    @functools.cached_property
    def _for_python(self) -> Any:
        return numba.njit(pipeline_class=FusingCompiler, **self.options)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)


def linked(py_func: Callable[..., Any], options: dict[str, Any], *, copied: bool = True) -> Any:
    """Return a function as a helper, compiled with these options of numba.

    It is inlined at each call if `copied`, else it is one of the kernel's functions.
    """
    more: dict[str, Any] = {
        "forceinline": copied,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "pipeline_class": _Compiler,
    }
    dispatcher = numba.njit(**options, **more)(py_func)
    dispatcher.__class__ = _Helper
    dispatcher.options = options
    return dispatcher
