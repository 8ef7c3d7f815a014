"""Batches that compute several samples at once, in the lanes of registers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels.layout import LOADED
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
    ENERGIES,
    FORCE_DERIVATIVES,
    FORCE_POTENTIALS,
    FORCE_POWERS,
    FORCE_WRENCHES,
    FORWARD_DYNAMICS_DERIVATIVES,
    GENERALIZED_FORCES,
    HYBRID_DYNAMICS,
    INERTIAL_REGRESSOR,
    INVERSE_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_RATE,
    INVERSE_DYNAMICS_SECOND_DERIVATIVES,
    JACOBIAN,
    JACOBIAN_RATE,
    JERKS,
    MASS_MATRIX,
    MASS_MATRIX_DERIVATIVES,
    MOMENTUM,
    MOTION_SUBSPACES,
    POSES,
    SOLVED_DYNAMICS,
    Evaluation,
)
from mbkit.systems.memory.lane_functions import address_in_lanes, caller
from mbkit.systems.memory.lanes import EVALUATION, LanesModel, LanesWorkspace
from mbkit.systems.memory.lanes_closure import LanesClosure, is_in_lanes, solves_in_lanes
from mbkit.systems.memory.lanes_forces import (
    derivatives_have_lanes,
    forces_have_lanes,
    potentials_have_lanes,
)

if TYPE_CHECKING:
    from mbkit.kernels.compile import FunctionAddress
    from mbkit.systems.calls.batches import Samples
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.arrays import SystemArrays
    from mbkit.systems.memory.forces import ForceArrays

#: Fewest samples for which functions are compiled for lanes, which takes some ten seconds once per
#: installation: fewer are computed in less than a millisecond.
LEAST_SAMPLES = 64

#: The same of energies and momenta, which each result asks for of all its states: a million states
#: of seven bodies take a second one by one. Ensembles in lanes compile for longer anyway.
LEAST_STATES = 1_000_000

#: The same of dynamics with multipliers, for which eight functions are compiled in a minute, and of
#: second derivatives and derivatives of forces, which take nearly as long.
LEAST_CLOSED = 1024

_TAKE_LONG = (INVERSE_DYNAMICS_SECOND_DERIVATIVES, FORCE_DERIVATIVES)

_OF_STATES = (ENERGIES, MOMENTUM)

#: Options of dynamics that kernels have in lanes.
_OPTIONS = (0, LOADED)

#: Series of higher order, in lanes where motion subspaces are constant on both sides of a joint.
_OF_SERIES = (BODY_DERIVATIVES, INVERSE_DYNAMICS_RATE, JACOBIAN_RATE, JERKS)

#: What has any option: the number of a body, or the address of a plan.
_OF_ANY_OPTION = (JACOBIAN, MOTION_SUBSPACES, *_OF_SERIES)

#: What is in lanes where the motion subspaces of all joints are constant.
_OF_CONSTANT_SUBSPACES = (
    INVERSE_DYNAMICS_DERIVATIVES,
    FORWARD_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_SECOND_DERIVATIVES,
    MASS_MATRIX_DERIVATIVES,
    FORCE_DERIVATIVES,
    CONSTRAINT_VELOCITY_DERIVATIVE,
    CONSTRAINT_FORCE_DERIVATIVE,
)

#: What asks for rates of motion subspaces, in lanes where joints have them without a step.
_OF_RATES = (CANONICAL_FORWARD_DYNAMICS, CORIOLIS_MATRIX)

#: What is asked of forces, in lanes where the functions are that it calls.
_OF_FORCES = (
    FORCE_DERIVATIVES,
    FORCE_POTENTIALS,
    FORCE_POWERS,
    FORCE_WRENCHES,
    GENERALIZED_FORCES,
)

#: What looks at constraints, in lanes where all of these are.
_OF_CONSTRAINTS = (
    CONSTRAINT_STATE,
    CONSTRAINT_JACOBIAN,
    CONSTRAINT_SIZES,
    CONSTRAINT_WRENCHES,
    CONSTRAINT_VELOCITY_DERIVATIVE,
    CONSTRAINT_FORCE_DERIVATIVE,
)

#: What finds multipliers, in lanes where besides the solver has them.
_OF_MULTIPLIERS = (CONSTRAINED_DYNAMICS, SOLVED_DYNAMICS, CLOSED_HYBRID_DYNAMICS)

#: Larger results of eight samples leave the cache, and lanes take as long as samples one by one; or
#: they take megabytes.
MOST_ENTRIES = {
    CONSTRAINT_JACOBIAN: 2048,
    CONSTRAINT_VELOCITY_DERIVATIVE: 4096,
    CONSTRAINT_FORCE_DERIVATIVE: 8192,
    FORCE_DERIVATIVES: 32_768,
    INERTIAL_REGRESSOR: 4096,
    MASS_MATRIX_DERIVATIVES: 32_768,
    INVERSE_DYNAMICS_SECOND_DERIVATIVES: 131_072,
}


class BatchInLanes:
    """Functions of a system compiled for lanes, and workspaces for the threads that call them.

    Parameters
    ----------
    evaluator : Evaluator
        Of the system.
    model : LanesModel
        What the workspaces share.
    functions : tuple of int
        Addresses of the function, and of the one that leaves wrenches or 0.
    option : int
        Of the function.

    Attributes
    ----------
    width : int
        How many samples at once.
    called : tuple of int
        Addresses of the functions, and the option.
    """

    def __init__(
        self, evaluator: Evaluator, model: LanesModel, functions: tuple[int, int], option: int
    ) -> None:
        self._evaluator = evaluator
        self._model = model
        self.width = model.lanes.width
        self.called = *functions, option

    def kernel(self, samples: Samples) -> FunctionAddress:
        """Return what computes chunks of a batch, by the precision of lanes and of arguments."""
        from mbkit.kernels.calls import batches_in_lanes, batches_in_single_lanes

        if self._evaluator.doubles is None:
            return caller(batches_in_lanes.batch_in_lanes)
        if samples.vectors[0].dtype == np.float32:
            return batches_in_single_lanes.batch_of_singles
        return batches_in_single_lanes.batch_of_doubles

    def take(self, samples: Samples, num_results: int) -> tuple[LanesWorkspace, tuple[int, ...]]:
        """Return a workspace, and what the kernel is told of it: see SEAT."""
        try:
            workspace = self._evaluator.lanes_pool.pop()
        except IndexError:
            workspace = LanesWorkspace(self._evaluator.arrays, self._model)
        if samples.what in _OF_FORCES:
            workspace.let_act(self._model.forces)
        if samples.what in _OF_RATES and workspace.trial is None:
            own = self._evaluator.arguments
            workspace.have_trial(own.num_positions + own.num_velocities + own.ndx)
        if samples.what in _OF_CONSTRAINTS or samples.what in _OF_MULTIPLIERS:
            self._close(workspace, samples.what)
        model, is_packed = self._model, samples.what is MASS_MATRIX
        offsets, count = model.packed if is_packed else model.in_order(num_results)
        # what is packed is looked at as a whole matrix too, though nobody touches the rest
        sizes = [rows.shape[1] for rows in samples.vectors] + [max(count, num_results)]
        rooms = [workspace.room(k, size) for k, size in enumerate(sizes)]
        if self._evaluator.doubles is not None:
            rooms.append(workspace.room(len(sizes), sum(sizes[:-1]) + num_results))
        return workspace, (workspace.address, offsets, *rooms)

    def _close(self, workspace: LanesWorkspace, what: Evaluation) -> None:
        """Put in the constraints, unless they are there, and what finds multipliers."""
        model, closure = self._evaluator.lanes_closure, workspace.closure
        if closure is None:
            alone = self._evaluator.take()
            assert alone.closure is not None  # it has constraints
            closure = LanesClosure(model, alone.closure)
            self._evaluator.give_back(alone)
            workspace.close(closure)
        if what in _OF_MULTIPLIERS:
            closure.let_solve(model.functions)
        if what is CLOSED_HYBRID_DYNAMICS:
            closure.let_solve(model.functions_of_prescribed)

    def give_back(self, workspace: LanesWorkspace) -> None:
        """Keep a workspace for the next batch."""
        self._evaluator.lanes_pool.append(workspace)


def is_written(function: Any) -> bool:
    """Return whether a function is one of mbkit's, which are written for lanes."""
    return str(function.__module__).startswith("mbkit.kernels.")


