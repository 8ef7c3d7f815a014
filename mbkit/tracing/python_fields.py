"""Fields of forces, joints and constraints in Python that stay free.

Their methods read them as attributes: the shadows of these objects, by which they are traced, get
symbols in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import MbkitError, UsageError

if TYPE_CHECKING:
    from mbkit.tracing.trace import Trace

__all__ = ["enter_python_fields"]


def enter_python_fields(trace: Trace) -> None:
    """Let methods in Python find the fields of their object that stay free.

    UsageError if something else of the object is computed from such a field when it is made.
    """
    parts = _parts_in_python(trace)
    for path in dict.fromkeys(each.path for each in trace.free):
        owner, _, field = path.rpartition(".")
        part = parts.get(owner)
        if part is None or not attrs.has(type(part)):
            continue
        if field not in {each.name for each in attrs.fields(type(part))}:
            continue  # where a joint is
        _check_alone(trace, path, part, field)
        shadow = trace.copies.convert(part)
        vars(shadow)[field] = trace.parameter(path)[()]


def _parts_in_python(trace: Trace) -> dict[str, Any]:
    """Return the objects whose methods are traced, by the names that their fields begin with."""
    arrays = trace.system.arrays
    found: dict[str, Any] = {}
    for force in trace.system.forces:
        if force.kernels() is None:
            found[f"forces.{force.name}"] = force
    joints = [*arrays.joints, *(arrays.closure.joints if arrays.closure else ())]
    for joint in joints:
        if joint is not None and joint.kernels() is None and joint.screw_form() is None:
            found[f"joints.{joint.name}"] = joint
    for constraint in arrays.closure.objects if arrays.closure else ():
        if constraint.kernel() is None:
            found[f"constraints.{constraint.name}"] = constraint
    return found


def _check_alone(trace: Trace, path: str, part: Any, field: str) -> None:
    """Raise UsageError if another attribute depends on a field."""
    value = getattr(part, field)
    moved = np.asarray(value, dtype=np.float64)
    moved = moved + 1e-6 * np.maximum(1.0, np.abs(moved))
    try:
        other = attrs.evolve(part, **{field: moved if moved.ndim else float(moved)})
    except (MbkitError, TypeError, ValueError):
        return  # as of an axis of unit length: nothing is known
    for name, mine in _attributes(part).items():
        if name != field and not _alike(mine, _attributes(other).get(name)):
            kind = type(part).__name__
            raise UsageError(
                f"{trace.what}: {path!r} cannot stay free: {kind}.{name} is computed from it when "
                f"the object is made. Compute {name} in the methods that use it, or leave "
                f"{path!r} as it is."
            )


def _attributes(part: Any) -> dict[str, Any]:
    names = [each.name for each in attrs.fields(type(part))]
    return {name: getattr(part, name) for name in names} | getattr(part, "__dict__", {})


def _alike(a: Any, b: Any) -> bool:
    """Whether numbers are the same; values that are no numbers count as the same."""
    if a is b:
        return True
    try:
        x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return x.shape == y.shape and bool((x == y).all())
