"""The division of a mechanism's bodies and joints into those of a system."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, final

import attrs

from mbkit.coordinates.cut_bodies import Cut, cut_bodies, split_name
from mbkit.forces import Force, UniformField
from mbkit.model import check_inertias
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.blueprint import InertiaTransfer, SplitBody

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts
    from mbkit.topology import Topology


class DivisionRule(Protocol):
    """Rule by which the bodies and joints of a system are made of those of a mechanism."""

    @property
    def remedy(self) -> str:
        """How a joint gets coordinates, as the end of a sentence."""
        ...

    def divide(self, whole: Parts) -> Division:
        """Return the bodies and joints of the system."""
        ...

    def acting(self, whole: Parts) -> tuple[str, ...] | None:
        """Return the joints that a force acts on which names none; None for all of the tree."""
        ...

    def reference(self, whole: Parts) -> Mapping[str, FloatArray]:
        """Return the reference positions of joints, of those for which they are not neutral."""
        ...

    def check(self, division: Division, topology: Topology) -> None:
        """Raise InertiaError unless everything that moves has inertia."""
        ...


@final
@attrs.frozen(eq=False)
class Division:
    """Bodies and joints of a system, made of those of a mechanism."""

    rule: DivisionRule  # the rule that made it; it also makes the division for other parameters
    whole: Parts  # bodies and joints of the mechanism
    parts: Parts  # bodies and joints of the system
    split_bodies: Mapping[str, SplitBody]  # parts of bodies that are cut, by name
    # names of the added free joints between the world and the bodies
    free_joints: tuple[str, ...] = ()
    # moments of inertia that bodies have for others, by the joint between
    inertia_transfers: Mapping[str, InertiaTransfer] = MappingProxyType({})


@final
@attrs.frozen(eq=False)
class CutBodies:
    """The bodies of a mechanism with split bodies: see `cut_bodies`."""

    cuts: Mapping[str, Cut] = attrs.field(factory=dict)

    @property
    def remedy(self) -> str:
        """How a joint gets coordinates, as the end of a sentence."""
        return "cut the loop elsewhere by RelativeCoordinates(loop_joints=...)"

    def divide(self, whole: Parts) -> Division:
        """Return the bodies and joints of the system: the second parts beside the first."""
        split_bodies = {split_name(name): SplitBody(name, name) for name in self.cuts}
        cut = cut_bodies(whole, self.cuts)
        parts = attrs.evolve(cut, forces=on_split_bodies(cut.forces, split_bodies))
        return Division(self, whole, parts, MappingProxyType(split_bodies))

    def acting(self, whole: Parts) -> None:
        """Return None: all joints of the tree."""

    def reference(self, whole: Parts) -> Mapping[str, FloatArray]:
        """Return none: all joints are neutral."""
        return {}

    def check(self, division: Division, topology: Topology) -> None:
        """Raise InertiaError unless every motion at the end of a branch has inertia."""
        check_inertias(division.parts, topology)


def on_split_bodies(
    forces: Mapping[str, Force], split_bodies: Mapping[str, SplitBody]
) -> dict[str, Force]:
    """Return forces with those on the masses of bodies acting on all parts of split bodies.

    Other forces do not change: they act on the first part, to which the second is welded.
    """
    found = dict(forces)
    for name, force in forces.items():
        if isinstance(force, UniformField) and force.bodies:
            further = [part for part, of in split_bodies.items() if of.origin in force.bodies]
            if further:
                found[name] = attrs.evolve(force, bodies=(*force.bodies, *further))
    return found
