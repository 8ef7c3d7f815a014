"""Closed mechanisms whose adjoint takes one pass over the bodies at each stage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np

from mbkit.constraints.built_in import (
    Cam,
    Distance,
    GearRatio,
    PointOnLine,
    PointOnPlane,
    PolynomialCoupling,
    PrescribedPoint,
    PrescribedPose,
)
from mbkit.integrators.step_memory import Record
from mbkit.sensitivities.munthe_kaas.called_constraints import CalledConstraints
from mbkit.solvers import SchurComplement
from mbkit.systems import System
from mbkit.systems.derivatives.dynamics_derivatives import loops_alone
from mbkit.systems.derivatives.inertia_changes import field_of_inertia
from mbkit.systems.memory.forces import ForceArrays
from mbkit.systems.memory.workspace import Workspace

__all__ = ["changes_no_loops", "loops_of", "still_workspace", "takes_one_pass"]


#: Constraints of positions; those that depend on time where they are given by tables.
_OVER_TIME = PrescribedPoint, PrescribedPose
_TAKEN = Distance, PointOnLine, PointOnPlane, GearRatio, PolynomialCoupling, Cam, *_OVER_TIME


def takes_one_pass(system: System) -> bool:
    """Return whether adjoints of accelerations take a pass over the bodies, and no matrices.

    Of trees, and of mechanisms whose loops are closed by joints, or by constraints of mbkit that
    are compiled.
    """
    if system.motions:
        return False
    if not system.num_velocity_constraints or loops_alone(system):
        return True
    known = all(type(each) in _TAKEN for each in system.arrays.closure.objects)
    return known and system._exact_constraints is not None


def changes_no_loops(system: System, names: Iterable[str]) -> bool:
    """Return whether inputs change no row of constraints, and masses by the regressor alone."""
    return all(
        name in ("q", "v", "tau")
        or name.partition(".")[0] in ("gravity", "forces")
        or field_of_inertia(system, name, with_fields=True) is not None
        for name in names
    )


def still_workspace(system: System) -> Workspace:
    """Return memory of the same mechanism without gravity and without forces.

    Multipliers are zero for rows that do not count.
    """
    bodies = system.arrays.bodies.copy()
    bodies[0]["gravity"] = 0.0
    closure = attrs.evolve(system.arrays.closure, chosen_solver=SchurComplement())
    arrays = attrs.evolve(system.arrays, bodies=bodies, forces=ForceArrays(), closure=closure)
    return Workspace(arrays, system.evaluator)


def loops_of(
    system: System,
    still: Workspace | None,
    called: CalledConstraints | None,
    closes: bool,
    sums: Any,
    stages: int,
) -> Any:
    """Return the loops for the adjoint of so many stages, and what they point to, to be kept.

    Without memory of a still mechanism there are none. Strategies that reduce do so on demand;
    those that do not give multipliers of least norm.
    """
    from mbkit.kernels.sensitivities.closed_steps import Loops

    if still is None or called is None:
        none = np.empty((0, 0))
        return Loops(still=0, memory=0, closes=0, least=0, rows=none, motions=none), None
    m, nv = system.num_velocity_constraints, system.nv
    moves = any(isinstance(each, _OVER_TIME) for each in system.arrays.closure.objects)
    memory = _memory_of_passes(sums, m, called, moves=moves)
    loops = Loops(
        still=still.address,
        memory=memory.address,
        closes=int(closes),
        least=int(system.arrays.closure.solver_kernels().reduce is None),
        rows=np.empty((stages, m)),
        motions=np.zeros((5, nv)),
    )
    return loops, memory


def _memory_of_passes(sums: Any, m: int, called: CalledConstraints, *, moves: bool) -> Record:
    """Return the record by which the passes find the sums, each other and factors of m rows.

    `moves`: whether constraints depend on time.
    """
    from mbkit.kernels.sensitivities import closed_passes as passes

    return Record(
        passes.PASSES, moves=int(moves), bodies=len(sums.twists), rows=m,
        frames=len(sums.regressor), springs=len(sums.springs), bushings=len(sums.bushings),
        drags=len(sums.drags), floats={"factors": 5 * m},
        twists=sums.twists, momenta=sums.momenta, turns=sums.turns, pushes=sums.pushes,
        origins=sums.origins, regressor=sums.regressor, by_springs=sums.springs,
        table_of_bushings=sums.bushings, table_of_drags=sums.drags, called=sums.called,
        constraints=called.address,
        solve_adjoint=passes.solve_adjoint.address,
        multipliers_of=passes.multipliers_of.address,
        back_through_equations=passes.back_through_equations.address,
    )  # fmt: skip
