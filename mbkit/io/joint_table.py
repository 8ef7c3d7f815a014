"""Joints in a model file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import attrs
import numpy as np

from mbkit.errors import MbkitError, ModelFileError, suggestion
from mbkit.io.faults import Faults
from mbkit.io.fields import Entries, Pose, converter
from mbkit.joints import FixedJoint, Joint
from mbkit.model import JointFriction, JointLimits
from mbkit.spatial import FloatArray

__all__ = ["JointPlace", "known_class", "read_joint"]


@attrs.frozen
class Frames:
    """The pair of joint frames."""

    predecessor: Pose | None = None
    successor: Pose | None = None


@attrs.frozen
class Limits:
    """The keys of `JointLimits`."""

    lower: Entries | None = None
    upper: Entries | None = None
    velocity: Entries | None = None
    effort: Entries | None = None


@attrs.frozen
class Friction:
    """The keys of `JointFriction`."""

    damping: Entries | None = None
    friction: Entries | None = None


@attrs.frozen
class JointPlace:
    """What it connects, and where it sits."""

    type: str
    predecessor: str
    successor: str
    frames: Frames | None = None
    reference: Pose | None = None
    screws_in: str = "successor"
    limits: Limits | None = None
    friction: Friction | None = None

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `Mechanism.add_joint`."""
        options: dict[str, Any] = {"screws_in": self.screws_in, "reference": self.reference}
        if self.limits is not None:
            options["limits"] = _under("limits", JointLimits, self.limits)
        if self.friction is not None:
            options["friction"] = _under("friction", JointFriction, self.friction)
        if self.frames is not None:
            options["frames"] = (
                _or_identity(self.frames.predecessor),
                _or_identity(self.frames.successor),
            )
        return options


def _under(key: str, kind: type[Any], table: Limits | Friction) -> Any:
    """Return limits or friction; what is wrong with them is wrong under their key."""
    try:
        return kind(**attrs.asdict(table))
    except MbkitError as error:
        error.key = f"{key}.{error.key}"
        raise


def _or_identity(pose: FloatArray | None) -> FloatArray:
    return np.eye(4) if pose is None else pose


def read_joint(
    name: str, table: Any, types: Mapping[str, type[Joint]], faults: Faults
) -> tuple[Joint, JointPlace | None]:
    """Return a joint and its place.

    Parameters
    ----------
    name : str
        Its key.
    table : dict
        Its table.
    types : mapping
        Classes by the names that files call them.
    faults : Faults
        Where faults are noted.

    Returns
    -------
    tuple
        The joint, and None in place of its place if that is at fault. A fixed joint stands in for
        a joint that is at fault, so that its bodies and frames are looked at all the same.
    """
    path = ("joints", name)
    joint: Joint = FixedJoint("stand-in")
    if not isinstance(table, dict):
        faults.add(path, f"must be a table, got {table!r}.")
        return joint, None
    place_keys = [field.name for field in attrs.fields(JointPlace)]
    fields = {key: value for key, value in table.items() if key not in place_keys}
    place = None
    with faults.at(*path):
        joint = FixedJoint(name)
    with faults.at(*path):
        place = converter().structure(
            {key: value for key, value in table.items() if key in place_keys}, JointPlace
        )
    with faults.at(*path):
        if isinstance(table.get("type"), str):  # else: reported as a fault of the place
            kind = known_class(table["type"], types, Joint, "joint")
            _check_keys(kind, fields, place_keys, path, faults)
            joint = _build(kind, name, fields)
    return joint, place


Kind = TypeVar("Kind")


def known_class(name: str, types: Mapping[str, type[Kind]], base: Any, what: str) -> type[Kind]:
    """Return the class that a file calls by a name.

    Parameters
    ----------
    name : str
        What the file says.
    types : mapping
        Classes by the names that files call them.
    base : type
        What the class must derive from.
    what : str
        What a message calls it: "joint" or "force".

    Returns
    -------
    type
        The class.

    Raises
    ------
    ModelFileError
        If there is none of this name.
    """
    if name in types:
        return types[name]
    # A file must not make Python import what it names: only what the user has imported counts.
    module, colon, attribute = name.partition(":")
    kind = getattr(sys.modules.get(module), attribute, None) if colon else None
    if isinstance(kind, type) and issubclass(kind, base):
        return kind
    remedy = (
        f"import its module first, or pass {what}_types={{{name!r}: Class}} to load_model."
        if colon
        else suggestion(name, types)
    )
    error = ModelFileError(f"{name!r} is no known type of {what}; {remedy}")
    error.key = "type"
    raise error


def _check_keys(
    kind: type[Joint],
    fields: dict[str, Any],
    place_keys: list[str],
    path: tuple[str, ...],
    faults: Faults,
) -> None:
    lost = fields.pop("not_written", None)
    if lost is not None:
        faults.add(
            (*path, "not_written"),
            f"this joint of class {kind.__name__} is not complete in the file: {lost} could not "
            "be written; build the mechanism in Python.",
        )
    known = [field.name for field in attrs.fields(kind) if field.init] if attrs.has(kind) else []
    known = [*(key for key in known if key != "name"), *place_keys]
    for key in list(fields):
        if key not in known:
            faults.add((*path, key), f"unknown key; {suggestion(key, known)}")
            del fields[key]


def _build(kind: type[Joint], name: str, fields: dict[str, Any]) -> Joint:
    if attrs.has(kind):
        return cast("Joint", converter().structure({"name": name, **fields}, kind))
    return kind(name)
