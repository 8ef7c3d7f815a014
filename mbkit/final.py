"""Classes of mbkit whose methods belong together: overriding one of them is refused by name."""

from __future__ import annotations

import inspect
from typing import Any

from mbkit.errors import UsageError


class FinalBuiltIns:
    """Base class of contracts; it refuses subclasses that override methods of mbkit's classes.

    Forces, constraints, integrators, solvers and representations of mbkit are final: their compiled
    forms, closed forms and descriptions in files belong to all of their methods together, so that a
    method in a subclass would be called in one place and not in another. Subclasses with other
    arguments, or with methods of other names, are welcome.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Raise UsageError where the class overrides a method of a final class of mbkit."""
        super().__init_subclass__(**options)
        for base in cls.__mro__[1:]:
            if not vars(base).get("__final__") or not base.__module__.startswith("mbkit."):
                continue
            fields = {field.name for field in getattr(base, "__attrs_attrs__", ())}
            own = {name for name in dir(base) if name[0] != "_" and name not in fields}
            own = {name for name in own if _static(cls, name) is not _static(base, name)}
            for name in sorted(own):
                contract = next(each for each in base.__mro__ if FinalBuiltIns in each.__bases__)
                own_name, name_of_base = cls.__qualname__, base.__name__
                raise UsageError(
                    f"{own_name} overrides {name} of mbkit's {name_of_base}, whose compiled and "
                    f"closed forms would not hear it. Derive {own_name} from mbkit's "
                    f"{contract.__name__} instead, keep a {name_of_base} as an attribute, and "
                    f"call its methods where they are of use."
                )


def _static(kind: type, name: str) -> Any:
    return inspect.getattr_static(kind, name, None)
