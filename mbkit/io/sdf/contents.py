"""Texts of child elements, in which SDF has its values: numbers, words, poses."""

from __future__ import annotations

import numpy as np

from mbkit.io.xml.angles import rotation_from_rpy
from mbkit.io.xml.values import Part
from mbkit.spatial import FloatArray

_WORDS = {"true": True, "1": True, "false": False, "0": False}


def number_in(part: Part, tag: str, default: float | None = None) -> float:
    """Return the number in the child `tag`; without a default it must be there."""
    child = part.child(tag, required=default is None)
    if child is None:
        return 0.0 if default is None else default
    value = float(child.content_numbers(1)[0])
    child.done()
    return value


def vector_in(part: Part, tag: str, count: int) -> FloatArray:
    """Return the numbers in the child `tag`, which must be there."""
    child = part.child(tag, required=True)
    if child is None:
        return np.zeros(count)
    values = child.content_numbers(count)
    child.done()
    return values


def word_in(part: Part, tag: str, *, required: bool = False) -> str:
    """Return the text in the child `tag`, "" where there is none."""
    child = part.child(tag, required=required)
    if child is None:
        return ""
    word = child.content()
    child.done()
    return word


def truth_in(part: Part, tag: str, *, default: bool) -> bool:
    """Return whether the child `tag` is true."""
    word = word_in(part, tag)
    if word and word.lower() not in _WORDS:
        part.fault(f"<{tag}> must be true or false, got {word[:20]!r}.")
    return _WORDS.get(word.lower(), default)


def pose_in(part: Part) -> tuple[FloatArray, str]:
    """Return the pose (4, 4) in the child <pose>, and the name of the frame that it is relative to.

    The identity where there is none; no name where the format's own rule holds.
    """
    C = np.eye(4)
    pose = part.child("pose")
    if pose is None:
        return C, ""
    relative = pose.text("relative_to", required=False) or ""
    form = pose.text("rotation_format", required=False) or "euler_rpy"
    is_in_degrees = pose.text("degrees", required=False) in ("true", "1")
    if form not in ("euler_rpy", "quat_xyzw"):
        pose.unknown("rotation_format", form, ("euler_rpy", "quat_xyzw"))
    elif pose.content():
        before = pose.reading.num_faults
        values = pose.content_numbers(6 if form == "euler_rpy" else 7)
        C[:3, 3] = values[:3]
        if form == "euler_rpy":
            C[:3, :3] = rotation_from_rpy(np.deg2rad(values[3:]) if is_in_degrees else values[3:])
        elif pose.reading.num_faults == before:
            C[:3, :3] = pose.rotation_from_xyzw("the quaternion", values[3:])
    pose.done()
    return C, relative
