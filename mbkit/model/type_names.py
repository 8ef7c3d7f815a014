"""Names of classes in model files."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["name_of_type"]


def name_of_type(kind: type, known: Mapping[str, type]) -> str:
    """Return the name under which a class is known; ``module:Class`` for those of users."""
    for name, each in known.items():
        if kind is each:
            return name
    return f"{kind.__module__}:{kind.__qualname__}"
