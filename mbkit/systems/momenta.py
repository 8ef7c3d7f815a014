"""Hamilton's equations in a workspace: its time loops have momenta where v was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels import layout
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import (
    CANONICAL_FORWARD_DYNAMICS,
    GENERALIZED_FORCES,
    MASS_ACTION,
    MOMENTA_IN_WORLD,
)

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.workspace import Workspace

__all__ = ["MomentaInLoops", "momenta_in_world", "velocities_in_world"]


def momenta_in_world(evaluator: Evaluator, q: Any, p: Any) -> Floats:
    """Return the momenta that time loops have for p, (..., nv)."""
    return evaluator.compute(MOMENTA_IN_WORLD, q, p)


def velocities_in_world(evaluator: Evaluator, q: Any, z: Any, on_error: str = "nan") -> Floats:
    """Return the velocities, (..., nv), of momenta that time loops have."""
    from mbkit.kernels.momentum.canonical import IN_WORLD

    none = np.zeros(evaluator.arguments.num_velocities)
    what = CANONICAL_FORWARD_DYNAMICS
    found = evaluator.compute(what, q, z, none, option=IN_WORLD, on_error=on_error)
    return found[..., : none.size].copy()


class MomentaInLoops:
    """Memory for Hamilton's equations in one workspace, and their velocities where asked for.

    Needs a workspace without constraints and without prescribed joints, whose slot it takes.
    """

    def __init__(self, evaluator: Evaluator, workspace: Workspace) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.momentum import time_loops

        nq, nv = evaluator.arguments.num_positions, evaluator.arguments.num_velocities
        self._evaluator = evaluator
        self._q, self._z, self._found = np.zeros(nq), np.zeros(nv), np.zeros(2 * nv)
        self._efforts, self._sum = np.zeros(nv), np.zeros(nv)
        self._powers = np.zeros(layout.NUM_POWERS)
        self._record = np.zeros(1, time_loops.MOMENTA)
        own, space = self._record[0], workspace.record[0]
        own["dynamics"] = evaluator.function(CANONICAL_FORWARD_DYNAMICS)
        own["in_world"] = evaluator.function(MOMENTA_IN_WORLD)
        own["forces"] = evaluator.function(GENERALIZED_FORCES)
        own["rates"] = space["rates"]
        for name, memory in zip(
            ("q", "z", "found", "efforts"),
            (self._q, self._z, self._found, self._efforts),
            strict=True,
        ):
            own[name] = array_address(memory)
        if space["num_forces"] == 0:
            # time loops let the forward dynamics say what is supplied where there are any
            space["num_forces"] = NO_FORCES
            space["efforts"] = array_address(self._sum)
            space["powers"] = array_address(self._powers)
        else:
            own["search"] = space["force_search"]
        space["force_search"] = time_loops.force_search.address
        space["rates"] = time_loops.rates.address
        space["forward_dynamics"] = time_loops.dynamics.address
        space["drive_slot"] = array_address(self._record)

    def of_velocity(self, q: Any, v: Any) -> Floats:
        """Return the momenta of one state."""
        p = self._evaluator.compute(MASS_ACTION, q, v)
        return momenta_in_world(self._evaluator, q, p)

    def velocity(self, q: Any, z: Any) -> Floats:
        """Return the velocity of one state."""
        return velocities_in_world(self._evaluator, q, z, on_error="raise")

    def velocities(self, q: Any, z: Any) -> Floats:
        """Return those of many, (k, nv), not a number where there are none."""
        return velocities_in_world(self._evaluator, q, z)


#: A number of forces that is none, and not the zero by which time loops leave out all of them.
NO_FORCES = -1
