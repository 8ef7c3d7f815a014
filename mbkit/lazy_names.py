"""A module whose names are imported when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

from mbkit.interrupts import HeldInterrupts

_IMPORT = re.compile(
    r"^    from (?P<module>[\w.]+) import (?:\(\s+)?(?:(?P<name>\w+) as \w+|\*)(?:,\s+\))?$", re.M
)


class Contents(ModuleType):
    """A package that imports its names when they are asked for.

    The imports stand in its source, under ``if TYPE_CHECKING:``, where type checkers, editors and
    readers find them; what is asked for is looked up there. Modules that are imported whole,
    ``from family import *``, are looked through in their order, and modules of the package itself
    last: ``mbkit.lie`` needs no import of its own.
    """

    named: dict[str, str]  # modules by names
    families: list[str]

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [each for each in dir(self) if not each.startswith("_")]
        if not name.startswith("_"):
            modules = [self.named[name]] if name in self.named else self.families
            for module in modules:
                with HeldInterrupts():  # Ctrl-C would leave the module locked, for other threads
                    place = importlib.import_module(module)
                found = None if place is self else getattr(place, name, None)
                if found is not None:
                    vars(self)[name] = found  # which is asked no more
                    return found
            own = f"{self.__name__}.{name}"
            if importlib.util.find_spec(own) is not None:
                return importlib.import_module(own)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

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


def look_up_names(module: str) -> None:
    """Let a module import the names of its `Contents` when they are asked for."""
    contents: Any = sys.modules[module]
    source = contents.__spec__.loader.get_source(module)
    found = list(_IMPORT.finditer(source))
    contents.named = {each["name"]: each["module"] for each in found if each["name"]}
    contents.families = [each["module"] for each in found if not each["name"]]
    contents.__class__ = Contents
