"""Checks that the definitions of joints, forces and constraints have in common."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from mbkit.errors import MbkitError, NameUnknownError, suggestion
from mbkit.given_values import check_name


def check_part(part: Any, contract: type[Any], error: type[MbkitError], hint: str = "") -> str:
    """Return the name of a part in messages, as "Joint 'elbow'"; raise unless it is a named part.

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


def check_methods(what: str, part: Any, contract: type[Any], error: type[MbkitError]) -> None:
    """Raise where a force or a constraint has a value in the place of a method of the contract."""
    for name in dir(contract):
        if inspect.isfunction(getattr(contract, name)) and not callable(getattr(part, name)):
            raise error(
                f"{what}: {name} must be a method, which mbkit calls, got {getattr(part, name)!r}; "
                f"give the field of {type(part).__name__} another name."
            )


def check_names(what: str, part: Any, error: type[MbkitError]) -> None:
    """Raise unless the joints and bodies that a force or a constraint names are tuples of names."""
    for key in ("joints", "bodies"):
        names = getattr(part, key)
        if not (isinstance(names, tuple) and all(isinstance(each, str) for each in names)):
            raise error(f"{what}: {key} must be a tuple of names, got {names!r}.")


def check_named(
    what: str, part: Any, owner: str, joints: Mapping[str, tuple[int, int]], bodies: Iterable[str]
) -> None:
    """Raise unless the joints and bodies that a force or a constraint names are there, and fit it.

    `joints` are those of the owner with their numbers of positions and of velocities, `bodies` its
    bodies with the world. NameUnknownError if a name is unknown, the part's own error if a joint
    has not the coordinates that it needs.
    """
    check = getattr(part, "check_joint", None)
    for name in part.joints:
        check_known(what, owner, "joint", name, joints)
        if check is not None:
            check(name, *joints[name])
    for name in part.bodies:
        check_known(what, owner, "body", name, bodies)
