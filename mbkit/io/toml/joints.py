"""Joints in a model file."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

import attrs
import numpy as np

from mbkit.errors import suggestion
from mbkit.io.toml.expressions import of_time
from mbkit.io.toml.faults import Faults
from mbkit.io.toml.fields import Entries, Pose, converter
from mbkit.joints import CompositeJoint, FixedJoint, Joint
from mbkit.joints.prescribed.prescribed_joint import PrescribedJoint
from mbkit.model import JointFriction, JointLimits
from mbkit.plugins import registry
from mbkit.spatial import FloatArray

__all__ = ["JointPlace", "known_class", "read_joint"]


@attrs.frozen
class Frames:
    """The pair of joint frames, and the pose of the joint at the reference configuration."""

    predecessor: Pose | None = None
    successor: Pose | None = None
    reference: Pose | None = None


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
    """The bodies that a joint connects, its frames, limits and friction."""

    type: str
    predecessor: str
    successor: str
    frames: Frames | None = None
    reference: Pose | None = None
    screws_in: str = "successor"
    limits: Limits | None = None
    friction: Friction | None = None
    motion: Any = None

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `Mechanism.add_joint`, without limits and friction."""
        options: dict[str, Any] = {"screws_in": self.screws_in, "reference": self.reference}
        if self.frames is not None:
            options["frames"] = (
                _or_identity(self.frames.predecessor),
                _or_identity(self.frames.successor),
                _or_identity(self.frames.reference),
            )
        return options


def _data(
    place: JointPlace, joint: Joint | None, path: tuple[str, ...], faults: Faults
) -> dict[str, Any]:
    """Return limits and friction; each of their keys is looked at, whatever the others are.

    Without a joint the number of entries is not checked.
    """
    kinds = (("limits", place.limits, JointLimits), ("friction", place.friction, JointFriction))
    found: dict[str, Any] = {}
    for name, table, kind in kinds:
        if table is None:
            continue
        fitting = {}
        for key, value in attrs.asdict(table, filter=lambda _, value: value is not None).items():
            with faults.at(*path, name):
                alone = kind(**{key: value})
                if joint is not None:
                    alone.check_fits(joint)
                fitting[key] = value
        with faults.at(*path, name):  # whether they go together
            found[name] = kind(**fitting)
    return found if joint is not None else {}


def _or_identity(pose: FloatArray | None) -> FloatArray:
    return np.eye(4) if pose is None else pose


def read_joint(
    name: str, table: Any, types: Mapping[str, type[Joint]], faults: Faults
) -> tuple[Joint | PrescribedJoint, JointPlace | None, dict[str, Any]]:
    """Return a joint, its place, and its limits and friction as arguments of `add_joint`.

    A joint with a motion is as `Joint.prescribe` makes it. None in place of its place if that is
    at fault. A fixed joint stands in for a joint that is at fault, so that its bodies and frames
    are looked at all the same.
    """
    path = ("joints", name)
    joint: Joint = FixedJoint("stand-in")
    if not isinstance(table, dict):
        faults.add(path, f"must be a table, got {table!r}.")
        return joint, None, {}
    place_keys = [field.name for field in attrs.fields(JointPlace)]
    fields = {key: value for key, value in table.items() if key not in place_keys}
    place, made, data = None, None, {}
    with faults.at(*path):
        joint = FixedJoint(name)
    with faults.at(*path):
        place = converter().structure(
            {key: value for key, value in table.items() if key in place_keys}, JointPlace
        )
    with faults.at(*path):
        if isinstance(table.get("type"), str):  # else: reported as a fault of the place
            made = _made(table["type"], name, fields, place_keys, types, path=path, faults=faults)
    if place is not None:
        data = _data(place, made, path, faults)
        if made is not None and place.motion is not None:
            with faults.at(*path, "motion"):
                return made.prescribe(of_time(place.motion)), place, data
    return joint if made is None else made, place, data