def _least_samples(what: Evaluation, evaluator: Evaluator) -> int:
    """Return the fewest samples for which functions are compiled for lanes.

    Single precision was asked for, whatever it takes; and samples are the same in every batch.
    """
    if evaluator.doubles is not None:
        return 1
    if what in _OF_STATES and not evaluator.moves_in_lanes:
        return LEAST_STATES
    takes_long = what in _OF_MULTIPLIERS or what in _TAKE_LONG
    return LEAST_CLOSED if takes_long else LEAST_SAMPLES


def _has_option(what: Evaluation, option: int) -> bool:
    """Return whether a function has an option in lanes: momenta in the world are for time loops."""
    if what is CANONICAL_FORWARD_DYNAMICS:
        return option == 0
    return option in _OPTIONS or what in _OF_ANY_OPTION


def _is_in_lanes(what: Evaluation, evaluator: Evaluator) -> bool:
    """Return whether a function is computed in lanes; poses where they are of single precision."""
    return what.in_lanes or (what is POSES and evaluator.doubles is not None)


def _answer_in_lanes(what: Evaluation, forces: ForceArrays) -> bool:
    """Return whether those functions of forces are for lanes that are called for an answer."""
    if what is FORCE_POTENTIALS:
        return potentials_have_lanes(forces)
    every = range(len(forces.forces))
    return forces_have_lanes(forces, every if what is FORCE_POWERS else forces.order[:-1])


