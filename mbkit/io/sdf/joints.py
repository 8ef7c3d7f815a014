"""Joints of an SDF file."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from mbkit.given_values import check_name
from mbkit.io.sdf.contents import number_in, word_in
from mbkit.io.sdf.document import SdfJoint, SdfMimic
from mbkit.io.sdf.frames import MODEL, WORLD, Scope
from mbkit.io.xml.values import Part
from mbkit.joints import (
    FixedJoint,
    HelicalJoint,
    Joint,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
    UniversalJoint,
)
from mbkit.model import JointFriction, JointLimits
from mbkit.spatial import FloatArray

#: Types, with the number of their axes.
KINDS = {
    "revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2,
    "ball": 0, "fixed": 0,
}  # fmt: skip

#: The number for no limit in files of older versions; larger ones mean the same.
_NO_LIMIT = 1e16


class Axis(NamedTuple):
    """An axis of a joint: its direction in the joint's frame, limits, and forces about it."""

    direction: FloatArray
    lower: float
    upper: float
    effort: float
    velocity: float
    damping: float
    friction: float
    stiffness: float
    rest: float
    mimic: SdfMimic | None


def read_joint(part: Part, name: str, scope: Scope, version: tuple[int, ...]) -> SdfJoint | None:
    """Return the joint of an element <joint>, whose frames are all known; None at a fault."""
    before = part.reading.num_faults
    part.text("name")
    whole = scope.prefix + name
    part.attempt(lambda: check_name("Joint", whole))
    kind = part.text("type") or ""
    if kind not in KINDS:
        hint = "; add an mbkit.GearRatio instead" if kind == "gearbox" else ""
        part.unknown("type", kind, KINDS) if not hint else part.fault(
            f"a {kind} is not read{hint}."
        )
    parent, child = (word_in(part, tag, required=True) for tag in ("parent", "child"))
    part.children("pose")  # read with the frames
    axes = [
        _axis(each, name, scope, version)
        for tag in ("axis", "axis2")[: KINDS.get(kind, 0)]
        if (each := part.child(tag, required=True)) is not None
    ]
    pitch = _pitch(part) if kind == "screw" else 0.0
    if part.reading.num_faults > before:
        return None
    ends = [end if end == WORLD else scope.link_of(end, part) for end in (parent, child)]
    joint = part.attempt(lambda: _joint(whole, kind, [axis.direction for axis in axes], pitch))
    limits = part.attempt(lambda: _limits(axes))
    friction = part.attempt(lambda: _friction(axes))
    part.done()
    if len(axes) == 2 and any(a.damping or a.stiffness or a.mimic for a in axes):
        part.reading.note(
            part.line, f"{part.owner}: dampers, springs, <mimic> of two axes not read."
        )
    if part.reading.num_faults > before:
        return None
    assert joint is not None
    assert limits is not None
    assert friction is not None
    one = axes[0] if len(axes) == 1 else None
    return SdfJoint(
        name=whole, kind=kind, joint=joint, parent=ends[0], child=ends[1],
        pose=scope.in_world(name, part), limits=limits, friction=friction,
        damping=one.damping if one else 0.0, stiffness=one.stiffness if one else 0.0,
        rest=one.rest if one else 0.0, mimic=one.mimic if one else None, line=part.line,
    )  # fmt: skip


def _pitch(part: Part) -> float:
    """Return metres per radian: SDF has metres per turn, until 1.9 -radians per metre."""
    if part.children("screw_thread_pitch") or not part.children("thread_pitch"):
        part.children("thread_pitch")
        return number_in(part, "screw_thread_pitch") / (2.0 * np.pi)
    turns = number_in(part, "thread_pitch")
    if not turns:
        part.fault("<thread_pitch> must not be zero; give radians per metre.")
    return -1.0 / (turns or 1.0)


def _joint(name: str, kind: str, axes: list[FloatArray], pitch: float) -> Joint:
    if kind in ("revolute", "continuous"):
        return RevoluteJoint(name, axis=axes[0])
    if kind == "prismatic":
        return PrismaticJoint(name, axis=axes[0])
    if kind == "screw":
        return HelicalJoint(name, axis=axes[0], pitch=pitch)
    if kind == "ball":
        return SphericalJoint(name)
    return UniversalJoint(name, axis1=axes[0], axis2=axes[1]) if axes else FixedJoint(name)


def _limits(axes: list[Axis]) -> JointLimits:
    if not axes:
        return JointLimits()
    rows = {key: [getattr(each, key) for each in axes] for key in JointLimits.__match_args__}
    return JointLimits(**{key: row if len(row) > 1 else row[0] for key, row in rows.items()})


def _friction(axes: list[Axis]) -> JointFriction:
    values = [each.friction for each in axes]
    return JointFriction(friction=values if len(values) > 1 else sum(values))


def _axis(part: Part, name: str, scope: Scope, version: tuple[int, ...]) -> Axis:
    """Return the content of an <axis>; the direction is one in the frame of the joint."""
    direction = np.array((0.0, 0.0, 1.0))
    frame = ""
    xyz = part.child("xyz")
    if xyz is not None:
        direction = xyz.content_numbers(3)
        frame = xyz.text("expressed_in", required=False) or ""
        xyz.done()
    in_model = word_in(part, "use_parent_model_frame") in ("true", "1") or version < (1, 5)
    frame = frame or (MODEL if in_model else "")
    if frame and part.reading.num_faults == 0:
        own, other = (scope.pose_of(each, part)[:3, :3] for each in (name, frame))
        direction = own.T @ other @ direction
    limits, losses = _limit(part), _dynamics(part)
    mimic = _mimic(part, scope)
    part.done()
    return Axis(direction, *limits, *losses, mimic)


def _limit(part: Part) -> tuple[float, float, float, float]:
    """Return least and greatest position, greatest effort and velocity; infinity for no limit."""
    limit = part.child("limit")
    if limit is None:
        return -np.inf, np.inf, np.inf, np.inf
    lower, upper = number_in(limit, "lower", -_NO_LIMIT), number_in(limit, "upper", _NO_LIMIT)
    sizes = [number_in(limit, key, -1.0) for key in ("effort", "velocity")]
    limit.done()
    # negative sizes mean that there is none
    return (
        -np.inf if lower <= -_NO_LIMIT else lower,
        np.inf if upper >= _NO_LIMIT else upper,
        *(np.inf if each < 0.0 else each for each in sizes),
    )  # type: ignore[return-value]


def _dynamics(part: Part) -> tuple[float, float, float, float]:
    """Return damping, friction, and stiffness and rest of a spring."""
    dynamics = part.child("dynamics")
    if dynamics is None:
        return 0.0, 0.0, 0.0, 0.0
    read = functools.partial(number_in, dynamics)
    keys = ("damping", "friction", "spring_stiffness", "spring_reference")
    values = [read(key, 0.0) for key in keys]
    dynamics.done()
    return values[0], values[1], values[2], values[3]


def _mimic(part: Part, scope: Scope) -> SdfMimic | None:
    mimic = part.child("mimic")
    if mimic is None:
        return None
    joint, axis = mimic.text("joint") or "", mimic.text("axis", required=False) or "axis"
    if axis != "axis":
        mimic.fault(f"couples to {axis!r}; only first axes are read.")
    values = [
        number_in(mimic, key, default)
        for key, default in (("multiplier", None), ("offset", 0.0), ("reference", 0.0))
    ]
    mimic.done()
    return SdfMimic(scope.prefix + joint, *values)
