"""Joints of a URDF file."""

from __future__ import annotations

import sys

import numpy as np

from mbkit.errors import check_name
from mbkit.io.urdf.document import UrdfJoint, UrdfMimic
from mbkit.io.urdf.elements import Element
from mbkit.io.urdf.faults import Reading
from mbkit.io.urdf.values import Part
from mbkit.joints import FixedJoint, FreeJoint, Joint, PrismaticJoint, RevoluteJoint, SphericalJoint
from mbkit.model import JointFriction, JointLimits

__all__ = ["NO_LIMIT", "read_joint"]

#: Stands for no limit: the greatest number there is, since a URDF has no infinity and other
#: programs ask for all four.
NO_LIMIT = sys.float_info.max

_MOVES_ABOUT_AXIS = ("revolute", "continuous", "prismatic")
_KINDS = (*_MOVES_ABOUT_AXIS, "fixed", "floating", "spherical")


def read_joint(element: Element, reading: Reading) -> UrdfJoint | None:
    """Return the joint of an element <joint>, None where it is at fault; faults are noted."""
    name = element.attributes.get("name", "")
    part = Part(element, f"joint {name!r}", "joint", reading)
    if part.text("name") is None:
        return None
    reading.attempt(part.line, "<joint>", lambda: check_name("Joint", name))
    kind = part.text("type")
    if kind is not None and kind not in _KINDS:
        _refuse_kind(part, kind)
        kind = None
    parent, child = _end(part, "parent"), _end(part, "child")
    pose = part.pose()
    joint = _joint(part, name, kind or "fixed")
    limits, friction = _limits(part, kind or "fixed"), _friction(part, kind or "fixed")
    mimic = _mimic(part)
    part.done()
    if None in (kind, parent, child, joint):
        return None
    assert kind is not None
    assert parent is not None
    assert child is not None
    assert joint is not None
    return UrdfJoint(
        name, kind, joint, parent, child, pose, limits, friction, mimic, part.line
    )  # fmt: skip


def _refuse_kind(part: Part, kind: str) -> None:
    if kind == "planar":
        part.fault(
            "type 'planar' is not supported yet; write it as two prismatic joints and a revolute "
            "one, with links without inertia between them."
        )
    else:
        part.unknown("type", kind, _KINDS)


def _end(part: Part, tag: str) -> str | None:
    end = part.child(tag, required=True)
    if end is None:
        return None
    link = end.text("link")
    end.done()
    return link


def _joint(part: Part, name: str, kind: str) -> Joint | None:
    axis = part.child("axis")
    if kind in _MOVES_ABOUT_AXIS:
        # without <axis> it is x, as in the format's description
        before = part.reading.num_faults
        direction = np.array((1.0, 0.0, 0.0)) if axis is None else axis.numbers("xyz", 3)
        if axis is not None:
            axis.done()
            if not direction.any() and part.reading.num_faults == before:
                axis.fault("xyz must have a direction, got zero; give a vector that is not.")
        if part.reading.num_faults > before:
            return None
        make = PrismaticJoint if kind == "prismatic" else RevoluteJoint
        return part.attempt(lambda: make(name, axis=direction))
    other = {"fixed": FixedJoint, "floating": FreeJoint, "spherical": SphericalJoint}[kind]
    return part.attempt(lambda: other(name))


def _limits(part: Part, kind: str) -> JointLimits:
    limit = part.child("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            part.reading.note(part.line, f"{part.owner} has no <limit>, and gets none.")
        return JointLimits()
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    given = [key for key in ("lower", "upper") if key in limit.element.attributes]
    velocity, effort = (limit.number(key, NO_LIMIT) for key in ("velocity", "effort"))
    limit.done()
    if _has_no_axis(limit, kind):
        return JointLimits()
    if kind == "continuous":
        if given and (lower or upper):
            limit.reading.note(
                limit.line, f"{limit.owner}: {' and '.join(given)} of a continuous joint not kept."
            )
        lower, upper = -np.inf, np.inf
    numbers = [_or_none(value) for value in (lower, upper, velocity, effort)]
    return limit.attempt(lambda: JointLimits(*numbers)) or JointLimits()


def _or_none(value: float) -> float:
    return float(np.copysign(np.inf, value)) if abs(value) == NO_LIMIT else value


def _has_no_axis(part: Part, kind: str) -> bool:
    """Return whether data of one axis is of no use to the joint, and note it."""
    if kind in _MOVES_ABOUT_AXIS:
        return False
    part.reading.note(part.line, f"{part.owner} is not kept: the joint's type is {kind!r}.")
    return True


def _friction(part: Part, kind: str) -> JointFriction:
    dynamics = part.child("dynamics")
    if dynamics is None:
        return JointFriction()
    damping, friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
    dynamics.done()
    if _has_no_axis(dynamics, kind):
        return JointFriction()
    return dynamics.attempt(lambda: JointFriction(damping, friction)) or JointFriction()


def _mimic(part: Part) -> UrdfMimic | None:
    mimic = part.child("mimic")
    if mimic is None:
        return None
    joint = mimic.text("joint")
    coupling = UrdfMimic(joint or "", mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    mimic.done()
    return coupling
