"""Copies of attrs objects with other fields, whose code is run on traced numbers."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.tape import CannotTraceError

__all__ = ["ObjectCopies"]


class ObjectCopies(Retargeting):
    """Copies that also make objects of attrs classes, with fields as they are given."""

    def remade(self, original: Any, changes: Mapping[str, Any]) -> Any:
        """Return an object with other fields."""
        kind = original.__class__
        fields = {each.name: getattr(original, each.name) for each in attrs.fields(kind)}
        shadow = object.__new__(self._shadow_class(kind))
        return self._filled(shadow, kind, {**fields, **changes})

    def _filled(self, shadow: Any, kind: type, fields: Mapping[str, Any]) -> Any:
        own = {name: self.convert(value) for name, value in fields.items()}
        made = {"_original": object.__new__(kind), "_convert": self.convert, "_remade": True}
        vars(shadow).update(own, **made)
        return shadow

    def _function(self, function: types.FunctionType, cell: Any = None) -> Any:
        if function is attrs.evolve:
            return lambda original, **changes: self.remade(original, changes)
        return super()._function(function, cell)

    def _type(self, kind: type) -> Any:
        return self._shadow_class(kind) if attrs.has(kind) else super()._type(kind)

    def _shadow_class(self, kind: type) -> Any:
        known = id(kind) in self._classes
        made = super()._shadow_class(kind)
        if not known and attrs.has(kind):
            made.__init__ = self._initialiser(kind)
            made.__getattr__ = _attribute(made.__getattr__)
        return made

    def _initialiser(self, kind: type) -> Callable[..., None]:
        """Return the ``__init__`` of a shadow of an attrs class."""
        fields: Sequence[Any] = attrs.fields(kind)
        names = [each.name for each in fields if each.init and not each.kw_only]

        def initialise(shadow: Any, *arguments: Any, **options: Any) -> None:
            given = dict(zip(names, arguments, strict=False)) | options
            for each in fields:
                if each.name not in given and each.init:
                    default = each.default
                    given[each.name] = default.factory() if hasattr(default, "factory") else default
            self._filled(shadow, kind, given)

        return initialise

    def _copy_property(self, kind: type, made: Any, name: str, value: Any) -> None:
        cached = isinstance(value, functools.cached_property)
        function = value.func if cached else value.fget
        setattr(made, name, property(self._function(function, made)))


def _attribute(of_original: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Return a function for attributes that a shadow lacks: those of its original, if any."""

    def get(shadow: Any, name: str) -> Any:
        if "_remade" not in vars(shadow):
            return of_original(shadow, name)
        raise CannotTraceError(
            f"{shadow.__class__.__name__}.{name} is kept in a cache; write it as a property"
        )

    return get
