"""Contents of a mechanism by name: bodies, joints in their places, forces, constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, final

from numpy.typing import ArrayLike

from mbkit.constraints import Constraint
from mbkit.errors import DuplicateNameError, UsageError, check_name
from mbkit.forces import Force
from mbkit.parts.body import Body
from mbkit.parts.connection import Connection
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, shown
from mbkit.topology import WORLD, BodyGraph


@final
class JointSizes(Mapping[str, tuple[int, int]]):
    """Numbers of positions and of velocities of a mechanism's joints, by name."""

    def __init__(self, joints: Mapping[str, Connection]) -> None:
        self._joints = joints

    def __getitem__(self, name: str) -> tuple[int, int]:
        joint = self._joints[name].joint
        return joint.num_positions, joint.num_velocities

    def __iter__(self) -> Iterator[str]:
        return iter(self._joints)

    def __len__(self) -> int:
        return len(self._joints)


@final
class BodiesAndWorld(Mapping[str, Any]):
    """Bodies of a mechanism by name, the world first."""

    def __init__(self, bodies: Mapping[str, Body]) -> None:
        self._bodies = bodies

    def __getitem__(self, name: str) -> Body | None:
        return None if name == WORLD else self._bodies[name]

    def __iter__(self) -> Iterator[str]:
        yield WORLD
        yield from self._bodies

    def __len__(self) -> int:
        return 1 + len(self._bodies)


class Contents:
    """Names, bodies, joints, forces and constraints; see `Mechanism`, which adds to them."""

    def __init__(self, name: str, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        check_name("Mechanism", name)
        self._name = name
        self._gravity = frozen_array(gravity)
        check_array(self._gravity, (3,), f"Mechanism {name!r}: gravity")
        self._world = Body(WORLD)
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Connection] = {}
        self._forces: dict[str, Force] = {}
        self._constraints: dict[str, Constraint] = {}
        self._graph = BodyGraph()

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._name

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of free fall in the world, shape (3,). [m/s^2]."""
        return self._gravity

    @property
    def world(self) -> Body:
        """The inertial frame, which is body 0."""
        return self._world

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies by name, in the order of adding, without the world."""
        return MappingProxyType(self._bodies)

    @property
    def joints(self) -> Mapping[str, Connection]:
        """Joints in their places by name, in the order of adding."""
        return MappingProxyType(self._joints)

    @property
    def forces(self) -> Mapping[str, Force]:
        """Forces by name, in the order of adding."""
        return MappingProxyType(self._forces)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """Constraints by name, in the order of adding, without the joints that close loops."""
        return MappingProxyType(self._constraints)

    def _body(self, name: str) -> Body:
        return self._world if name == WORLD else self._bodies[name]

    def _name_of(self, body: Body | str) -> str:
        """Return the name of a body, which must be the mechanism's own if there is one such."""
        if isinstance(body, str):
            return body
        if not isinstance(body, Body):
            raise UsageError(f"A joint connects bodies or names of bodies, got {body!r}.")
        own = self._world if body.name == WORLD else self._bodies.get(body.name, body)
        if own != body:
            raise UsageError(
                f"Body {body.name!r} is not the one that was added to mechanism {self._name!r}; "
                "use the body that add_body returned, or its name."
            )
        return body.name

    def _check_part(self, part: Any, check_names: Any, **taken: Collection[str]) -> None:
        """Raise unless the name of a force or constraint is new, and what it names is there."""
        what = f"mechanism {self._name!r}"
        for kind, names in taken.items():
            if part.name in names:
                raise DuplicateNameError(
                    f"There is a {kind} {part.name!r} in {what} already; choose another name."
                )
        check_names(part, what, JointSizes(self._joints), BodiesAndWorld(self._bodies))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same name, gravity and contents, in the same order."""
        if not isinstance(other, Contents):
            return NotImplemented
        return (
            self._name == other._name
            and shown(self._gravity) == shown(other._gravity)
            and list(self._bodies.values()) == list(other._bodies.values())
            and list(self._joints.values()) == list(other._joints.values())
            and list(self._forces.values()) == list(other._forces.values())
            and list(self._constraints.values()) == list(other._constraints.values())
        )

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __repr__(self) -> str:
        bodies, joints = len(self._bodies), len(self._joints)
        return (
            f"<Mechanism {self._name!r}: {bodies} {'body' if bodies == 1 else 'bodies'}, "
            f"{joints} joint{'' if joints == 1 else 's'}>"
        )
