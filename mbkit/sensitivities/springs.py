"""Springs between points of bodies, which the adjoint of a tree takes along as it does bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mbkit.forces.built_in import SpringDamper
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats

__all__ = ["by_springs", "called_forces", "spring_parameters"]

#: Where parameters are in the numbers of a spring.
_ENTRIES = {
    "stiffness": slice(0, 1), "rest_length": slice(1, 2), "damping": slice(2, 3),
    "point_a": slice(3, 6), "point_b": slice(6, 9),
}  # fmt: skip


def called_forces(system: System) -> System | None:
    """Return the system with all other forces, if there are some."""
    forces = system.arrays.forces
    if len(forces.springs) == len(forces.forces):
        return None
    names = [forces.names[k] for k in forces.springs]
    return system.without_forces(names) if names else system


def spring_parameters(system: System, names: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return the number of the spring, and the field, of those names that are of one."""
    forces = system.arrays.forces
    rows = {
        f"forces.{forces.names[k]}": row
        for row, k in enumerate(forces.springs)
        if type(forces.forces[k]) is SpringDamper
    }
    found = {}
    for name in names:
        force, _, field = name.rpartition(".")
        if force in rows and field in _ENTRIES:
            found[name] = rows[force], field
    return found


def by_springs(
    system: System, sums: Floats, names: Mapping[str, tuple[int, str]]
) -> dict[str, Any]:
    """Return derivatives (k,) by name, of those by the numbers of the springs, (springs, 9).

    Points of these are in the axes of the row of their body.
    """
    arrays, found = system.arrays, {}
    for name, (row, field) in names.items():
        part = np.array(sums[row, _ENTRIES[field]])
        if field in ("point_a", "point_b"):
            forces = arrays.forces
            site = forces.sites[forces.bodies[forces.springs[row]][int(field == "point_b")]]
            part = arrays.frames[site]["R"].T @ part
        found[name] = part
    return found
