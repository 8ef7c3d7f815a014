"""Entries of joints in the vectors of a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from mbkit.joints import Joint

__all__ = ["Slices"]


class Slices(NamedTuple):
    """Entries of each joint, by name, in positions, velocities and steps of a configuration."""

    positions: dict[str, slice]
    velocities: dict[str, slice]
    steps: dict[str, slice]

    @classmethod
    def of(cls, joints: Mapping[str, Joint]) -> Self:
        """Return those of joints one after another."""
        return cls(
            _in_order({name: joint.num_positions for name, joint in joints.items()}),
            _in_order({name: joint.num_velocities for name, joint in joints.items()}),
            _in_order({name: joint.ndx for name, joint in joints.items()}),
        )

    @property
    def totals(self) -> tuple[int, int, int]:
        """Numbers of positions, of velocities and of entries of a step."""
        nq, nv, ndx = (max((each.stop for each in own.values()), default=0) for own in self)
        return nq, nv, ndx


def _in_order(counts: dict[str, int]) -> dict[str, slice]:
    slices = {}
    start = 0
    for name, count in counts.items():
        slices[name] = slice(start, start + count)
        start += count
    return slices
