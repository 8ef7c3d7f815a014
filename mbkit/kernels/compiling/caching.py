"""The cache of compiled kernels, and listeners for kernels that are not in it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    import numba
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    from mbkit.kernels.compiling.repetitions import spare_repetitions

_BOUNDSCHECK = numba.config.BOUNDSCHECK  # type: ignore[attr-defined]

PACKAGE = "mbkit.kernels"

#: Imports of other modules of kernels, and the names that are taken from them.
_IMPORTS = re.compile(
    r"^[ \t]*(?:from (?P<package>mbkit\.kernels[\w.]*) import (?P<names>\([^)]*\)|[^\n]*)"
    r"|import (?P<module>mbkit\.kernels[\w.]*))",
    re.MULTILINE,
)


@functools.cache
def _sources() -> dict[str, bytes]:
    """Return the source of each module of kernels, by its name."""
    root = pathlib.Path(__file__).parents[1]
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join((PACKAGE, *parts)).removesuffix(".__init__")
        found[name] = path.read_bytes()
    return found


def _stamp(modules: Iterable[str]) -> str:
    digest = hashlib.sha256(repr((numba.__version__, _BOUNDSCHECK)).encode())
    for name in sorted(modules):
        digest.update(name.encode() + b"\0" + _sources()[name])
    return digest.hexdigest()


@functools.cache
def source_stamp() -> str:
    """Return a hash of all kernel sources and flags."""
    return _stamp(_sources())


@functools.cache
def _imported(module: str) -> frozenset[str]:
    """Return the modules of kernels that one imports, with the packages they are in."""
    names = []
    for match in _IMPORTS.finditer(_sources()[module].decode()):
        package = match["package"] or match["module"]
        names.append(package)
        names += [f"{package}.{name}" for name in re.findall(r"\w+", match["names"] or "")]
    parents = {".".join(name.split(".")[:depth]) for name in names for depth in range(2, 9)}
    return frozenset(parents & _sources().keys())


@functools.cache
def module_stamp(*modules: str) -> str:
    """Return a hash of the source of modules, of all that they import, and of flags.

    numba looks at the file of the compiled function only; an edit in a helper of another file
    would leave stale machine code in the cache. What a kernel links is imported by its module,
    directly or through others.
    """
    reached = set(modules)
    todo = [*modules]
    while todo:
        new = _imported(todo.pop()) - reached
        reached |= new
        todo += new
    return _stamp(reached)


def processor() -> str:
    """Return the processor that code is compiled for: its name and a hash of its features.

    numba chooses instructions by it, and without that of a product in a sum both are rounded.
    """
    return f"{_target()[1]} {hashlib.sha256(features().encode()).hexdigest()[:12]}"


def features() -> str:
    """Return the features of the processor that code is compiled for, as in LLVM: "+fma,...."."""
    return _target()[2]


def _target() -> tuple[str, str, str]:
    """Return LLVM's target: the system, the processor, and its features."""
    from numba.core.registry import cpu_target

    with HeldInterrupts():  # Ctrl-C could leave LLVM's lock held
        found: tuple[str, str, str] = cpu_target.target_context.codegen().magic_tuple()
    return found


_listeners: list[Callable[[str], None]] = []


@contextlib.contextmanager
def compilation_listener(listener: Callable[[str], None]) -> Iterator[None]:
    """Call ``listener("module.name")`` before each kernel that has to be compiled, not loaded."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _Files(IndexDataCacheFile):
    """numba's files of one function; an index that cannot be read holds nothing.

    numba reads all of it before it looks at the stamp: names of an older version of mbkit, which
    are nowhere now, and damage would be errors.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            found: dict[Any, str] = super()._load_index()
        except Exception:  # pickles raise all kinds
            return {}
        return found


class _KernelCache(FunctionCache):
    """numba's cache of one function, stamped by the sources that it is compiled from.

    Functions of other modules, such as a user's joint, have the stamp of all kernels and of their
    own file. Code that is compiled for the types of another module, `types`, has its own files.
    """

    def __init__(self, py_func: Callable[..., Any], types: str) -> None:
        super().__init__(py_func)
        module = py_func.__module__
        if module in _sources():
            stamp: Any = module_stamp(module, types) if types else module_stamp(module)
        else:
            stamp = (source_stamp(), self._impl.locator.get_source_stamp())
        suffix = f".{types.rpartition('.')[2]}" if types else ""
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base + suffix,
            source_stamp=stamp,
        )
        name = f"{py_func.__module__.removeprefix('mbkit.kernels.')}.{py_func.__name__}"
        self._kernel_name = name + suffix

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = super().load_overload(sig, target_context)
        if loaded is None and _listeners:
            for listener in _listeners:
                listener(self._kernel_name)
            loaded = super().load_overload(sig, target_context)  # one may have waited for others
        if loaded is None:
            spare_repetitions()
        return loaded


def enable_cache(compiled: Any, py_func: Callable[..., Any], types: str = "") -> None:
    """Let a dispatcher or callback of numba be kept in the cache, where one can be written.

    It depends on the module `types` besides its own, if one is named.
    """
    # numba raises RuntimeError where it finds no place to write (read-only home and package):
    # then kernels are compiled anew in each process.
    with contextlib.suppress(RuntimeError):
        compiled._cache = _KernelCache(py_func, types)
