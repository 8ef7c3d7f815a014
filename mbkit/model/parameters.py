"""The numbers of a mechanism by name: to list them, and to put others in their places."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, cast

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.constraints import Constraint
from mbkit.errors import MbkitError, NameUnknownError, ParameterError, check_kind, suggestion
from mbkit.forces import Force
from mbkit.given_values import is_whole
from mbkit.joints import CompositeJoint, Joint
from mbkit.parts.body import BODY_FIELDS, Body, RigidBody, check_body, with_inertia
from mbkit.parts.parts import Parts
from mbkit.spatial.arrays import check_array, frozen_array
from mbkit.spatial.frames import check_pose

_INERTIA = ("mass", "com", "moment_about_com")
_PLACES = ("S_pred", "S_succ")


def parameters(parts: Parts) -> dict[str, Any]:
    """Return the numbers of a mechanism's parts that can be changed, by name.

    They are ``gravity``; ``bodies.NAME.mass``, ``.com``, ``.moment_about_com``, or the dimensions
    of a body that computes these, such as ``bodies.NAME.length``;
    ``joints.NAME.S_pred``, ``.S_succ`` and the numbers that joints of this kind have, such as
    ``.axis`` and ``.pitch``, of a composite joint ``.MEMBER.axis``; ``forces.NAME`` with those of
    the force, such as ``.stiffness``; ``constraints.NAME`` with those of the constraint, such as
    ``.length``.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, ball)
    >>> list(mech.assemble().parameters)[:2]
    ['gravity', 'bodies.ball.mass']
    """
    found: dict[str, Any] = {"gravity": parts.gravity}
    for name, body in parts.bodies.items():
        for field, value in _numbers_of_body(body).items():
            found[f"bodies.{name}.{field}"] = value
    for name, edge in parts.joints.items():
        for field, value in _numbers_of_joint(edge.joint).items():
            found[f"joints.{name}.{field}"] = value
        for field in _PLACES:
            found[f"joints.{name}.{field}"] = getattr(edge, field)
    for name, force in parts.forces.items():
        for field in _fields(force):
            found[f"forces.{name}.{field}"] = getattr(force, field)
    for name, constraint in parts.constraints.items():
        for field in _fields(constraint):
            found[f"constraints.{name}.{field}"] = getattr(constraint, field)
    return found


def _numbers_of_body(body: Body) -> dict[str, Any]:
    """Return the numbers of the inertia where it is given, else the dimensions it follows from."""
    if isinstance(body, RigidBody):
        return {field: getattr(body.inertia, field) for field in _INERTIA}
    return {name: getattr(body, name) for name in _fields(body) if name not in BODY_FIELDS}


def _changed_body(body: Body, fields: dict[str, Any]) -> Body:
    if isinstance(body, RigidBody):
        return with_inertia(body, attrs.evolve(body.inertia, **fields))
    made: Body = attrs.evolve(body, **fields)
    check_body(made)
    return made


def _numbers_of_joint(joint: Joint) -> dict[str, Any]:
    """Return the numbers of a joint by name, those of the members of a composite one as well."""
    if not isinstance(joint, CompositeJoint):
        return {field: getattr(joint, field) for field in _fields(joint)}
    return {
        f"{member.name}.{field}": value
        for member in joint.members
        for field, value in _numbers_of_joint(member).items()
    }


def _fields(made: Body | Joint | Force | Constraint) -> tuple[str, ...]:
    """Return the names of the numbers that something was made with."""
    kind: Any = type(made)
    if not attrs.has(kind):
        return ()
    return tuple(
        field.name
        for field in attrs.fields(kind)
        if field.init and _is_number(getattr(made, field.name))
    )


def _is_number(value: Any) -> bool:
    """Whether a value is a number or an array of some: no switch, no table that is not there."""
    array = np.asarray(value)
    return is_whole(value) or (array.dtype.kind == "f" and array.size > 0)


def unknown_parameter(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about a parameter that a system does not have.

    A name of one word may be of the table [parameters] of the model file, whose numbers the
    mechanism is made of: the system does not know them any more.

    Examples
    --------
    >>> unknown_parameter("bodies.rod.mas", ["gravity", "bodies.rod.mass"])
    "did you mean 'bodies.rod.mass'?"
    """
    told = suggestion(name, known)
    if not (isinstance(name, str) and name.isidentifier()):
        return told
    return (
        f"{told} Parameters of a model file are given when it is read: "
        f"mb.load_model(path, parameters={{{name!r}: ...}})."
    )


