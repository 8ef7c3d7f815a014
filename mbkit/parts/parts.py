"""Parts of a mechanism at one moment, of which a system is made."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, final

import attrs
import numpy as np

from mbkit.constraints import Constraint
from mbkit.forces import Force
from mbkit.joints import Joint
from mbkit.joints.defaults.derivatives import share_warnings
from mbkit.parts.body import Body
from mbkit.parts.connection import Connection
from mbkit.shapes import Shape
from mbkit.spatial.arrays import FloatArray


class _Whole(Protocol):
    """A mechanism, as the owner of parts."""

    @property
    def name(self) -> str: ...

    @property
    def gravity(self) -> FloatArray: ...

    @property
    def world(self) -> Body: ...

    @property
    def bodies(self) -> Mapping[str, Body]: ...

    @property
    def joints(self) -> Mapping[str, Connection]: ...

    @property
    def forces(self) -> Mapping[str, Force]: ...

    @property
    def constraints(self) -> Mapping[str, Constraint]: ...


@final
@attrs.frozen(eq=False)
class Parts:
    """A frozen picture of a mechanism; later additions to the mechanism are not in it.

    Attributes
    ----------
    name : str
        Of the mechanism.
    gravity : ndarray, shape (3,)
        In the world. [m/s^2]
    world : Body
        The world.
    bodies : mapping of str to Body
        In the order in which they were added.
    joints : mapping of str to Connection
        Likewise.
    forces : mapping of str to Force
        Likewise.
    constraints : mapping of str to Constraint
        Likewise.
    """

    name: str
    gravity: FloatArray
    world: Body
    bodies: Mapping[str, Body]
    joints: Mapping[str, Connection]
    forces: Mapping[str, Force]
    constraints: Mapping[str, Constraint] = attrs.field(factory=dict)

    @property
    def mass(self) -> float:
        """Mass of all bodies, in kg."""
        return float(sum(body.inertia.mass for body in self.bodies.values()))

    @property
    def shapes(self) -> tuple[tuple[int, Shape], ...]:
        """Shapes, each with the row of its body, in their own colours or those of the bodies."""
        return tuple(
            (index, attrs.evolve(shape, color=body.color) if shape.color is None else shape)
            for index, body in enumerate((self.world, *self.bodies.values()))
            for shape in body.shapes
        )

    def snapshot(self) -> Parts:
        """Return the same parts, with copies of those whose attributes can be set."""
        joints = {name: _snapshot_of(each) for name, each in self.joints.items()}
        forces = {name: snapshot(each) for name, each in self.forces.items()}
        constraints = {name: snapshot(each) for name, each in self.constraints.items()}
        return attrs.evolve(
            self,
            joints=MappingProxyType(joints),
            forces=MappingProxyType(forces),
            constraints=MappingProxyType(constraints),
        )

    @classmethod
    def of(cls, mechanism: _Whole) -> Parts:
        """Return the parts of a mechanism as they are now."""
        return cls(
            name=mechanism.name,
            gravity=mechanism.gravity,
            world=mechanism.world,
            bodies=MappingProxyType(dict(mechanism.bodies)),
            joints=MappingProxyType(dict(mechanism.joints)),
            forces=MappingProxyType(dict(mechanism.forces)),
            constraints=MappingProxyType(dict(mechanism.constraints)),
        )


_Part = TypeVar("_Part", bound=Joint | Force | Constraint)

#: How attributes are set in classes made by ``attrs.frozen``: not at all.
_REFUSED = Parts.__setattr__


#: By the id of an object of a user: a weak reference to the object, and its last copy.
_copies: dict[int, tuple[Any, Any]] = {}


def snapshot(part: _Part) -> _Part:
    """Return a joint, force or constraint that stays as it is when the user's object changes.

    Objects of frozen classes, as all of mbkit, are returned themselves; members of a composite
    joint are copied where they can change. Of other objects it is a shallow copy, with copies of
    arrays: lists and other objects that an attribute holds, such as a log, are those of the user.
    As long as no attribute of the object is set, its copy is the same one, so that systems of one
    mechanism have equal joints.
    """
    if type(part).__setattr__ is not _REFUSED:
        return _copy_of(part)
    members = getattr(part, "members", ()) if isinstance(part, Joint) else ()
    found = tuple(snapshot(member) for member in members)
    if all(new is old for new, old in zip(found, members, strict=True)):
        return part
    composite: Any = part
    changed: _Part = attrs.evolve(composite, members=found)
    return changed


def _copy_of(part: _Part) -> _Part:
    key = id(part)
    reference, known = _copies.get(key, (lambda: None, None))
    if reference() is part and _is_as_it_was(part, known):
        kept: _Part = known
        return kept
    copied = copy.copy(part)
    for name, value in getattr(copied, "__dict__", {}).items():
        if isinstance(value, np.ndarray):
            vars(copied)[name] = value.copy()
    if isinstance(part, Joint) and isinstance(copied, Joint):
        share_warnings(part, copied)
    if hasattr(part, "__dict__"):  # else changes cannot be seen here
        _copies[key] = weakref.ref(part, lambda _: _copies.pop(key, None)), copied
    return copied


def _is_as_it_was(part: Any, copied: Any) -> bool:
    """Return whether no attribute of an object was set since it was copied."""
    now, then = vars(part), vars(copied)
    return all(
        name in then
        and (
            value is then[name]
            or (isinstance(value, np.ndarray) and np.array_equal(value, then[name]))
        )
        for name, value in now.items()
    )


def _snapshot_of(connection: Connection) -> Connection:
    joint, motion = snapshot(connection.joint), connection.motion
    if joint is connection.joint:
        return connection
    moved = None if motion is None else attrs.evolve(motion, joint=joint)
    return attrs.evolve(connection, joint=joint, motion=moved)
