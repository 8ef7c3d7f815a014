"""Forces that the adjoint of a tree takes along, and those that it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mbkit.forces.built_in import Bushing, SpringDamper
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.lanes import forces_have_lanes

__all__ = [
    "by_pair_forces",
    "called_forces",
    "known_forces",
    "moved_bushings",
    "owner_of",
    "pair_force_parameters",
    "other_forces",
    "table_of_bushings",
]

#: Where parameters are in the numbers of a spring.
_ENTRIES = {
    "stiffness": slice(0, 1), "rest_length": slice(1, 2), "damping": slice(2, 3),
    "point_a": slice(3, 6), "point_b": slice(6, 9),
}  # fmt: skip


def other_forces(system: System, called: Iterable[int]) -> System | None:
    """Return the system with the forces that no pass takes along, if there are some.

    `called` are rows of those that are taken along besides springs, bushings and fields.
    """
    forces = system.arrays.forces
    if not forces.forces:
        return None
    fields = forces.order[: forces.num_fields].tolist()
    taken = {*forces.springs, *_bushings(system), *fields, *called}
    if len(taken) == len(forces.forces):
        return None
    names = [forces.names[k] for k in taken]
    return system.without_forces(names) if names else system


def called_forces(system: System) -> list[int]:
    """Return the rows of the forces that a pass takes along by their functions on dual numbers."""
    forces = system.arrays.forces
    if system._exact_forces is None:
        return []
    fields = forces.order[: forces.num_fields].tolist()
    others = {*forces.springs, *_bushings(system), *fields}
    rows = (k for k in range(len(forces.forces)) if k not in others)
    return [k for k in rows if forces_have_lanes(forces, [k])]


def known_forces(system: System) -> set[str]:
    """Return the forces by whose parameters a pass has derivatives, each as "forces.name"."""
    if system._exact_forces is None:
        return set()
    forces = system.arrays.forces
    named = ((k, name) for k, name in enumerate(forces.names) if name in forces.parameters)
    return {f"forces.{name}" for k, name in named if forces_have_lanes(forces, [k])}


def owner_of(name: str) -> str:
    """Return the part of a mechanism whose parameter a name is, "forces.spring"."""
    return name.rpartition(".")[0]


def moved_bushings(system: System, names: Iterable[str]) -> list[int]:
    """Return the rows of the bushings of which some of the parameters are."""
    if system._exact_forces is None:
        return []
    owners, forces = set(map(owner_of, names)), system.arrays.forces.names
    return [k for k in _bushings(system) if f"forces.{forces[k]}" in owners]


def _bushings(system: System) -> list[int]:
    return [k for k, each in enumerate(system.arrays.forces.forces) if type(each) is Bushing]


def table_of_bushings(system: System) -> Floats:
    """Return the bushings as kernels read them, (bushings, 50), frames on rows of the tree."""
    from mbkit.kernels.sensitivities import weighted_bushings as layout

    forces, frames = system.arrays.forces, system.arrays.frames
    which = _bushings(system)
    table = np.zeros((len(which), layout.SIZE))
    for row, k in zip(table, which, strict=True):
        bushing: Any = forces.forces[k]
        row[layout.STIFFNESS : layout.DAMPING] = bushing.stiffness
        row[layout.DAMPING : layout.R_A] = bushing.damping
        ends = (layout.ROW_A, layout.R_A, layout.P_A), (layout.ROW_B, layout.R_B, layout.P_B)
        poses = bushing.frame_a, bushing.frame_b
        for body, C, (own, R, p) in zip(forces.bodies[k][:2], poses, ends, strict=True):
            frame = frames[forces.sites[body]]
            row[own] = frame["row"]
            row[R : R + 9] = (frame["R"] @ C[:3, :3]).ravel()
            row[p : p + 3] = frame["R"] @ C[:3, 3] + frame["p"]
    return table


class Parameter(NamedTuple):
    """A parameter of a spring or of a bushing: the number of that, and the field."""

    is_spring: bool
    row: int
    field: str


def pair_force_parameters(system: System, names: Iterable[str]) -> dict[str, Parameter]:
    """Return those of some parameters that are of springs and bushings."""
    forces, found = system.arrays.forces, {}
    springs = {
        forces.names[k]: row
        for row, k in enumerate(forces.springs)
        if type(forces.forces[k]) is SpringDamper
    }
    bushings = {forces.names[k]: row for row, k in enumerate(_bushings(system))}
    for name in names:
        start, _, field = name.rpartition(".")
        kind, _, force = start.partition(".")
        if kind != "forces":
            continue
        if force in springs and field in _ENTRIES:
            found[name] = Parameter(True, springs[force], field)
        elif force in bushings and field in ("stiffness", "damping"):
            found[name] = Parameter(False, bushings[force], field)
    return found


def by_pair_forces(system: System, sums: Any, names: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return derivatives (k,) by name, from the sums of the adjoint.

    Points of springs are in the axes of the row of their body there.
    """
    from mbkit.kernels.sensitivities import weighted_bushings as layout

    arrays, found = system.arrays, {}
    for name, (is_spring, row, field) in names.items():
        if not is_spring:
            first = layout.BY_STIFFNESS if field == "stiffness" else layout.BY_DAMPING
            found[name] = np.array(sums.bushings[row, first : first + 6])
            continue
        part = np.array(sums.springs[row, _ENTRIES[field]])
        if field in ("point_a", "point_b"):
            forces = arrays.forces
            site = forces.sites[forces.bodies[forces.springs[row]][int(field == "point_b")]]
            part = arrays.frames[site]["R"].T @ part
        found[name] = part
    return found
