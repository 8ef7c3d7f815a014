"""The forces of a system for several samples at once, in the lanes of registers."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.systems.memory.forces import ForceArrays
from mbkit.systems.memory.in_lanes.functions import EVALUATION, is_for_lanes
from mbkit.systems.memory.workspace import spring_rows

if TYPE_CHECKING:
    from mbkit.systems.memory.arrays import SystemArrays
    from mbkit.systems.memory.in_lanes.workspace import LanesModel

__all__ = ["LanesForces", "derivatives_have_lanes", "forces_have_lanes", "potentials_have_lanes"]

#: Forms of functions of forces, with lanes.
_FORCE = "sitpppp"
_POTENTIAL = "sitpp"

#: Most entries of the derivatives of forces, for each spring between bodies.
ENTRIES_OF_A_SPRING = 512


def potentials_have_lanes(forces: ForceArrays) -> bool:
    """Return whether the potentials of all forces are compiled functions for lanes."""
    kernels = [each.kernels() for each in forces.forces]
    return all(
        each is not None and (each.potential is None or is_for_lanes(each.potential))
        for each in kernels
    )


def forces_have_lanes(forces: ForceArrays, rows: Iterable[int]) -> bool:
    """Return whether some of the forces, by their rows, are compiled functions for lanes."""
    kernels = [forces.forces[k].kernels() for k in rows]
    return all(each is not None and is_for_lanes(each.evaluate) for each in kernels)


def derivatives_have_lanes(arrays: SystemArrays) -> bool:
    """Return whether derivatives of the forces are computed in lanes: springs between bodies alone.

    Forces that are called have theirs on dual numbers, which takes nearly all of the time; linear
    ones, in joints whose coordinates add, may act besides. Few springs leave many zeros, which
    lanes write no faster.
    """
    forces, rows = arrays.forces, arrays.bodies[1:]
    between = len(forces.order) - 1
    if forces.num_called or not between:
        return False
    takes_steps = np.repeat(rows["retract"] != 0, rows["num_positions"])
    linear = forces.linear[forces.linear["stiffness"] != 0.0]
    nv, ndx = int(arrays.bodies[0]["num_velocities"]), int(arrays.bodies[0]["ndx"])
    return nv * (nv + ndx) <= ENTRIES_OF_A_SPRING * between and not bool(
        takes_steps[linear["position"]].any()
    )


class LanesForces:
    """The forces of a system, of which some are called, by functions for lanes.

    Attributes
    ----------
    table : ndarray of FORCE
        With those functions in the rows that are called.
    springs : ndarray of SPRING
        Springs between points of bodies.
    force_pass, search : int
        Addresses of functions that call the forces of a run, and that replace the search for one
        that is not finite; 0 of dual numbers, in which nothing runs.
    """

    def __init__(self, model: LanesModel, called: Iterable[int]) -> None:
        from mbkit.kernels.forces.force_pass import force_pass
        from mbkit.kernels.forces.in_lanes import search_alone

        self._model = model
        self.table = model.arrays.forces.table.copy()
        rows = list(called)
        self.let_call(rows)
        self.springs = spring_rows(model.arrays)
        self.force_pass = self.search = 0
        if model.lanes.branches:
            return
        if rows:
            self.force_pass = model.address_of(force_pass.function, EVALUATION)
        self.search = model.address_of(search_alone, EVALUATION)

    def let_call(self, rows: Iterable[int]) -> None:
        """Let the functions of these rows be called, compiled now, or loaded from the cache."""
        from mbkit.kernels.forces import python_force

        for k in rows:
            kernels: Any = self._model.arrays.forces.forces[k].kernels() or python_force
            function = kernels.evaluate.function
            self.table[k]["function"] = self._model.address_of(function, _FORCE)

    @functools.cached_property
    def powers(self) -> int:
        """How many forces there are: all of them are called for lanes from now on."""
        count = len(self.table)
        self.let_call(range(count))
        return count

    @functools.cached_property
    def potentials(self) -> int:
        """How many forces have a potential, which is a function for lanes from now on."""
        kernels: list[Any] = [force.kernels() for force in self._model.arrays.forces.forces]
        having = [(k, each.potential) for k, each in enumerate(kernels) if each.potential]
        for k, potential in having:
            self.table[k]["potential"] = self._model.address_of(potential.function, _POTENTIAL)
        return len(having)