def _fits(arrays: SystemArrays, samples: Samples) -> bool:
    """Return whether a function that is written for lanes is so for this system and these samples.

    Hybrid dynamics prescribes the same joints in all samples.
    """
    what, x = samples.what, samples.vectors[2]
    if what in _OF_CONSTANT_SUBSPACES and not arrays.has_constant_subspaces:
        return False
    if what in _OF_SERIES:
        return arrays.joint_pieces.are_none
    if what in _OF_RATES:
        return arrays.rates_need_no_steps
    if what is FORCE_DERIVATIVES and not derivatives_have_lanes(arrays):
        return False
    if what in _OF_FORCES:
        return bool(arrays.forces.forces) and _answer_in_lanes(what, arrays.forces)
    if what in (*_OF_CONSTRAINTS, *_OF_MULTIPLIERS) and not is_in_lanes(arrays.closure):
        return False
    if what in _OF_MULTIPLIERS and not solves_in_lanes(arrays.closure):
        return False
    if what in (HYBRID_DYNAMICS, CLOSED_HYBRID_DYNAMICS):
        nv = int(arrays.bodies[0]["num_velocities"])
        prescribed = x[:, 2 * nv : 3 * nv] != 0.0
        return bool((prescribed == prescribed[0]).all())
    return True


def batch_in_lanes(
    evaluator: Evaluator, samples: Samples, function: int, apply: int, option: int
) -> BatchInLanes | None:
    """Return how to compute a batch in lanes; None where it is computed one by one.

    That is a batch of few samples, of a system that calls Python, with an option or a function
    that is not written for lanes.
    """
    from mbkit.kernels.compile import UNCOMPILED

    if (
        (UNCOMPILED and evaluator.doubles is not None)
        or not _is_in_lanes(samples.what, evaluator)
        or samples.count < _least_samples(samples.what, evaluator)
        or not _has_option(samples.what, option)
        or evaluator.calls_python
    ):
        return None
    size = math.prod(evaluator.arguments.shape(samples.what.result))
    if size > MOST_ENTRIES.get(samples.what, size) or not _fits(evaluator.arrays, samples):
        return None
    made = [evaluator.made(address) for address in (function, apply) if address]
    if not is_written(made[0].function):
        return None
    from mbkit.kernels.recursions.composite_body import PACKED

    model = evaluator.lanes_model
    if samples.what in _OF_FORCES:
        _ = model.forces  # compiled here: threads find them made
    if samples.what is FORCE_POWERS:
        _ = model.forces.powers
    if samples.what is FORCE_POTENTIALS:
        _ = model.forces.potentials
    addresses = [address_in_lanes(each.function, EVALUATION, model.lanes) for each in made]
    functions = addresses[0], addresses[1] if apply else 0
    if samples.what in _OF_CONSTRAINTS:
        _ = evaluator.lanes_closure
    if samples.what in _OF_MULTIPLIERS:
        _ = evaluator.lanes_closure.functions
    if samples.what is CLOSED_HYBRID_DYNAMICS:
        _ = evaluator.lanes_closure.functions_of_prescribed
    option = PACKED if samples.what is MASS_MATRIX else option
    return BatchInLanes(evaluator, model, functions, option)
