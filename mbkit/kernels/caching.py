"""The cache of compiled kernels, and who hears of what is not in it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

# What may be assumed of floating point. Not "nnan" or "ninf": they make isnan(nan) false, and a
# run that has blown up must be noticed.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}

_BOUNDSCHECK = numba.config.BOUNDSCHECK  # type: ignore[attr-defined]


@functools.cache
def source_stamp() -> str:
    """Return a hash of all kernel sources and flags.

    numba looks at the file of the compiled function only; an edit in a helper of another file
    would leave stale machine code in the cache.
    """
    digest = hashlib.sha256()
    for source in sorted(pathlib.Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    digest.update(repr((sorted(FASTMATH), numba.__version__, _BOUNDSCHECK)).encode())
    return digest.hexdigest()


def processor() -> str:
    """Return for which processor code is compiled: its name and a hash of what it can do.

    numba chooses instructions by it, and with other instructions sums round otherwise.
    """
    from numba.core.registry import cpu_target

    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return f"{name} {hashlib.sha256(features.encode()).hexdigest()[:12]}"


_listeners: list[Callable[[str], None]] = []


@contextlib.contextmanager
def compilation_listener(listener: Callable[[str], None]) -> Iterator[None]:
    """Call ``listener("module.name")`` before each kernel that has to be compiled, not loaded."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _KernelCache(FunctionCache):
    """numba's cache of one function, stamped with `source_stamp` beside the file's own stamp."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        stamp = (source_stamp(), self._impl.locator.get_source_stamp())
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=stamp,
        )
        self._kernel_name = (
            f"{py_func.__module__.removeprefix('mbkit.kernels.')}.{py_func.__name__}"
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = super().load_overload(sig, target_context)
        if loaded is None and _listeners:
            for listener in _listeners:
                listener(self._kernel_name)
            loaded = super().load_overload(sig, target_context)  # one may have waited for others
        return loaded


def enable_cache(compiled: Any, py_func: Callable[..., Any]) -> None:
    """Let a dispatcher or callback of numba be kept in the cache, where one can be written."""
    # numba raises RuntimeError where it finds no place to write (read-only home and package):
    # then kernels are compiled anew in each process.
    with contextlib.suppress(RuntimeError):
        compiled._cache = _KernelCache(py_func)