def read_members(
    tables: Any, types: Mapping[str, type[Joint]], path: tuple[str, ...], faults: Faults
) -> tuple[Joint, ...]:
    """Return the members of a composite joint; fixed joints stand in for those at fault."""
    if not (isinstance(tables, list) and tables and all(isinstance(each, dict) for each in tables)):
        faults.add((*path, "members"), f"must be an array of tables of joints, got {tables!r}.")
        return (FixedJoint("stand-in"),)
    found: list[Joint] = []
    for number, table in enumerate(tables):
        here = (*path, "members")
        made: Joint = FixedJoint(f"stand-in {number}")
        with faults.at(*here):
            fields = dict(table)
            kind, name = fields.pop("type", None), fields.pop("name", None)
            if not isinstance(kind, str) or not isinstance(name, str):
                faults.add(here, f"each must have type and name, got {table!r}.")
            else:
                made = _made(kind, name, fields, [], types, path=here, faults=faults) or made
        found.append(made)
    return tuple(found)


Kind = TypeVar("Kind")


def known_class(
    name: str,
    types: Mapping[str, type[Kind]],
    base: Any,
    what: str,
    path: tuple[str, ...],
    faults: Faults,
) -> type[Kind] | None:
    """Return the class, one of `base`, that a file calls `name`; None, and a fault, for none.

    `types` are those of the caller; classes of mbkit and of plugins need not be among them.
    """
    if name in types:
        return types[name]
    found: type[Kind] | None = registry().find(what, name)  # loads the plugins there are
    if found is not None:
        return found
    # A file must not make Python import modules: only those that the user has imported count.
    module, colon, attribute = name.partition(":")
    kind = getattr(sys.modules.get(module), attribute, None) if colon else None
    if isinstance(kind, type) and issubclass(kind, base):
        return kind
    problem = f"{name!r} is no known type of {what}"
    if colon:
        remedy = (
            f"import its module first, or pass {what}_types={{{name!r}: Class}} to load_model, or "
            "install the plugin that has it."
        )
        faults.add((*path, "type"), f"{problem}; {remedy}")
    else:
        known = {**registry().all(what), **types}
        faults.add((*path, "type"), f"{problem}; ", functools.partial(_remedy, name, known))
    return None


def _remedy(name: str, known: Iterable[str]) -> str:
    text = suggestion(name, known)
    is_guess = text.startswith("did you mean")
    where = "Those of a project are known in its folder, and in Python after mbkit.load_project."
    return text if is_guess else f"{text} {where}"


def drop_unknown(
    kind: type[Any], what: str, fields: dict[str, Any], others: list[str], path: tuple[str, ...],
    faults: Faults,
) -> bool:  # fmt: skip
    """Drop and note keys that a class has not, nor the table; return whether there are none."""
    lost = fields.pop("not_written", None)
    if lost is not None:
        faults.add(
            (*path, "not_written"),
            f"this {what} of class {kind.__name__} is not complete in the file: {lost} could not "
            "be written; build the mechanism in Python.",
        )
    known = [field.name for field in attrs.fields(kind) if field.init] if attrs.has(kind) else []
    known = [*(key for key in known if key != "name"), *others]
    unknown = [key for key in fields if key not in known]
    for key in unknown:
        faults.add_unknown((*path, key), "unknown key", key, known)
        del fields[key]
    return lost is None and not unknown


def _made(
    type_name: str, name: str, fields: dict[str, Any], others: list[str],
    types: Mapping[str, type[Joint]], *, path: tuple[str, ...], faults: Faults,
) -> Joint | None:  # fmt: skip
    """Return the joint of a class that a file names, None if it is at fault."""
    kind = known_class(type_name, types, Joint, "joint", path, faults)
    if kind is None:
        return None
    if issubclass(kind, CompositeJoint):
        fields["members"] = read_members(fields.get("members"), types, path, faults)
    made: Joint | None = None
    with faults.of_plugin(registry().owner("joint", kind)), faults.at(*path):
        drop_unknown(kind, "joint", fields, others, path, faults)
        if issubclass(kind, CompositeJoint):
            made = kind(name=name, **fields)
        elif attrs.has(kind):
            made = cast("Joint", converter().structure({"name": name, **fields}, kind))
        else:
            made = kind(name)
    return made
