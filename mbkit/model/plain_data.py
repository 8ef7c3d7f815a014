"""A mechanism as plain data, and as the text of a model file."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit import constraints, forces
from mbkit.constraints import Constraint
from mbkit.forces import Force
from mbkit.joints import JOINT_TYPES, Joint, LocalCoordinates, Orientation
from mbkit.model.toml_text import render
from mbkit.parts import BODY_TYPES
from mbkit.parts.body import BODY_FIELDS, Body, RigidBody
from mbkit.parts.connection import Connection, joint_frames
from mbkit.parts.joint_data import JointFriction, JointLimits
from mbkit.shapes import SHAPE_TYPES, MeshShape, Shape
from mbkit.spatial import FloatArray, SpatialInertia

if TYPE_CHECKING:
    from mbkit.model.mechanism import Mechanism
    from mbkit.parts.parts import Parts

#: Version of the format, the value of the key ``mbkit_model``.
FORMAT_VERSION = 1


def to_document(mechanism: Mechanism | Parts) -> dict[str, Any]:
    """Return the content of a model file (``docs/model-file.md``) as nested dictionaries and lists.

    All numbers are the mechanism's own: reading them gives an equal mechanism. Data of a user's
    joint, force or constraint that a file cannot hold is listed under the key ``not_written``.

    Examples
    --------
    >>> import mbkit as mb
    >>> to_document(mb.Mechanism("empty"))
    {'mbkit_model': 1, 'name': 'empty', 'gravity': [0.0, 0.0, -9.81]}
    """
    document: dict[str, Any] = {
        "mbkit_model": FORMAT_VERSION,
        "name": mechanism.name,
        "gravity": mechanism.gravity.tolist(),
    }
    if mechanism.world.shapes:
        document["world"] = {"shapes": [_shape(shape) for shape in mechanism.world.shapes]}
    if mechanism.bodies:
        document["bodies"] = {name: _body(body) for name, body in mechanism.bodies.items()}
    if mechanism.joints:
        document["joints"] = {
            name: _connection(edge, mechanism) for name, edge in mechanism.joints.items()
        }
    if mechanism.forces:
        document["forces"] = {
            name: _table_of(force, type_name(force)) for name, force in mechanism.forces.items()
        }
    if mechanism.constraints:
        document["constraints"] = {
            name: _table_of(constraint, type_name(constraint))
            for name, constraint in mechanism.constraints.items()
        }
    return document


def to_toml(mechanism: Mechanism | Parts) -> str:
    """Return a mechanism as the text of a model file; the same mechanism gives the same text.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("one")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(2.5, radius=1.0)))
    >>> print(to_toml(mech))
    mbkit_model = 1
    name = "one"
    gravity = [0.0, 0.0, -9.81]
    <BLANKLINE>
    [bodies.ball]
    mass = 2.5
    com = [0.0, 0.0, 0.0]
    moment_about_com = [1.0, 1.0, 1.0]
    <BLANKLINE>
    """
    return render(to_document(mechanism))


def _body(body: Body) -> dict[str, Any]:
    table: dict[str, Any] = {}
    if not isinstance(body, RigidBody):
        every = _table_of(body, type_name(body))
        table = {key: value for key, value in every.items() if key not in BODY_FIELDS}
        if "not_written" in table:
            lost = [key for key in table["not_written"] if key not in BODY_FIELDS]
            table["not_written"] = lost
            if not lost:
                del table["not_written"]
    elif body.inertia != SpatialInertia.zero():
        table["mass"] = body.inertia.mass
        table["com"] = body.inertia.com.tolist()
        table["moment_about_com"] = _moment(body.inertia.moment_about_com)
        if body.inertia.unphysical:
            table["unphysical"] = True
    if not np.array_equal(body.pose, np.eye(4)):
        table["pose"] = _pose(body.pose)
    if body.frames:
        table["frames"] = {name: _pose(pose) for name, pose in body.frames.items()}
    if body.color is not None:
        table["color"] = list(body.color)
    if isinstance(body, RigidBody) and body.shapes:
        table["shapes"] = [_shape(shape) for shape in body.shapes]
    return table


def _shape(shape: Shape) -> dict[str, Any]:
    """Return the table of a shape, those of users as their meshes."""
    if type(shape) not in _SHAPE_NAMES:
        vertices, faces = shape.mesh()
        shape = MeshShape(vertices, faces, pose=shape.pose, color=shape.color)
    table: dict[str, Any] = {"type": _SHAPE_NAMES[type(shape)]}
    fields = attrs.fields(type(shape))
    for field in sorted(fields, key=lambda field: field.name in ("pose", "color")):
        value = getattr(shape, field.name)
        if not np.array_equal(value, field.default):
            table[field.name] = _pose(value) if field.name == "pose" else _plain(value)
    return table


def _moment(moment: FloatArray) -> list[Any]:
    diagonal = moment.diagonal()
    is_diagonal = np.array_equal(moment, np.diag(diagonal))
    rows: list[Any] = (diagonal if is_diagonal else moment).tolist()
    return rows


def _pose(C: FloatArray) -> dict[str, Any]:
    table = {}
    if C[:3, 3].any():
        table["position"] = C[:3, 3].tolist()
    if not np.array_equal(C[:3, :3], np.eye(3)):
        table["rotation"] = C[:3, :3].tolist()
    return table


def _connection(edge: Connection, mechanism: Mechanism | Parts) -> dict[str, Any]:
    table: dict[str, Any] = {
        "type": type_name(edge.joint),
        "predecessor": edge.predecessor,
        "successor": edge.successor,
        **_fields(edge.joint),
    }
    # Without frames a reader takes the joint's axes as given in the world, and computes just this.
    bodies = mechanism.bodies
    ends = (bodies.get(name, mechanism.world) for name in (edge.predecessor, edge.successor))
    own = (edge.S_pred, edge.S_succ, edge.T_reference)
    if not all(map(np.array_equal, joint_frames(edge.joint, *ends), own)):
        names = ("predecessor", "successor", "reference")
        table["frames"] = {name: _pose(C) for name, C in zip(names, own, strict=True)}
        if not table["frames"]["reference"]:  # as most have it
            del table["frames"]["reference"]
    if edge.motion is not None and edge.motion.written is not None:
        table["motion"] = edge.motion.written
    elif edge.motion is not None:
        table["not_written"] = sorted([*table.get("not_written", ()), "motion"])
    for key in ("limits", "friction"):
        if data := _joint_data(getattr(edge, key)):
            table[key] = data
    return table


def _joint_data(data: JointLimits | JointFriction) -> dict[str, Any]:
    """Return the entries that differ from the defaults, which mean that there is none."""
    values = {field.name: getattr(data, field.name) for field in attrs.fields(type(data))}
    empty = type(data)()
    return {
        key: value.tolist()
        for key, value in values.items()
        if not np.array_equal(value, getattr(empty, key))
    }


def _fields(joint: Body | Joint | Force | Constraint) -> dict[str, Any]:
    kind = type(joint)
    if attrs.has(kind):
        values = {
            field.name: getattr(joint, field.name)
            for field in attrs.fields(kind)
            if field.name != "name" and not _is_default_option(field, getattr(joint, field.name))
        }
        plain = {key: _plain(value) for key, value in values.items()}
        lost = [key for key, value in plain.items() if value is None]
        written = {key: value for key, value in plain.items() if value is not None}
    else:
        # The constructor's arguments of a plain class are not known: only the name goes to a file.
        written = {}
        lost = [
            key
            for key in vars(joint)
            if key != "name" and not isinstance(getattr(kind, key, None), functools.cached_property)
        ]
    return {**written, "not_written": sorted(lost)} if lost else written


def _is_default_option(field: Any, value: Any) -> bool:
    """Return whether a field may be left out: TOML has no None, default options need no entry."""
    return (field.default is None and value is None) or (
        isinstance(field.default, str) and isinstance(value, str) and value == field.default
    )


def _table_of(made: Body | Force | Constraint, type_name: str) -> dict[str, Any]:
    """Return the fields that differ from the defaults; poses as tables."""
    table = {"type": type_name, **_fields(made)}
    kind = type(made)
    for field in attrs.fields(kind) if attrs.has(kind) else ():
        value = getattr(made, field.name)
        if np.array_equal(value, field.default):
            table.pop(field.name, None)
        elif np.shape(value) == (4, 4):
            table[field.name] = _pose(value)
    return table


def can_be_written(force: Force) -> bool:
    """Return whether a file can hold all of a force, and name its class."""
    local = "<locals>" in type_name(force)
    return not local and "not_written" not in _fields(force)


def _chosen(value: Any) -> Any:
    """Return the name of an object without numbers, or a table with its options."""
    options = {key: _plain(each) for key, each in attrs.asdict(value).items()}
    return {"type": value.name, **options} if options else value.name


def _plain(value: Any) -> Any:
    """Return a value as TOML can hold it, None if it cannot."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Joint):  # a member of a composite joint
        table = {"type": type_name(value), "name": value.name, **_fields(value)}
        return None if "not_written" in table else table
    if isinstance(value, Shape):
        return _shape(value)
    if isinstance(value, Orientation | LocalCoordinates):
        return _chosen(value)
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return None if any(item is None for item in items) else items
    return value if isinstance(value, (bool, int, float, str)) else None


_SHAPE_NAMES: dict[type, str] = {kind: name for name, kind in SHAPE_TYPES.items()}


def _own_types(part: Body | Joint | Force | Constraint) -> Mapping[str, type]:
    """Return the classes of mbkit by name that may be a part's; those of others stay away."""
    if isinstance(part, Joint):
        return JOINT_TYPES
    if isinstance(part, Force):
        return forces.FORCE_TYPES
    return constraints.CONSTRAINT_TYPES if isinstance(part, Constraint) else BODY_TYPES


def type_name(part: Body | Joint | Force | Constraint) -> str:
    """Return how model files call the class of a part; ``module:Class`` for those of users.

    Examples
    --------
    >>> import mbkit as mb
    >>> type_name(mb.FreeJoint("base"))
    'free'
    >>> type_name(mb.JointDamper("oil", "axle", damping=0.1))
    'joint_damper'
    """
    kind = type(part)
    names = (name for name, own in _own_types(part).items() if own is kind)
    return next(names, f"{kind.__module__}:{kind.__qualname__}")
