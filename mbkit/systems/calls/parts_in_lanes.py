"""Parts of a workspace for lanes besides the tree of bodies, by the evaluations that need them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from mbkit.systems.calls.evaluations import (
    BODY_DERIVATIVES,
    CANONICAL_FORWARD_DYNAMICS,
    CLOSED_HYBRID_DYNAMICS,
    CONSTRAINED_DYNAMICS,
    CONSTRAINT_FORCE_DERIVATIVE,
    CONSTRAINT_JACOBIAN,
    CONSTRAINT_SIZES,
    CONSTRAINT_STATE,
    CONSTRAINT_VELOCITY_DERIVATIVE,
    CONSTRAINT_WRENCHES,
    CORIOLIS_MATRIX,
    FORCE_DERIVATIVES,
    FORCE_POTENTIALS,
    FORCE_POWERS,
    FORCE_WRENCHES,
    FORWARD_DYNAMICS_DERIVATIVES,
    GENERALIZED_FORCES,
    HYBRID_DYNAMICS,
    HYBRID_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_RATE,
    INVERSE_DYNAMICS_SECOND_DERIVATIVES,
    JACOBIAN_RATE,
    JERKS,
    MASS_MATRIX_DERIVATIVES,
    MOTION_SUBSPACE_RATES,
    SOLVED_DYNAMICS,
    Evaluation,
)
from mbkit.systems.memory.in_lanes.closure import LanesClosure, is_in_lanes, solves_in_lanes
from mbkit.systems.memory.in_lanes.forces import (
    derivatives_have_lanes,
    forces_have_lanes,
    potentials_have_lanes,
)
from mbkit.systems.memory.in_lanes.functions import is_for_lanes

if TYPE_CHECKING:
    from mbkit.systems.calls.batches import Samples
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.in_lanes.workspace import LanesWorkspace
    from mbkit.systems.memory.workspace import Workspace

__all__ = ["MULTIPLIERS", "Part", "parts_of"]


@attrs.frozen
class Part:
    """Something that some evaluations need.

    Attributes
    ----------
    is_written : (evaluator) -> bool
        Whether it is written for lanes, for a system.
    compile : (evaluator) -> object
        Compiles its functions before threads begin, which find them made.
    put : (evaluator, workspace, alone) -> None
        Puts it into a workspace, unless it is there; `alone` is that of one sample, which the same
        thread has meanwhile.
    fits : (evaluator, samples) -> bool, optional
        Whether samples may be computed together; else all are.
    """

    is_written: Callable[[Evaluator], bool]
    compile: Callable[[Evaluator], Any] = lambda evaluator: None
    put: Callable[[Evaluator, LanesWorkspace, Workspace], None] = (
        lambda evaluator, workspace, alone: None
    )
    fits: Callable[[Evaluator, Samples], bool] | None = None


def _let_joints_change(evaluator: Evaluator, workspace: LanesWorkspace, alone: Workspace) -> None:
    if evaluator.arrays.has_constant_subspaces:
        return
    if workspace.trial is None:
        own = evaluator.arguments
        workspace.have_trial(own.num_positions + own.num_velocities + own.ndx)
    workspace.let_joints_change(alone)


def _let_act(evaluator: Evaluator, workspace: LanesWorkspace, alone: Workspace) -> None:
    workspace.let_act(evaluator.lanes_model.forces)


def _close(evaluator: Evaluator, workspace: LanesWorkspace, alone: Workspace) -> None:
    if workspace.closure is None:
        assert alone.closure is not None  # the system has constraints
        workspace.close(LanesClosure(evaluator.lanes_closure, alone.closure))


def _let_solve(evaluator: Evaluator, workspace: LanesWorkspace, alone: Workspace) -> None:
    assert workspace.closure is not None  # put in before
    workspace.closure.let_solve(evaluator.lanes_closure.functions)


def _let_prescribe(evaluator: Evaluator, workspace: LanesWorkspace, alone: Workspace) -> None:
    assert workspace.closure is not None  # put in before
    workspace.closure.let_solve(evaluator.lanes_closure.functions_of_prescribed)


def _changes_keep_digits(evaluator: Evaluator) -> bool:
    """Return whether motion subspaces are constant, or change in double precision.

    In single precision derivatives of their changes would lose all digits in some states.
    """
    return evaluator.doubles is None or evaluator.arrays.has_constant_subspaces


def _same_are_prescribed(evaluator: Evaluator, samples: Samples) -> bool:
    """Return whether the same joints are prescribed in all samples."""
    nv = int(evaluator.arrays.bodies[0]["num_velocities"])
    prescribed = samples.vectors[2][:, 2 * nv : 3 * nv] != 0.0
    return bool((prescribed == prescribed[0]).all())


def _have_all_forces(evaluator: Evaluator) -> bool:
    forces = evaluator.arrays.forces
    return forces_have_lanes(forces, range(len(forces.forces)))


def _have_called_forces(evaluator: Evaluator) -> bool:
    forces = evaluator.arrays.forces
    return forces_have_lanes(forces, forces.order[:-1])


#: How motion subspaces change, which joints find for one sample after another.
CHANGES = Part(_changes_keep_digits, put=_let_joints_change)

#: Motions of the pieces of joints whose series are computed.
SERIES = Part(
    lambda each: all(
        motion is None or is_for_lanes(motion) for motion in each.arrays.joint_pieces.motions
    )
)

#: Forces, in a table with the functions of those that are called.
FORCES = Part(
    lambda each: bool(each.arrays.forces.forces),
    lambda each: each.lanes_model.forces,
    _let_act,
)

CALLED_FORCES = Part(_have_called_forces)
ALL_FORCES = Part(_have_all_forces, lambda each: each.lanes_model.forces.powers)
POTENTIALS = Part(
    lambda each: potentials_have_lanes(each.arrays.forces),
    lambda each: each.lanes_model.forces.potentials,
)
SPRINGS = Part(lambda each: derivatives_have_lanes(each.arrays))

CONSTRAINTS = Part(
    lambda each: is_in_lanes(each.arrays.closure), lambda each: each.lanes_closure, _close
)

#: The functions that compute multipliers.
MULTIPLIERS = Part(
    lambda each: solves_in_lanes(each.arrays.closure),
    lambda each: each.lanes_closure.functions,
    _let_solve,
)

PRESCRIBED = Part(lambda each: True, fits=_same_are_prescribed)
PRESCRIBED_IN_LOOPS = Part(
    lambda each: True,
    lambda each: each.lanes_closure.functions_of_prescribed,
    _let_prescribe,
)

_PARTS = {
    HYBRID_DYNAMICS: (PRESCRIBED,),
    INVERSE_DYNAMICS_DERIVATIVES: (CHANGES,),
    FORWARD_DYNAMICS_DERIVATIVES: (CHANGES,),
    HYBRID_DYNAMICS_DERIVATIVES: (CHANGES, PRESCRIBED),
    INVERSE_DYNAMICS_SECOND_DERIVATIVES: (CHANGES,),
    MASS_MATRIX_DERIVATIVES: (CHANGES,),
    CORIOLIS_MATRIX: (CHANGES,),
    CANONICAL_FORWARD_DYNAMICS: (CHANGES,),
    BODY_DERIVATIVES: (SERIES,),
    INVERSE_DYNAMICS_RATE: (SERIES,),
    JACOBIAN_RATE: (SERIES,),
    JERKS: (SERIES,),
    MOTION_SUBSPACE_RATES: (SERIES,),
    FORCE_DERIVATIVES: (CHANGES, FORCES, SPRINGS),
    FORCE_POTENTIALS: (FORCES, POTENTIALS),
    FORCE_POWERS: (FORCES, ALL_FORCES),
    FORCE_WRENCHES: (FORCES, CALLED_FORCES),
    GENERALIZED_FORCES: (FORCES, CALLED_FORCES),
    CONSTRAINT_STATE: (CONSTRAINTS,),
    CONSTRAINT_JACOBIAN: (CONSTRAINTS,),
    CONSTRAINT_SIZES: (CONSTRAINTS,),
    CONSTRAINT_WRENCHES: (CONSTRAINTS,),
    CONSTRAINT_VELOCITY_DERIVATIVE: (CHANGES, CONSTRAINTS),
    CONSTRAINT_FORCE_DERIVATIVE: (CHANGES, CONSTRAINTS),
    CONSTRAINED_DYNAMICS: (CONSTRAINTS, MULTIPLIERS),
    SOLVED_DYNAMICS: (CONSTRAINTS, MULTIPLIERS),
    CLOSED_HYBRID_DYNAMICS: (PRESCRIBED, CONSTRAINTS, MULTIPLIERS, PRESCRIBED_IN_LOOPS),
}


def parts_of(what: Evaluation) -> tuple[Part, ...]:
    """Return the parts that an evaluation needs, in the order in which they are put in."""
    return _PARTS.get(what, ())