def changed(parts: Parts, values: Mapping[str, ArrayLike]) -> Parts:
    """Return parts with other numbers; the objects that have them are made anew, and check them.

    By the names of `parameters`. NameUnknownError if there is no such parameter, ParameterError,
    with the reason, if the object it belongs to refuses the value.
    """
    check_kind("with_parameters: values", values, Mapping, "a mapping of names to values")
    bodies, joints, forces = dict(parts.bodies), dict(parts.joints), dict(parts.forces)
    constraints = dict(parts.constraints)
    gravity = parts.gravity
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for path, value in values.items():
        kind, name, field = owner_of(parts, path)
        if value is None:
            raise ParameterError(
                f"{path}: must be real numbers, got None; leave it out to keep what it is."
            )
        groups.setdefault((kind, name), {})[field] = value
    for (kind, name), fields in groups.items():
        try:
            if kind == "bodies":
                bodies[name] = _changed_body(bodies[name], fields)
            elif kind == "joints":
                joints[name] = _changed_joint(joints[name], fields)
            elif kind == "forces":
                forces[name] = attrs.evolve(cast("Any", forces[name]), **fields)
            elif kind == "constraints":
                constraints[name] = attrs.evolve(cast("Any", constraints[name]), **fields)
            else:
                gravity = frozen_array(fields["gravity"])
                check_array(gravity, (3,), "gravity")
        except (MbkitError, TypeError, ValueError) as error:
            paths = " and ".join(f"{kind}.{name}.{field}".strip(".") for field in fields)
            raise ParameterError(f"{paths if kind else 'gravity'}: {error}") from error
    return attrs.evolve(
        parts,
        gravity=gravity,
        bodies=bodies,
        joints=joints,
        forces=forces,
        constraints=constraints,
    )


def change_no_frames(paths: Iterable[str]) -> bool:
    """Return whether parameters are masses, moments, gravity and numbers of forces alone."""
    for path in paths:
        inertia = path.startswith("bodies.") and path.endswith((".mass", ".moment_about_com"))
        if not (inertia or path == "gravity" or path.startswith("forces.")):
            return False
    return True


def owner_of(parts: Parts, path: str) -> tuple[str, str, str]:
    """Return the kind, name and field of a path; the field of a member has the member's name."""
    owner, _, field = str(path).rpartition(".")
    kind, _, name = owner.partition(".")
    while kind == "joints" and name and name not in parts.joints:
        name, _, member = name.rpartition(".")
        field = f"{member}.{field}"
    if path == "gravity" or field in _fields_of(parts, kind, name):
        return kind, name, field
    known = parameters(parts)
    raise NameUnknownError(f"There is no parameter '{path}'; {unknown_parameter(path, known)}")


def _fields_of(parts: Parts, kind: str, name: str) -> Iterable[str]:
    """Return the names of the numbers of a body, a joint, a force or a constraint."""
    if kind == "bodies" and name in parts.bodies:
        return _numbers_of_body(parts.bodies[name])
    if kind == "joints" and name in parts.joints:
        return (*_numbers_of_joint(parts.joints[name].joint), *_PLACES)
    if kind == "forces" and name in parts.forces:
        return _fields(parts.forces[name])
    if kind == "constraints" and name in parts.constraints:
        return _fields(parts.constraints[name])
    return ()


def _evolved(joint: Any, fields: dict[str, Any]) -> Any:
    """Return a joint with other numbers, by their names in `_numbers_of_joint`."""
    if not isinstance(joint, CompositeJoint):
        return attrs.evolve(joint, **fields)
    members = []
    for member in joint.members:
        start = f"{member.name}."
        own = {
            name.removeprefix(start): value
            for name, value in fields.items()
            if name.startswith(start)
        }
        members.append(_evolved(member, own) if own else member)
    made = copy.copy(joint)
    object.__setattr__(made, "members", tuple(members))
    return made


def _changed_joint(edge: Any, fields: dict[str, Any]) -> Any:
    own = {name: value for name, value in fields.items() if name not in _PLACES}
    places = {name: frozen_array(fields[name]) for name in _PLACES if name in fields}
    for name, pose in places.items():
        check_pose(pose, name)
    joint = _evolved(edge.joint, own) if own else edge.joint
    sizes = (edge.joint.num_positions, edge.joint.num_velocities)
    if (joint.num_positions, joint.num_velocities) != sizes:
        raise ParameterError(
            f"with this value the joint has {joint.num_positions} positions and "
            f"{joint.num_velocities} velocities, and the system was made for {sizes[0]} and "
            f"{sizes[1]}; assemble anew"
        )
    return attrs.evolve(edge, joint=joint, **places)
