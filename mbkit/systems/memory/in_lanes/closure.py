"""The constraints of a system for several samples at once: shared arrays, and memory."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels.constraints import layout
from mbkit.kernels.layout import SCRATCH, SCREW
from mbkit.systems.memory.closure import ClosureArrays, ClosureMemory
from mbkit.systems.memory.in_lanes.functions import address_in_lanes, is_for_lanes
from mbkit.systems.memory.in_lanes.joints import called_one_by_one, calls_members, room_for_one
from mbkit.systems.memory.in_lanes.workspace import (
    lines,
    record_in_lanes,
)
from mbkit.systems.memory.on_duals.forms import forms_on_duals, moves_on_duals
from mbkit.systems.memory.on_duals.loop_joints import DualJoints, OwnNumbers

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.representations import Representation

#: Forms of functions by address, with lanes: see `address_in_lanes`.
_CONSTRAINT = "sitpp"
_MOTION = "icpppppp"
_OF_ONE_VECTOR = "icpp"
_EVALUATION = "sipppp"
_PREPARE = "s"
_RESOLVE = "spp"
_REDUCE = "sp"


def solves_in_lanes(arrays: ClosureArrays) -> bool:
    """Return whether multipliers are found in lanes: by mbkit's functions."""
    from mbkit.kernels.constraints.solve.dense import prepare_dense
    from mbkit.kernels.constraints.solve.schur_complement import prepare_nested, prepare_schur

    return arrays.solver_kernels().prepare in (prepare_schur, prepare_nested, prepare_dense)


def is_dual(arrays: ClosureArrays) -> bool:
    """Return whether all constraints are written for numbers that branch as doubles do.

    But for those in Python.
    """
    kernels = (each.kernel() for each in arrays.objects)
    return all(map(_is_dual_joint, arrays.joint_rows, arrays.joints)) and all(
        each is None or is_for_lanes(each) for each in kernels
    )


def _is_dual_joint(row: Any, joint: Joint | None) -> bool:
    if joint is None or row["kind"] == SCREW or not row["num_velocities"]:
        return True
    return moves_on_duals(joint)


def is_in_lanes(arrays: ClosureArrays) -> bool:
    """Return whether all constraints, besides loop joints, are written for lanes."""
    return all(is_for_lanes(each.kernel()) for each in arrays.objects)


