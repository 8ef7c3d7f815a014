"""Names in a mechanism: seen, not copied, for each thing that is added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

from mbkit.parts.body import Body
from mbkit.parts.connection import Connection
from mbkit.topology import WORLD

__all__ = ["BodiesAndWorld", "JointSizes"]


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
