"""What each hook must return: checked when a plugin is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.joints import Joint
from mbkit.representations import Representation

__all__ = ["KINDS", "BrokenContract", "Kind", "checked"]


class BrokenContract(Exception):
    """What a plugin does against the contract of a hook."""


@attrs.frozen
class Kind:
    """One kind of thing that plugins provide.

    Attributes
    ----------
    hook : str
        Name of the hook.
    title : str
        What messages and tables call one of them.
    names : str
        Which names there may be.
    is_name : callable
        Whether a string is such a name.
    things : str
        What each of them must be.
    fits : callable
        Whether a name and a thing go together.
    """

    hook: str
    title: str
    names: str
    is_name: Callable[[str], bool]
    things: str
    fits: Callable[[str, Any], bool]


def _derives(base: type) -> Callable[[str, Any], bool]:
    return lambda _, thing: isinstance(thing, type) and issubclass(thing, base)


def _is_command(_: str, thing: Any) -> bool:
    import click

    return isinstance(thing, click.Command)


def _is_word(name: str) -> bool:
    return name.replace("-", "_").isidentifier()


def _is_suffix(name: str) -> bool:
    return name.startswith(".") and name[1:].isalnum() and name == name.lower()


_WORDS = "words of letters, digits, '_' and '-'"

#: Everything that plugins can provide.
KINDS: dict[str, Kind] = {
    "joint": Kind(
        "mbkit_joint_types", "joint type", _WORDS, _is_word,
        "a class that derives from mbkit.Joint", _derives(Joint),
    ),
    "force": Kind(
        "mbkit_force_types", "force type", _WORDS, _is_word,
        "a class that derives from mbkit.Force", _derives(Force),
    ),
    "integrator": Kind(
        "mbkit_integrators", "integrator", _WORDS, _is_word,
        "a class that derives from mbkit.Integrator", _derives(Integrator),
    ),
    "representation": Kind(
        "mbkit_representations", "representation", _WORDS, _is_word,
        "an mbkit.Representation under its own name",
        lambda name, thing: isinstance(thing, Representation) and thing.name == name,
    ),
    "reader": Kind(
        "mbkit_file_readers", "file reader", "suffixes in lower case, such as '.sdf'", _is_suffix,
        "a function of the path", lambda _, thing: callable(thing),
    ),
    "command": Kind(
        "mbkit_commands", "command", _WORDS, _is_word, "a click.Command", _is_command,
    ),
}  # fmt: skip


def checked(kind: Kind, returned: Any) -> dict[str, Any]:
    """Return what a hook returned, as a dictionary.

    Parameters
    ----------
    kind : Kind
        Which hook it was.
    returned : mapping
        What it returned.

    Returns
    -------
    dict
        Things by name.

    Raises
    ------
    BrokenContract
        If it is no mapping, or has a name or a thing that cannot be.
    """
    if not isinstance(returned, Mapping):
        raise BrokenContract(
            f"{kind.hook}() must return a dictionary by name, and returned {returned!r:.200}"
        )
    for name, thing in returned.items():
        if not isinstance(name, str) or not kind.is_name(name):
            raise BrokenContract(f"{kind.hook}(): names must be {kind.names}, got {name!r:.200}")
        if not kind.fits(name, thing):
            raise BrokenContract(
                f"{kind.hook}(): '{name}' must be {kind.things}, got {thing!r:.200}"
            )
    return dict(returned)
