"""Batches that compute several samples at once, in the lanes of registers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels.layout import LOADED
from mbkit.systems.calls.evaluations import (
    BODY_DERIVATIVES,
    CANONICAL_FORWARD_DYNAMICS,
    CONSTRAINT_FORCE_DERIVATIVE,
    CONSTRAINT_JACOBIAN,
    CONSTRAINT_VELOCITY_DERIVATIVE,
    ENERGIES,
    FORCE_DERIVATIVES,
    INERTIAL_REGRESSOR,
    INVERSE_DYNAMICS_RATE,
    INVERSE_DYNAMICS_SECOND_DERIVATIVES,
    JACOBIAN,
    JACOBIAN_RATE,
    JERKS,
    MASS_MATRIX,
    MASS_MATRIX_DERIVATIVES,
    MOMENTA_IN_WORLD,
    MOMENTUM,
    MOTION_SUBSPACE_RATES,
    MOTION_SUBSPACES,
    POSES,
    Evaluation,
)
from mbkit.systems.calls.parts_in_lanes import MULTIPLIERS, parts_of
from mbkit.systems.memory.in_lanes.functions import address_in_lanes, caller
from mbkit.systems.memory.in_lanes.workspace import EVALUATION, LanesModel, LanesWorkspace

if TYPE_CHECKING:
    from mbkit.kernels.compile import FunctionAddress
    from mbkit.systems.calls.batches import Samples
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.workspace import Workspace

#: Fewest samples for which functions are compiled for lanes, which takes some ten seconds once per
#: installation: fewer are computed in less than a millisecond.
LEAST_SAMPLES = 64

#: The same of energies and momenta, which each result computes of all its states: a million states
#: of seven bodies take a second one by one. Ensembles in lanes compile for longer anyway.
LEAST_STATES = 1_000_000

#: The same of dynamics with multipliers, for which eight functions are compiled in a minute, and of
#: second derivatives and derivatives of forces, which take nearly as long.
LEAST_CLOSED = 1024

_TAKE_LONG = (INVERSE_DYNAMICS_SECOND_DERIVATIVES, FORCE_DERIVATIVES)

_OF_STATES = (ENERGIES, MOMENTUM)

#: Options of dynamics that kernels have in lanes.
_OPTIONS = (0, LOADED)

#: Evaluations whose option is the address of a plan.
_OF_SERIES = (
    BODY_DERIVATIVES,
    INVERSE_DYNAMICS_RATE,
    JACOBIAN_RATE,
    JERKS,
    MOTION_SUBSPACE_RATES,
)

#: Evaluations whose option is the address of the table of joints with momenta in the world.
_OF_ROOTS = (CANONICAL_FORWARD_DYNAMICS, MOMENTA_IN_WORLD)

#: Evaluations that have any option: one of these, or the number of a body.
_OF_ANY_OPTION = (JACOBIAN, MOTION_SUBSPACES, *_OF_SERIES, *_OF_ROOTS)

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
        The arrays that the workspaces share.
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
        """Return the kernel for chunks of a batch, by the precision of lanes and of arguments."""
        from mbkit.kernels.calls import batches_in_lanes, batches_in_single_lanes

        if self._evaluator.doubles is None:
            return caller(batches_in_lanes.batch_in_lanes)
        if samples.vectors[0].dtype == np.float32:
            return batches_in_single_lanes.batch_of_singles
        return batches_in_single_lanes.batch_of_doubles

    def take(
        self, samples: Samples, num_results: int, alone: Workspace
    ) -> tuple[LanesWorkspace, tuple[int, ...]]:
        """Return a workspace, and its data for the kernel: see SEAT.

        `alone` is the workspace in which the same thread computes samples one by one.
        """
        try:
            workspace = self._evaluator.lanes_pool.pop()
        except IndexError:
            workspace = LanesWorkspace(self._evaluator.arrays, self._model)
        for part in parts_of(samples.what):
            part.put(self._evaluator, workspace, alone)
        model, is_packed = self._model, samples.what is MASS_MATRIX
        offsets, count = model.packed if is_packed else model.in_order(num_results)
        # what is packed is looked at as a whole matrix too, though nobody touches the rest
        sizes = [rows.shape[1] for rows in samples.vectors] + [max(count, num_results)]
        rooms = [workspace.room(k, size) for k, size in enumerate(sizes)]
        if self._evaluator.doubles is not None:
            rooms.append(workspace.room(len(sizes), sum(sizes[:-1]) + num_results))
        return workspace, (workspace.address, offsets, *rooms)

    def give_back(self, workspace: LanesWorkspace) -> None:
        """Keep a workspace for the next batch."""
        self._evaluator.lanes_pool.append(workspace)


def is_written(function: Any) -> bool:
    """Return whether a function is one of mbkit's, which are written for lanes."""
    return str(function.__module__).startswith("mbkit.kernels.")


