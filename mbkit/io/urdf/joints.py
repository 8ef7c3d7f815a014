"""Joints of a URDF file."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from mbkit.errors import MbkitError
from mbkit.given_values import check_name
from mbkit.io.urdf.document import UrdfJoint, UrdfMimic
from mbkit.io.urdf.origin import pose_of
from mbkit.io.xml.elements import Element
from mbkit.io.xml.faults import Reading
from mbkit.io.xml.values import Part
from mbkit.joints import (
    FixedJoint,
    FreeJoint,
    Joint,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
)
from mbkit.model import JointFriction, JointLimits

__all__ = ["NO_LIMIT", "read_joint"]

#: Stands for no limit: the greatest number there is, since a URDF has no infinity and other
#: programs require all four.
NO_LIMIT = sys.float_info.max

_MOVES_ABOUT_AXIS = ("revolute", "continuous", "prismatic")
#: The values of limits that a file leaves out.
_DEFAULTS = {
    "lower": "the least position is 0",
    "upper": "the greatest position is 0",
    "velocity": "the velocity has no limit",
    "effort": "the effort has no limit",
}

Data = TypeVar("Data", JointLimits, JointFriction)

#: The meaning of <axis>: a rotation's or translation's axis, or the normal of a plane.
_HAS_AXIS = {
    "revolute": RevoluteJoint,
    "continuous": RevoluteJoint,
    "prismatic": PrismaticJoint,
    "planar": PlanarJoint,
}

_KINDS = (*_HAS_AXIS, "fixed", "floating", "spherical")


def read_joint(element: Element, reading: Reading) -> UrdfJoint | None:
    """Return the joint of an element <joint>, None without its name or links; faults are noted.

    Where something else is at fault, a fixed joint stands in: its bodies are known.
    """
    name = element.attributes.get("name", "")
    part = Part(element, f"joint {name!r}", "joint", reading)
    if part.text("name") is None:
        return None
    reading.attempt(part.line, "<joint>", lambda: check_name("Joint", name))
    kind = part.text("type")
    if kind is not None and kind not in _KINDS:
        part.unknown("type", kind, _KINDS)
        kind = None
    parent, child = _end(part, "parent"), _end(part, "child")
    pose = pose_of(part)
    joint = _joint(part, name, kind or "fixed")
    (limits, missing), friction = _limits(part, kind), _friction(part, kind)
    mimic = _mimic(part)
    part.done()
    if parent is None or child is None:
        return None
    return UrdfJoint(
        name=name,
        kind=kind or "fixed",
        joint=FixedJoint("stand-in") if joint is None else joint,
        parent=parent,
        child=child,
        pose=pose,
        limits=limits,
        friction=friction,
        mimic=mimic,
        line=part.line,
        missing=missing,
    )


def _end(part: Part, tag: str) -> str | None:
    end = part.child(tag, required=True)
    if end is None:
        return None
    link = end.text("link")
    end.done()
    return link


def _joint(part: Part, name: str, kind: str) -> Joint | None:
    axis = part.child("axis")
    if kind in _HAS_AXIS:
        # without <axis> it is x, as in the format's description
        before = part.reading.num_faults
        direction = np.array((1.0, 0.0, 0.0)) if axis is None else axis.numbers("xyz", 3)
        if axis is not None:
            axis.done()
            if not direction.any() and part.reading.num_faults == before:
                axis.fault("xyz must have a direction, got zero; give a vector that is not.")
        if part.reading.num_faults > before:
            return None
        if kind == "planar" and axis is None:
            part.reading.note(
                part.line,
                f"{part.owner} has no <axis>: the normal of its plane is x, as the format says; "
                "some programs take z.",
            )
        make: Callable[..., Joint] = _HAS_AXIS[kind]
        return part.attempt(lambda: make(name, axis=direction))
    other = {"fixed": FixedJoint, "floating": FreeJoint, "spherical": SphericalJoint}[kind]
    return part.attempt(lambda: other(name))


def _limits(part: Part, kind: str | None) -> tuple[JointLimits, tuple[str, ...]]:
    """Return limits, and required ones that the file leaves out."""
    limit = part.child("limit")
    if limit is None:
        if kind not in ("revolute", "prismatic"):
            return JointLimits(), ()
        part.reading.note(
            part.line,
            f"{part.owner} has no <limit>, which the format requires for its type, and gets none.",
        )
        return JointLimits(), ("limit",)
    defaults = {"lower": 0.0, "upper": 0.0, "velocity": NO_LIMIT, "effort": NO_LIMIT}
    before = part.reading.num_faults
    numbers = {key: _or_none(limit.number(key, value)) for key, value in defaults.items()}
    limit.done()
    if _has_no_axis(limit, kind):
        return JointLimits(), ()
    missing = [key for key in defaults if key not in limit.element.attributes]
    if kind == "continuous":
        bounds = [key for key in ("lower", "upper") if key not in missing]
        if any(numbers[key] for key in bounds):
            limit.reading.note(
                limit.line, f"{limit.owner}: {' and '.join(bounds)} of a continuous joint not kept."
            )
        numbers.update(lower=-np.inf, upper=np.inf)
        missing = []
    elif kind is not None and missing:
        limit.reading.note(
            limit.line,
            f"{limit.owner} has no {' and no '.join(missing)}: "
            f"{' and '.join(_DEFAULTS[key] for key in missing)}.",
        )
    found = _each(limit, JointLimits, numbers) if part.reading.num_faults == before else None
    return found or JointLimits(), tuple(missing)


def _each(part: Part, kind: type[Data], numbers: dict[str, float]) -> Data | None:
    """Return limits or friction; each number is looked at, whatever the others are."""
    try:
        return kind(**numbers)
    except MbkitError:
        fitting = {
            key: value
            for key, value in numbers.items()
            if part.attempt(functools.partial(kind, **{key: value})) is not None
        }
        part.attempt(lambda: kind(**fitting))  # whether they go together
        return None


def _or_none(value: float) -> float:
    return float(np.copysign(np.inf, value)) if abs(value) == NO_LIMIT else value


def _has_no_axis(part: Part, kind: str | None) -> bool:
    """Return whether data of one axis is of no use to the joint, and note it."""
    if kind is None or kind in _MOVES_ABOUT_AXIS:
        return False
    part.reading.note(part.line, f"{part.owner} is not kept: the joint's type is {kind!r}.")
    return True


def _friction(part: Part, kind: str | None) -> JointFriction:
    dynamics = part.child("dynamics")
    if dynamics is None:
        return JointFriction()
    numbers = {key: dynamics.number(key, 0.0) for key in ("damping", "friction")}
    dynamics.done()
    if _has_no_axis(dynamics, kind):
        return JointFriction()
    return _each(dynamics, JointFriction, numbers) or JointFriction()


def _mimic(part: Part) -> UrdfMimic | None:
    mimic = part.child("mimic")
    if mimic is None:
        return None
    joint = mimic.text("joint")
    coupling = UrdfMimic(joint or "", mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    mimic.done()
    return coupling
