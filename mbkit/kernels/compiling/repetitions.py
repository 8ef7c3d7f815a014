"""Work that numba repeats for each function that it compiles, done once.

A kernel has some hundred helpers, and for each numba finds the same anew: its options, by which of
thirty templates two numbers are added, which passes there are in which order. That takes a fifth of
the time in which kernels are compiled. The code that is compiled does not change.
In a version of numba with other names for its parts, nothing is replaced.
"""

import contextlib
import functools
import operator
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    from numba.core import compiler_machinery, event, ir, targetconfig
    from numba.core.types import functions


# ---------------------------------------------------------------------------------- options


@functools.cache
def _defaults(kind: Hashable) -> dict[str, Any]:
    return {name: option.default for name, option in kind.options.items()}  # type: ignore[attr-defined]


def _values(self: Any) -> dict[str, Any]:
    """All options, which numba reads one by one."""
    return {**_defaults(self.__class__), **self._values}


def _equal(self: Any, other: Any) -> Any:
    if not isinstance(other, targetconfig.TargetConfig):
        return NotImplemented
    return self is other or self._values == other._values or _values(self) == _values(other)


# -------------------------------------------------------------------------------- operators

#: What numbers are computed with; their templates follow from the types of both alone.
_OPERATORS = {each for each in vars(operator).values() if callable(each)}


def _remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operator on the same types have the type of its result from the time before."""

    @functools.wraps(resolve)
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or self.typing_key not in _OPERATORS:
            return resolve(self, context, args, kws)
        known = self.__dict__.setdefault("_mbkit_known", {})
        key = context, args, targetconfig.ConfigStack.top_or_none()
        if key not in known:
            found = resolve(self, context, args, kws)
            if not all(each.is_precise() for each in args):
                return found
            known[key] = found
        return known[key]

    return get_call_type


# ------------------------------------------------------------------------------------- events


def _where_heard(announce: Callable[..., Any]) -> Callable[..., Any]:
    """Announce an event where somebody listens."""

    @functools.wraps(announce)
    def announced(kind: str, *args: Any, **kwargs: Any) -> Any:
        if event._registered[kind]:
            return announce(kind, *args, **kwargs)
        return contextlib.nullcontext()

    return announced


def _outermost(install: Callable[..., Any]) -> Callable[..., Any]:
    """Time the outermost of functions that are compiled within each other."""

    @functools.wraps(install)
    def install_timer(kind: str, callback: Any) -> Any:
        if event._registered[kind]:
            return contextlib.nullcontext()
        return install(kind, callback)

    return install_timer


# ------------------------------------------------------------------------------------- passes


def _for_each_order(analyse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Analyse which pass needs which once for each order of passes."""
    known: dict[Any, Any] = {}

    @functools.wraps(analyse)
    def dependency_analysis(self: Any) -> Any:
        order = tuple(kind for kind, _ in self.passes)
        if order not in known:
            known[order] = analyse(self)
        return known[order]

    return dependency_analysis


@functools.cache
def _kind_of(kind: Any) -> str:
    names: dict[str, Any] = {"variable": ir.Var, "code": ir.Inst, "named": dict}
    names["several"] = (list, tuple)
    return next((name for name, types in names.items() if issubclass(kind, types)), "")


def _collect(value: Any, found: list[Any]) -> None:
    """Add the variables in a value of the intermediate code."""
    kind = _kind_of(value.__class__)
    if kind == "variable":
        found.append(value)
    elif kind == "code":
        found.extend(value.list_vars())
    elif kind:
        parts: Iterable[Any] = value if kind == "several" else value.values()
        for each in parts:
            _collect(each, found)


def _variables(self: Any, value: Any) -> list[Any]:
    found: list[Any] = []
    _collect(value, found)
    return found


# ------------------------------------------------------------------------------------------


def _change(owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Put another function in the place of one of numba's, where it has one of this name."""
    usual = vars(owner).get(name)
    if usual is not None:
        setattr(owner, name, change(usual))


@functools.cache
def spare_repetitions() -> None:
    """Let numba compile like this from now on."""
    config = targetconfig.TargetConfig
    if hasattr(config, "options") and hasattr(config, "_values"):
        _change(config, "values", lambda usual: _values)
        _change(config, "__eq__", lambda usual: _equal)
        _change(config, "__hash__", lambda usual: lambda self: hash(self.__class__))
    if hasattr(targetconfig, "ConfigStack"):
        _change(functions.BaseFunction, "get_call_type", _remembering)
    if hasattr(event, "_registered"):
        for name in ("start_event", "end_event", "trigger_event"):
            _change(event, name, _where_heard)
        _change(event, "install_timer", _outermost)
    _change(compiler_machinery.PassManager, "dependency_analysis", _for_each_order)
    _change(ir.Inst, "_rec_list_vars", lambda usual: _variables)
