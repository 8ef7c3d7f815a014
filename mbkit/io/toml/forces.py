"""Forces and constraints in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from mbkit.constraints import Constraint
from mbkit.errors import suggestion
from mbkit.forces import Force
from mbkit.io.toml.faults import Faults
from mbkit.io.toml.fields import Pose, converter
from mbkit.io.toml.joints import drop_unknown, known_class
from mbkit.plugins import registry

__all__ = ["read_constraint", "read_force"]


def read_force(
    name: str, table: Any, types: Mapping[str, type[Force]], faults: Faults
) -> Force | None:
    """Return a force, or None if it is at fault; see `_read`."""
    force: Force | None = _read("force", Force, name, table, types, faults)
    return force


def read_constraint(
    name: str, table: Any, types: Mapping[str, type[Constraint]], faults: Faults
) -> Constraint | None:
    """Return a constraint, or None if it is at fault; see `_read`."""
    constraint: Constraint | None = _read("constraint", Constraint, name, table, types, faults)
    return constraint


def _read(
    what: str, base: type, name: str, table: Any, types: Mapping[str, Any], faults: Faults
) -> Any:
    """Return an object of the classes that derive from `base`, None if its table is at fault."""
    path = (f"{what}s", name)
    if not isinstance(table, dict):
        faults.add(path, f"must be a table, got {table!r}.")
        return None
    if not isinstance(table.get("type"), str):
        faults.add(path, f"must have a 'type'; {suggestion('', types)}")
        return None
    made = None
    with faults.at(*path):
        kind = known_class(table["type"], types, base, what, path, faults)
        fields = {key: value for key, value in table.items() if key != "type"}
        if kind is not None:
            with faults.of_plugin(registry().owner(what, kind)), faults.at(*path):
                if drop_unknown(kind, what, fields, [], path, faults):
                    made = _build(kind, name, fields, path, faults)
    return made


def _build(
    kind: Any, name: str, fields: dict[str, Any], path: tuple[str, ...], faults: Faults
) -> Any:
    if not attrs.has(kind):
        return kind(name)
    given: dict[str, Any] = {"name": name}
    for key, value in fields.items():
        given[key] = value
        if isinstance(value, dict):  # a pose, in any of its forms
            with faults.at(*path, key):
                given[key] = converter().structure(value, Pose).tolist()
        elif key in ONE_OR_MORE and type(value) in (int, float, str):
            given[key] = [value]
    return converter().structure(given, kind)


#: Arrays for which one number does.
ONE_OR_MORE = ("effort",)