class LanesClosureModel:
    """Constraints of a system, shared by all of its workspaces with the same number of lanes.

    Attributes
    ----------
    arrays : ClosureArrays
        The constraints.
    lanes : Lanes or Dual
        Their number; or dual numbers, for which functions are compiled as they are for lanes.
    representation : Representation
        That of the system.
    constraint_rows : int
        The address of the function that computes the rows of all constraints.
    constraints : ndarray of CONSTRAINT
        With functions for lanes.
    joints : ndarray of BODY
        The joints that close loops, with functions for lanes.
    rooms : dict of int to int
        By row of these: how many numbers its functions want room for.
    own : dict of int to OwnNumbers
        By row of these: the parameters of functions for dual numbers.
    """

    def __init__(self, arrays: ClosureArrays, lanes: Any, representation: Representation) -> None:
        from mbkit.kernels.constraints.evaluate import constraint_rows
        from mbkit.kernels.constraints.kinds.form import CONSTRAINT_FORM

        assert len(CONSTRAINT_FORM) == len(_CONSTRAINT)
        self.arrays = arrays
        self.lanes = lanes
        self._representation = representation
        rows = constraint_rows.function
        self.constraint_rows = address_in_lanes(rows, _EVALUATION, lanes)
        self.constraints = arrays.constraints.copy()
        for k, each in enumerate(arrays.objects, arrays.num_joints):
            kernel: Any = each.kernel()
            if kernel is None:  # in Python, where nothing but numbers is dual
                continue
            address = address_in_lanes(kernel.function, _CONSTRAINT, lanes)
            self.constraints[k]["function"] = address
        self.joints = arrays.joint_rows.copy()
        self.rooms: dict[int, int] = {}
        self.own: dict[int, OwnNumbers] = {}
        self._owners: list[Any] = []
        for i, joint in enumerate(arrays.joints):
            row = self.joints[i]
            if joint is not None and row["kind"] != SCREW and row["num_velocities"]:
                self._install(i, joint)

    @functools.cached_property
    def functions(self) -> Mapping[str, int]:
        """The addresses of the functions that compute multipliers; see `CLOSURE`."""
        from mbkit.kernels.constraints.solve.dynamics import free_motion_and_rows

        own, solver = self._representation, self.arrays.solver_kernels()
        functions: dict[str, tuple[Any, str]] = {
            "free_dynamics": (own.kernel("forward_dynamics"), _EVALUATION),
            "linearise": (free_motion_and_rows, _EVALUATION),
            "move_sites": (own.kernel("constraint_sites"), _EVALUATION),
            "respond": (own.kernel("constraint_response"), _EVALUATION),
            "spread": (own.kernel("constraint_motion"), _EVALUATION),
            "prepare": (solver.prepare, _PREPARE),
            "resolve": (solver.resolve, _RESOLVE),
        }
        if solver.reduce is not None:
            functions["reduce"] = solver.reduce, _REDUCE
        if self.arrays.propagations is not None:
            functions["eliminate_inward"] = own.kernel("constraint_elimination"), _EVALUATION
            functions["solve_nested"] = own.kernel("constraint_solution"), _EVALUATION
        return {
            name: address_in_lanes(each.function, form, self.lanes)
            for name, (each, form) in functions.items()
        }

    @functools.cached_property
    def functions_of_prescribed(self) -> Mapping[str, int]:
        """The addresses of the functions called besides where some accelerations are prescribed."""
        from mbkit.kernels.constraints.solve.strategy import gather_response

        hybrid = self._representation.kernel("hybrid_dynamics")
        gather = self.arrays.solver_kernels().gather or gather_response
        return {
            "hybrid_dynamics": address_in_lanes(hybrid.function, _EVALUATION, self.lanes),
            "gather": address_in_lanes(gather.function, _REDUCE, self.lanes),
        }

    def _install(self, i: int, joint: Joint) -> None:
        """Let a joint have functions for lanes: a motion of its own, or one called lane by lane."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.joints import lane_by_lane

        row: Any = self.joints[i]
        if self.lanes.branches:
            functions, self.own[i] = forms_on_duals(row, joint)
            for name, address in functions.items():
                row[name] = address
            return
        kernels = joint.kernels()
        assert kernels is not None  # none that calls Python: see `batch_in_lanes`
        one_by_one = called_one_by_one(row)
        self._owners.append(one_by_one)
        self.rooms[i] = room_for_one(row)
        motion: Any = kernels.motion
        if calls_members(joint) or not is_for_lanes(motion):
            motion = lane_by_lane.motion
            row["parameters"] = array_address(one_by_one)
        row["motion"] = address_in_lanes(getattr(motion, "function", motion), _MOTION, self.lanes)
        for name in ("constraint_wrenches", "configuration_from_pose"):
            function = getattr(lane_by_lane, name)
            row[name] = address_in_lanes(function, _OF_ONE_VECTOR, self.lanes)
        for name in ("wrench_parameters", "configuration_from_pose_parameters"):
            row[name] = array_address(one_by_one)


def write_sites(model: LanesClosureModel, memory: Any) -> None:
    """Write into memory which row carries each site, and where; the same in all lanes."""
    kind, width = record_in_lanes(layout.CONSTRAINT_SITE, model.lanes), model.lanes.width
    given = model.arrays.sites
    rows = memory.reshape(len(given), -1)
    rows.view(np.int64)[:, kind.offset("row") // 8] = given["row"]
    for name, count in (("place_R", 9), ("place_p", 3)):
        first = kind.offset(name) // 8
        everywhere = np.repeat(given[name].reshape(-1, count), width, axis=1)
        rows[:, first : first + count * width] = everywhere


class LanesClosure:
    """Memory of one workspace for lanes to look at the constraints of its system, and to solve.

    Parameters
    ----------
    model : LanesClosureModel
        The arrays that it shares with others.
    memory : ClosureMemory
        That of a workspace for one sample, of which there are as many numbers in each lane.
    """

    def __init__(self, model: LanesClosureModel, memory: ClosureMemory) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.constraints.solve.dense_calls import memory_alone
        from mbkit.kernels.lanes import ADDRESSES

        width = model.lanes.width
        self._kept: list[Any] = [model, memory]
        self.record = memory.record.copy()
        closure: Any = self.record[0]
        for name, numbers in memory.numbers.items():
            if name in ADDRESSES:
                closure[name] = array_address(self._lines(numbers.nbytes // 8 * width))
        dense = model.arrays.solver_kernels().dense
        if dense is not None:
            nv, m = model.arrays.num_velocities, model.arrays.num_rows
            closure["num_alone"] = memory_alone(nv, m, dense.memory)
            closure["memory"] = array_address(self._lines(int(closure["num_alone"]) * width))
        self._blocks = memory.blocks.copy()  # the kernels write ranks there
        closure["blocks"] = array_address(self._blocks)
        for name in ("constraints", "joints"):
            closure[name] = array_address(getattr(model, name))
        if model.lanes.branches:
            joints = DualJoints(model.joints, model.arrays.joints, self._rows_of_lines, model.own)
            closure["joints"] = joints.put(joints.numbers)
        closure["constraint_rows"] = model.constraint_rows
        closure["sites"] = self._sites(model)
        closure["joint_scratch"] = self._joint_scratch(model)
        self.address = array_address(self.record)

    def let_solve(self, functions: Mapping[str, int]) -> None:
        """Put in the functions for lanes that find multipliers, by their addresses."""
        closure: Any = self.record[0]
        for name, address in functions.items():
            closure[name] = address

    def _lines(self, size: int) -> Any:
        found = lines(size)
        self._kept.append(found)
        return found

    def _rows_of_lines(self, size: int) -> Any:
        from mbkit.kernels.duals import DUAL

        return self._lines(size * DUAL.width)[: size * DUAL.width].reshape(size, DUAL.width)

    def _sites(self, model: LanesClosureModel) -> int:
        """Return the address of the sites: which row, and where, the same in all lanes."""
        from mbkit.kernels.compile import array_address

        size = len(model.arrays.sites) * record_in_lanes(layout.CONSTRAINT_SITE, model.lanes).size
        memory = self._lines(size // 8)
        write_sites(model, memory[: size // 8])
        return array_address(memory)

    def _joint_scratch(self, model: LanesClosureModel) -> int:
        """Return the address of the memory of the joints that close loops."""
        from mbkit.kernels.compile import array_address

        kind = record_in_lanes(SCRATCH, model.lanes)
        memory = self._lines(len(model.joints) * kind.size // 8)
        slots = memory.view(np.int64)[kind.offset("slot") // 8 :: kind.size // 8]
        for i, room in model.rooms.items():
            slots[i] = array_address(self._lines(room))
        return array_address(memory)
