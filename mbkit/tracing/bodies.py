"""Inertias of bodies that compute them from their dimensions, on a tape.

The code of the bodies, and of their shapes, is copied for traced numbers and run. The results,
shapes and inertias, are objects with the same fields, made without the checks of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.tape import Number, Traced
from mbkit.errors import UsageError
from mbkit.parts.solids import Solid
from mbkit.tracing.branches import BranchingTape
from mbkit.tracing.copies_of_objects import ObjectCopies
from mbkit.tracing.parameters import Free, free_parameter

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.tracing.trace import Trace

__all__ = ["inertias_by_dimensions", "is_of_dimensions"]

#: The numbers of a body in a system: the parameters of its inertia.
_FIELDS = ("mass", "com", "moment_about_com")


def is_of_dimensions(system: System, path: str) -> bool:
    """Return whether a parameter is of a body that computes its inertia from it."""
    return path.startswith("bodies.") and f"{_body_of(path)}.moment_about_com" not in (
        system.parameters
    )


def inertias_by_dimensions(trace: Trace) -> tuple[System, list[tuple[Free, Any]]]:
    """Return the system with inertias that are given in place of dimensions that stay free.

    And their numbers that depend on these dimensions, with their values on the tape.
    """
    system = trace.system
    bodies: dict[str, dict[str, Any]] = {}
    for each in trace.free:
        if is_of_dimensions(system, each.path):
            fields = bodies.setdefault(_body_of(each.path), {})
            fields[each.path.rpartition(".")[2]] = trace.parameter(each.path)
    if not bodies:
        return system, []
    names = {path: path.partition(".")[2] for path in bodies}
    known = system._blueprint.bodies
    plain = system._blueprint.with_inertias({n: known[n].inertia for n in names.values()}, {})
    found: list[tuple[Free, Any]] = []
    for path, fields in bodies.items():
        _check(trace, path, fields)
        traced = _inertia(trace, trace.tape, path, fields)
        for name, value in zip(_FIELDS, traced, strict=True):
            free = free_parameter(trace.what, f"{path}.{name}", plain)
            numbers = [value[entry] for entry in free.entries]
            if any(isinstance(number, Traced) for number in numbers):
                found.append((free, numbers))
    return plain, found


def _body_of(path: str) -> str:
    """Return "bodies.rod" of "bodies.rod.length"."""
    return path.rpartition(".")[0]


def _inertia(trace: Trace, tape: BranchingTape, path: str, fields: Mapping[str, Any]) -> list[Any]:
    """Return mass, centre of mass and moment of a body with other dimensions."""
    body = trace.system._blueprint.bodies[path.partition(".")[2]]

    def run() -> list[Number]:
        shadow = ObjectCopies().remade(body, fields)
        inertia = shadow.computed_inertia() if isinstance(body, Solid) else shadow.inertia
        parts = (np.asarray(getattr(inertia, name), dtype=object) for name in _FIELDS)
        return [number for part in parts for number in part.ravel()]

    numbers = trace.refusing(f"Body {body.name!r}", lambda: tape.every_way(run))
    mass, com, moment = np.split(np.array(numbers, dtype=object), [1, 4])
    return [mass.reshape(()), com, moment.reshape(3, 3)]


def _check(trace: Trace, path: str, fields: Mapping[str, Any]) -> None:
    """Raise unless the traced code reproduces the body's own numbers from its dimensions."""
    tape, known = BranchingTape(), trace.system.parameters
    moved: dict[str, Any] = {}
    for field, traced in fields.items():
        value = np.array(known[f"{path}.{field}"], dtype=float)
        if value.shape != (4, 4):  # of a pose another number may be none
            value *= 1.0 + 0.01 * np.cos(np.arange(value.size)).reshape(value.shape)
        pairs = zip(value.ravel().tolist(), np.ravel(traced), strict=True)
        numbers = [tape.input(field, x) if isinstance(old, Traced) else x for x, old in pairs]
        moved[field] = np.array(numbers, dtype=object).reshape(value.shape)
    given = {f"{path}.{field}": _values(value) for field, value in moved.items()}
    name = path.partition(".")[2]
    there = trace.system.with_parameters(given)._blueprint.bodies[name].inertia
    for field, found in zip(_FIELDS, _inertia(trace, tape, path, moved), strict=True):
        expected = np.asarray(getattr(there, field))
        if np.abs(_values(found) - expected).max() > 1e-9 * max(1e-300, np.abs(expected).max()):
            raise UsageError(
                f"{trace.what}: Body {name!r} of system '{trace.system.name}' does not compute its "
                f"{field} from its dimensions alone as it is traced, so that they cannot stay "
                f"free; write 'inertia' as a property without a cache."
            )


def _values(numbers: Any) -> Any:
    value = np.array([float(getattr(x, "value", x)) for x in np.ravel(numbers)])
    return value.reshape(np.shape(numbers)) if np.ndim(numbers) else float(value[0])
