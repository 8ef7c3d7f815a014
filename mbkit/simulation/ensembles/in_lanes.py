"""Runs of an ensemble that take their steps side by side, in the lanes of vector registers.

Their numbers are those of the runs alone, bit by bit. Where one run of a group fails, all of it are
taken one by one, so that the failing one has its own reason and its own rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np

from mbkit.integrators.integrator import EVALUATIONS, Rows
from mbkit.kernels.layout import NUM_POWERS
from mbkit.simulation.ensembles.gathering import Ended, Gathered
from mbkit.simulation.ensembles.in_threads import Block, Plan, runs_alone
from mbkit.simulation.ensembles.members import Members
from mbkit.simulation.preparation import Prepared
from mbkit.simulation.stepping.chunks import next_chunk
from mbkit.systems import System
from mbkit.systems.calls.evaluations import (
    CONSTRAINED_DYNAMICS,
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
)
from mbkit.systems.calls.lanes import is_written
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.in_lanes.closure import (
    LanesClosure,
    LanesClosureModel,
    is_in_lanes,
    solves_in_lanes,
)
from mbkit.systems.memory.in_lanes.forces import forces_have_lanes
from mbkit.systems.memory.in_lanes.functions import address_in_lanes
from mbkit.systems.memory.in_lanes.joints import MOTION_AND_STEPS
from mbkit.systems.memory.in_lanes.own_models import ModelsInLanes
from mbkit.systems.memory.in_lanes.workspace import (
    EVALUATION,
    LanesModel,
    LanesWorkspace,
    native_lanes,
)
from mbkit.systems.memory.workspace import Workspace

__all__ = ["Group", "Lanes", "Registers", "Start", "lanes_of"]

#: Fewest runs for which steps are compiled for lanes, which takes some ten seconds once per
#: installation.
LEAST_RUNS = 16

#: The same of closed mechanisms, for which more functions are compiled, in a minute.
LEAST_CLOSED_RUNS = 64

#: Most bytes of the numbers of a group of runs that choose their implicit steps. Larger matrices
#: leave the cache, and all are made anew where one run needs its own: such runs take longer
#: together than one by one.
LARGEST_GROUP = 640 * 1024

#: Projection onto the constraints, as the form of a function by address.
_PROJECTION = "stpp"

#: Of a group that is not full, the part from which on it is taken together all the same.
PART = 0.25


@attrs.frozen(eq=False)
class Lanes:
    """What the groups of an ensemble share: the model, and functions compiled for lanes.

    Attributes
    ----------
    model : LanesModel
        The model.
    step : int
        Address of a step.
    forward_dynamics : int
        Address of the equations of motion.
    width : int
        How many runs are in a group.
    adaptive : bool
        Whether each run chooses its steps.
    functions : dict of str to int
        Addresses of what a step calls besides, by name.
    inverse_dynamics : int
        Address of the equations of motion as steps ask for them that linearise them, or 0.
    closure : LanesClosureModel, optional
        The constraints, with functions for lanes that find multipliers.
    project : int
        Address of what brings the end of a step back to the constraints, 0 where nothing does.
    own_models : bool
        Whether each run has a model of its own.
    """

    model: LanesModel
    step: int
    forward_dynamics: int
    width: int
    adaptive: bool
    functions: Mapping[str, int]
    inverse_dynamics: int = 0
    closure: LanesClosureModel | None = None
    project: int = 0
    own_models: bool = False

    @property
    def least(self) -> int:
        """Return how many runs at least are taken together."""
        return max(2, int(PART * self.width))

    @property
    def drawn(self) -> int:
        """Return how many runs a thread draws at a time."""
        return 1 if self.adaptive else self.width


def lanes_of(first: Prepared, members: Members, *, models_fit: bool) -> Lanes | None:
    """Return how the runs of an ensemble go side by side; None where each goes by itself.

    They do where a mechanism moves by constant efforts and forces that are compiled for lanes, and
    runs differ in nothing but states and efforts, or, where the `models_fit`, in numbers of a tree.
    Loops need multipliers that are found in lanes.
    """
    system, space = first.system, first.workspace.record[0]
    own = bool(members.parameters)
    least = LEAST_CLOSED_RUNS if space["closure"] else LEAST_RUNS
    if members.count < least or (own and not models_fit) or not runs_alone(first):
        return None
    if any(space[name] for name in ("force", "rates", "watch", "drive")):
        return None
    step = first.course.in_lanes
    within = Plan.of(first).parts.any()
    if step is None or (within and not step.forgets) or _is_too_large(step):
        return None
    if not _moves_in_lanes(system, linearised=step.linearises, own=own):
        return None
    from mbkit.kernels import lanes
    from mbkit.kernels.constraints.solve.projection import project
    from mbkit.kernels.time_loops.fixed_steps_in_lanes import STEP

    form = STEP
    if step.adaptive:
        from mbkit.kernels.time_loops.adaptive_in_lanes import ATTEMPT as form

    kind = native_lanes()
    if own:
        from mbkit.kernels.simd.own_models import OwnModels

    space_of = OwnModels if own else lanes.LanesAddress
    model = LanesModel(system.arrays, kind, functions=MOTION_AND_STEPS, space=space_of)
    function = system.evaluator.made(system.evaluator.function(system.equations)).function
    dynamics = model.address_of(function, EVALUATION)
    address = model.address_of(step.function, step.form or form)
    forces = bool(system.arrays.forces.forces)
    functions = {
        name: model.address_of(function, form)
        for name, (function, form) in step.called(forces=forces).items()
    }
    inverse_dynamics = 0
    if step.linearises:
        function = system.evaluator.made(system.evaluator.function(INVERSE_DYNAMICS)).function
        inverse_dynamics = model.address_of(function, EVALUATION)
    if forces:  # compiled here: threads find them made
        _ = model.forces if step.linearises else model.forces_of_runs
    system.evaluator.moves_in_lanes = True
    made = Lanes(
        model, address, dynamics, kind.width, step.adaptive, functions, inverse_dynamics,
        own_models=own,
    )  # fmt: skip
    if not space["closure"]:
        return made
    closure = LanesClosureModel(system.arrays.closure, kind, system.representation)
    _ = closure.functions  # compiled here: threads find them made
    projection = 0
    if space["project"]:
        projection = address_in_lanes(project.function, _PROJECTION, kind)
    return attrs.evolve(made, closure=closure, project=projection)


def _is_too_large(step: Any) -> bool:
    """Return whether runs that choose their implicit steps are faster one by one."""
    size = 8 * native_lanes().width * step.num_numbers
    return bool(step.adaptive and step.linearises and size > LARGEST_GROUP)


def _moves_in_lanes(system: System, *, linearised: bool, own: bool) -> bool:
    """Return whether all that moves a system is written for lanes, with its derivatives or not.

    And for models in lanes, where each run has its own: a user's force may branch on parameters.
    """
    if system.equations not in (FORWARD_DYNAMICS, CONSTRAINED_DYNAMICS):
        return False
    closure, forces = system.arrays.closure, system.arrays.forces
    if closure and not (is_in_lanes(closure) and solves_in_lanes(closure)):
        return False
    function = system.evaluator.made(system.evaluator.function(system.equations)).function
    rows = forces.order[:-1] if linearised else forces.order[forces.num_fields : forces.num_called]
    if not (is_written(function) and forces_have_lanes(forces, rows)):
        return False
    called: list[Any] = [forces.forces[k].kernels() for k in rows]
    return not own or all(is_written(each.evaluate.function) for each in called)


class Start(NamedTuple):
    """Where runs begin, one a row, and their models, where these differ."""

    q: Any
    v: Any
    tau: Any  # None where there are no efforts
    models: Sequence[SystemArrays]

    def chosen(self, rows: Any) -> Start:
        """Return those of some rows, which may repeat."""
        tau = None if self.tau is None else self.tau[rows]
        return Start(self.q[rows], self.v[rows], tau, [self.models[k] for k in rows if self.models])


class Registers:
    """The memory of one thread, in which runs are side by side.

    Attributes
    ----------
    own : StepInLanes
        The method, with memory of its own.
    workspace : LanesWorkspace
        What the equations of motion need.
    models : ModelsInLanes, optional
        Those of the runs, where each has its own.
    numbers : ndarray, shape (n, width)
        What the method needs of each run, the state first.
    together : Together
        The same for kernels.
    """

    def __init__(self, lanes: Lanes, first: Prepared) -> None:
        from mbkit.kernels.time_loops.fixed_steps_in_lanes import Together

        self.own = first.course.in_lanes
        self.workspace = LanesWorkspace(first.system.arrays, lanes.model)
        if lanes.closure is not None:
            assert first.workspace.closure is not None  # it has constraints
            closure = LanesClosure(lanes.closure, first.workspace.closure)
            closure.let_solve(lanes.closure.functions)
            self.workspace.close(closure)
        if self.own.linearises and first.system.arrays.forces.forces:
            self.workspace.let_act(lanes.model.forces)
        self.workspace.let_move(lanes.forward_dynamics, lanes.project)
        self.models = ModelsInLanes(lanes.model, self.workspace) if lanes.own_models else None
        self.workspace.record[0]["inverse_dynamics"] = lanes.inverse_dynamics
        self.numbers = self.workspace.numbers(self.own.num_numbers)
        self.method = self.own.in_memory(self.workspace, self.numbers, lanes.functions)
        if self.own.linearises and not first.system.arrays.has_constant_subspaces:
            self.workspace.let_joints_change(Workspace(first.system.arrays, first.system.evaluator))
        self.multipliers = self.own.multipliers_in(self.numbers)
        problem = first.problem
        self._aside = self.workspace.numbers(problem.nq + problem.nv + NUM_POWERS)
        places = map(self.workspace.address_of, (self.numbers, self.multipliers, self._aside))
        numbers, multipliers, aside = places
        self.together = Together(
            self.workspace.address, lanes.step, self.method.address, numbers, multipliers,
            lanes.width, aside,
        )  # fmt: skip

    def put(self, lanes: Any, start: Start) -> None:
        """Put runs to their starts in some of the lanes."""
        q, v, tau, models = start
        if self.models is not None:
            for lane, model in zip(lanes.tolist(), models, strict=True):
                self.models.put(lane, model)
        nq, nv = q.shape[1], v.shape[1]
        self.numbers[:nq, lanes] = q.T
        self.numbers[nq : nq + nv, lanes] = v.T
        self.numbers[nq + nv :, lanes] = 0.0
        self.workspace.tau[:, lanes] = 0.0 if tau is None else tau.T


class Group:
    """Groups of runs that follow each other on one thread, with steps of one size.

    `first` is the first run of the ensemble, which is not written to; ``starts(first, last)``
    returns where some runs begin.
    """

    def __init__(
        self,
        lanes: Lanes,
        first: Prepared,
        gathered: Gathered,
        starts: Callable[[int, int], Start],
    ) -> None:
        self.lanes, self.gathered, self.starts = lanes, gathered, starts
        self.plan, self.problem = Plan.of(first), first.problem
        self.registers = Registers(lanes, first)
        self.chunk = 64

    def _begin(self, start: Start) -> None:
        """Put runs to their starts, one a row; lanes that are over repeat the last."""
        lanes = np.arange(self.lanes.width)
        self.registers.put(lanes, start.chosen(np.minimum(lanes, len(start.q) - 1)))
        self.registers.own.begin()

    def take(
        self, drawn: range, _draw: Callable[[], range], block: Block, stopped: Callable[[], bool]
    ) -> Sequence[int]:
        """Take all steps of some runs of a block; return them where one fails, or they are few."""
        taken = len(drawn) >= self.lanes.least and self._take(drawn, block, stopped)
        return () if taken else drawn

    def _take(self, drawn: range, block: Block, stopped: Callable[[], bool]) -> bool:
        from mbkit.integrators.compiled import entry_point_of
        from mbkit.kernels.time_loops.fixed_steps_in_lanes import ROWS, TAKEN, Kept, advance
        from mbkit.kernels.time_loops.records import Grid

        first, last = drawn.start, drawn.stop
        self._begin(self.starts(first, last))
        plan, problem = self.plan, self.problem
        places, start = slice(first - block.first, last - block.first), len(plan.at_start)
        own = Rows(*(part[places] for part in block.rows))
        own.multipliers[:] = np.nan  # those that are not kept are found from the states
        none = block.no_multipliers[places]
        multipliers = none if plan.at_times else own.multipliers
        rows = Kept(plan.kept, plan.parts, start, own.q, own.v, own.work, multipliers)
        q, v, work = (part[places] for part in block.samples)
        samples = Kept(plan.sampled, 0.0 * plan.sampled, 0, q, v, work, none)
        for kept, count in ((rows, start), (samples, min(1, plan.sampled.size))):
            self._write_state(kept, slice(0, count))
        counts = np.array([0, 0, min(1, plan.sampled.size)])
        began = time.perf_counter()
        while counts[TAKEN] < plan.steps and not stopped():
            size = min(self.chunk, plan.steps - int(counts[TAKEN]))
            at = time.perf_counter()
            grid = Grid(problem.t0, problem.h, int(counts[TAKEN]), size, 1)
            if entry_point_of(advance)(self.registers.together, grid, rows, samples, counts) != 0:
                return False
            spent = time.perf_counter() - at
            self.chunk = next_chunk(self.chunk, size, spent)
        wall_time = (time.perf_counter() - began) / (last - first)
        taken, written = int(counts[TAKEN]), start + int(counts[ROWS])
        t = problem.t0 + taken * problem.h
        if taken < plan.steps and (written == 0 or own.t[0, written - 1] < t):
            self._write_state(rows, slice(written, written + 1))
            own.t[:, written] = t
            own.multipliers[:, written] = self.registers.multipliers.T[: last - first]
            written += 1
        registers, evaluations = self.registers, int(problem.counts[EVALUATIONS])
        within = np.count_nonzero(plan.parts[: counts[ROWS]])
        evaluations += int(within) * registers.own.evaluations
        for lane, number in enumerate(drawn):
            cost = registers.own.counts(registers.numbers, lane, taken, (evaluations, 0))
            ended = Ended(taken, written, t, wall_time, cost, completed=taken == plan.steps)
            self.gathered.end(number, ended)
        return True

    def _write_state(self, kept: Any, rows: slice) -> None:
        """Write the states that are reached into these rows."""
        row = 0
        for part in (kept.q, kept.v, kept.work):
            count, _, size = part.shape
            part[:, rows] = self.registers.numbers[row : row + size, :count].T[:, None]
            row += size