def _least_samples(what: Evaluation, evaluator: Evaluator) -> int:
    """Return the fewest samples for which functions are compiled for lanes.

    One in single precision: users choose it, and samples are the same in batches of any size.
    """
    if evaluator.doubles is not None:
        return 1
    if what in _OF_STATES and not evaluator.moves_in_lanes:
        return LEAST_STATES
    takes_long = MULTIPLIERS in parts_of(what) or what in _TAKE_LONG
    return LEAST_CLOSED if takes_long else LEAST_SAMPLES


def _has_option(what: Evaluation, option: int) -> bool:
    """Return whether a function has an option in lanes."""
    return option in _OPTIONS or what in _OF_ANY_OPTION


def _is_in_lanes(what: Evaluation, evaluator: Evaluator) -> bool:
    """Return whether a function is computed in lanes; poses where they are of single precision."""
    return what.in_lanes or (what is POSES and evaluator.doubles is not None)


def batch_in_lanes(
    evaluator: Evaluator, samples: Samples, function: int, apply: int, option: int
) -> BatchInLanes | None:
    """Return how to compute a batch in lanes; None where it is computed one by one.

    That is a batch of few samples, of a system that calls Python, with an option or a function
    that is not written for lanes.
    """
    what = samples.what
    if samples.count < _least_samples(what, evaluator):
        return None
    if not all(part.fits(evaluator, samples) for part in parts_of(what) if part.fits):
        return None
    key = what, function, apply, option
    if key not in evaluator.in_lanes:
        evaluator.in_lanes[key] = _made(evaluator, what, function, apply, option)
    return evaluator.in_lanes[key]


def _made(
    evaluator: Evaluator, what: Evaluation, function: int, apply: int, option: int
) -> BatchInLanes | None:
    """Return how all batches are computed that are large enough; functions are compiled."""
    from mbkit.kernels.compile import UNCOMPILED

    if (
        (UNCOMPILED and evaluator.doubles is not None)
        or not _is_in_lanes(what, evaluator)
        or not _has_option(what, option)
        or evaluator.calls_python
    ):
        return None
    size = math.prod(evaluator.arguments.shape(what.result))
    if size > MOST_ENTRIES.get(what, size):
        return None
    parts = parts_of(what)
    if not all(each.is_written(evaluator) for each in parts):
        return None
    made = [evaluator.made(address) for address in (function, apply) if address]
    if not is_written(made[0].function):
        return None
    from mbkit.kernels.recursions.composite_body import PACKED

    model = evaluator.lanes_model
    for part in parts:
        part.compile(evaluator)
    addresses = [address_in_lanes(each.function, EVALUATION, model.lanes) for each in made]
    functions = addresses[0], addresses[1] if apply else 0
    if what is MASS_MATRIX:
        option = PACKED
    if what in _OF_SERIES:
        option = model.plan(option)
    return BatchInLanes(evaluator, model, functions, option)
