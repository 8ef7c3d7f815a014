"""Integrators as files hold them: by the name of their class, and their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs
import numpy as np

from mbkit import integrators
from mbkit.errors import UsageError
from mbkit.integrators.integrator import Integrator


def shown(thing: Any) -> str:
    """Return the text of an object of attrs, without the fields that are as they are by default."""
    parts = [
        f"{field.name}={value!r}"
        for field in attrs.fields(type(thing))
        if field.repr and not _is_default(value := getattr(thing, field.name), field)
    ]
    return f"{type(thing).__qualname__}({', '.join(parts)})"


def _is_default(value: Any, field: Any) -> bool:
    return value is None and field.default is None


def is_described(integrator: Integrator) -> bool:
    """Return whether a description is all that is needed to make an integrator again."""
    kind = type(integrator)
    return getattr(integrators, kind.__name__, None) is kind  # by its name: no other is imported


def described(integrator: Integrator) -> dict[str, Any]:
    """Return an integrator as a file holds it.

    Returns
    -------
    dict
        The name of its ``class``; for those of mbkit also its ``fields``, by name: numbers, lists
        of them, and descriptions of tableaus.

    Examples
    --------
    >>> import mbkit as mb
    >>> described(mb.RungeKuttaMuntheKaas(mb.tableaus.EULER))["fields"]["tableau"]["fields"]["A"]
    [[0.0]]
    """
    if not is_described(integrator):
        return {"class": type(integrator).__qualname__}
    return cast("dict[str, Any]", _plain(integrator))


def from_description(about: Mapping[str, Any]) -> Integrator | None:
    """Return the integrator of a description; None where its class is not one of mbkit's.

    Examples
    --------
    >>> import mbkit as mb
    >>> from_description(described(mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN))).order
    2
    """
    if "fields" not in about or about["class"] not in _classes():
        return None
    made = _made(about)
    if not isinstance(made, Integrator):
        raise UsageError(f"'{about['class']}' is no integrator.")
    return made


def _classes() -> dict[str, Any]:
    """Return the classes of mbkit that their fields describe completely, by name."""
    listed = vars(integrators.built_in)  # which is not imported before
    return {name: kind for name, kind in listed.items() if isinstance(kind, type)}


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        fields = {
            field.name: _plain(getattr(value, field.name)) for field in attrs.fields(type(value))
        }
        return {"class": type(value).__qualname__, "fields": fields}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _made(about: Any) -> Any:
    if not (isinstance(about, Mapping) and "fields" in about):
        return about
    fields = {name: _made(value) for name, value in about["fields"].items()}
    return _classes()[about["class"]](**fields)
