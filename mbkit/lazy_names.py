"""A module whose names are imported at their first use."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

from mbkit.interrupts import HeldInterrupts

_IMPORT = re.compile(
    r"^(?: {4})?from (?P<module>[\w.]+) import (?:\(\s+)?(?:(?P<name>\w+) as \w+|\*)(?:,\s+\))?$",
    re.M,
)


class Contents(ModuleType):
    """A package that imports its names at their first use.

    The imports stand in its source, under ``if TYPE_CHECKING:``, where type checkers, editors and
    readers find them; names are looked up there. Modules that are imported whole,
    ``from family import *``, are looked through in their order, first by what they import under its
    own name themselves, and modules of the package itself last: ``mbkit.lie`` needs no import of
    its own.
    """

    named: dict[str, str]  # modules by names
    families: list[str]

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [each for each in dir(self) if not each.startswith("_")]
        if not name.startswith("_"):
            for module in self._places(name):
                with HeldInterrupts():  # Ctrl-C would leave the module locked, for other threads
                    place = importlib.import_module(module)
                found = None if place is self else getattr(place, name, None)
                if found is not None:
                    vars(self)[name] = found  # found without this method from now on
                    return found
            own = f"{self.__name__}.{name}"
            if importlib.util.find_spec(own) is not None:
                return importlib.import_module(own)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def _places(self, name: str) -> list[str]:
        """Return the modules in which a name may be."""
        if name in self.named:
            return [self.named[name]]
        listed = (_listed(family).get(name) for family in self.families)
        return [*(module for module in listed if module is not None), *self.families]

    def __setattr__(self, name: str, value: Any) -> None:
        # Python sets a module that was imported in its package, also where the package has a
        # function of that name: `mbkit.sensitivities`
        if not (
            isinstance(value, ModuleType) and self.named.get(name, self.__name__) != self.__name__
        ):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        families = [vars(importlib.import_module(family)) for family in self.families]
        public = {name for each in families for name in each if not name.startswith("_")}
        return sorted(
            {*(name for name in vars(self) if name.startswith("__")), *self.named, *public}
        )


@functools.cache
def _listed(family: str) -> dict[str, str]:
    """Return from where a module imports, by names; its source is read, and not run."""
    spec: Any = importlib.util.find_spec(family)
    return _modules_by_names(spec.loader.get_source(family))


def _modules_by_names(source: str) -> dict[str, str]:
    return {each["name"]: each["module"] for each in _IMPORT.finditer(source) if each["name"]}


def look_up_names(module: str) -> None:
    """Let a module import the names of its `Contents` at their first use."""
    contents: Any = sys.modules[module]
    source = contents.__spec__.loader.get_source(module)
    contents.named = _modules_by_names(source)
    contents.families = [each["module"] for each in _IMPORT.finditer(source) if not each["name"]]
    contents.__class__ = Contents
