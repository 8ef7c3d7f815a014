"""Checks that the definitions of joints, forces and constraints have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mbkit.errors import MbkitError, NameUnknownError, check_name, suggestion

__all__ = ["check_known", "check_part"]


def check_part(part: Any, contract: type[Any], error: type[MbkitError], hint: str = "") -> str:
    """Return what messages call a part, "Joint 'elbow'" say; raise unless it is one, with a name.

    It must derive from the contract; `hint` ends the message where it does not, and is no class
    either.
    """
    kind = contract.__name__
    if not isinstance(part, contract):
        hint = "; call it with a name" if isinstance(part, type) else hint
        raise error(f"A {kind.lower()} must be an instance of mbkit.{kind}, got {part!r}{hint}.")
    name = getattr(part, "name", None)
    if name is None:
        raise error(
            f"A {kind.lower()} of class {type(part).__name__} has no name; call "
            "super().__init__(name) in its __init__."
        )
    check_name(kind, name)
    return f"{kind} {name!r}"


def check_known(what: str, owner: str, kind: str, name: str, known: Iterable[str]) -> None:
    """Raise NameUnknownError unless a name that a part gives is one of those that its owner has."""
    known = [*known]
    if name not in known:
        raise NameUnknownError(f"{what}: {owner} has no {kind} {name!r}; {suggestion(name, known)}")
