"""Parts of a mechanism at one moment, of which a system is made."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, final

import attrs

from mbkit.constraints import Constraint
from mbkit.forces import Force
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
    """A frozen picture of a mechanism; what is added to the mechanism later is not in it.

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
