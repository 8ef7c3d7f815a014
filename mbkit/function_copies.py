"""Copies of functions in which names mean something else.

A function finds its callees among the globals of its module, in its closure and its defaults. A
copy has the same code, and all that it finds there is converted, globals when they are looked up.
Originals stay unchanged; tracebacks of copies name their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

__all__ = ["ConvertedModule", "copied_function"]

#: Function that returns the replacement of a value in copies: itself where it needs none.
_Convert = Callable[[Any], Any]


class _Globals(dict[str, Any]):
    """Globals of a copy: values are converted when looked up."""

    def __init__(
        self, original: dict[str, Any], convert: _Convert, builtins: Mapping[str, Any]
    ) -> None:
        super().__init__(__builtins__=builtins, __name__=original["__name__"])
        self._original = original
        self._convert = convert

    def __missing__(self, name: str) -> Any:
        found = self[name] = self._convert(self._original[name])
        return found


class ConvertedModule:
    """A module whose contents are converted when they are looked up."""

    def __init__(self, module: ModuleType, convert: _Convert) -> None:
        self._module = module
        self._convert = convert

    def __getattr__(self, name: str) -> Any:
        found = self._convert(getattr(self._module, name))
        setattr(self, name, found)
        return found


def copied_function(
    function: FunctionType,
    convert: _Convert,
    builtins: Mapping[str, Any],
    keep: Callable[[FunctionType, FunctionType], None],
    own_class: type | None = None,
) -> FunctionType:
    """Return a copy of a function.

    Parameters
    ----------
    function : function
        The original.
    convert : callable
        ``convert(value)`` returns the replacement of a value.
    builtins : mapping
        Replacements of Python's built-in names.
    keep : callable
        ``keep(original, copy)`` is called before anything is converted, for a function may call
        itself.
    own_class : type, optional
        Of a method, the class of the copy, which ``super()`` needs.
    """
    space = _Globals(function.__globals__, convert, builtins)
    closure = function.__closure__
    cells = None if closure is None else tuple(CellType() for _ in closure)
    made = FunctionType(function.__code__, space, function.__name__, None, cells)
    keep(function, made)
    made.__defaults__ = convert(function.__defaults__)
    made.__kwdefaults__ = convert(function.__kwdefaults__)
    for name, old, new in zip(
        function.__code__.co_freevars, closure or (), cells or (), strict=True
    ):
        is_own_class = name == "__class__" and own_class is not None
        new.cell_contents = own_class if is_own_class else convert(old.cell_contents)
    return made
