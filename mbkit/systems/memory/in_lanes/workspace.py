"""Memory for several samples at once, in the lanes of registers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.joints import Joint
from mbkit.kernels import layout
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.in_lanes.forces import LanesForces
from mbkit.systems.memory.in_lanes.functions import EVALUATION, address_in_lanes
from mbkit.systems.memory.in_lanes.joints import (
    OF_JOINTS,
    called_one_by_one,
    calls_members,
    is_written_for_lanes,
    room_for_one,
)
from mbkit.systems.memory.packing import packed_mass_matrix
from mbkit.systems.memory.workspace import (
    Workspace,
    install_forces,
    mark_carriers,
    site_rows,
)

if TYPE_CHECKING:
    from mbkit.systems.memory.in_lanes.closure import LanesClosure

__all__ = [
    "EVALUATION",
    "LanesModel",
    "LanesWorkspace",
]


@functools.cache  # numba takes 2 ms to read those of SCRATCH
def record_in_lanes(dtype: np.dtype[Any], lanes: Any) -> Any:
    """Return the record with lanes for doubles."""
    from mbkit.kernels.lanes import record_of_lanes

    return record_of_lanes(dtype, lanes)


@functools.cache  # LLVM takes a quarter of a millisecond to identify the processor
def native_lanes() -> Any:
    """Return as many lanes as the registers of this processor have."""
    from mbkit.kernels.lanes import Lanes, native_width

    return Lanes(native_width())


class LanesModel:
    """Model of a system, shared by all of its workspaces with the same number of lanes.

    Attributes
    ----------
    lanes : Lanes or Dual
        Their number; or dual numbers, for which functions are compiled as they are for lanes.
    arrays : SystemArrays
        The system.
    bodies : ndarray of BODY
        The model, in which joints have functions for lanes.
    rooms : dict of int to int
        By row, for joints whose function is called for one lane after another: how many numbers it
        wants room for.

    Parameters
    ----------
    arrays : SystemArrays
        The system.
    lanes : Lanes or Dual
        As above.
    functions : tuple of str
        Those of joints that are called, by their names in `JointKernels`.
    space : type, optional
        Of addresses of a SPACE, where it is another one than `LanesAddress`.
    """

    def __init__(
        self,
        arrays: SystemArrays,
        lanes: Any,
        *,
        functions: tuple[str, ...] = ("motion",),
        space: Any = None,
    ) -> None:
        self.lanes = lanes
        self.arrays = arrays
        self._space = space
        self._in_order: dict[int, tuple[int, int]] = {}
        self._plans: dict[int, tuple[Any, Any]] = {}
        self.bodies = arrays.bodies.copy()
        self.rooms: dict[int, int] = {}
        self._owners: list[Any] = []
        for i, joint in enumerate(arrays.joints):
            if joint is None or joint.screw_form():
                continue
            kernels = joint.kernels()
            if kernels is not None:  # none that calls Python: see `batch_in_lanes`
                self._install(i, joint, {name: getattr(kernels, name) for name in functions})

    def address_of(self, function: Callable[..., Any], form: str) -> int:
        """Return the address of a function compiled for the lanes; the first look compiles it."""
        return address_in_lanes(function, form, self.lanes, self._space)

    def plan(self, plan: int) -> int:
        """Return the address of a PLAN for lanes; the first call compiles its functions.

        Of one for doubles, by its address, whose pieces have motions that are written for lanes.
        """
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.higher_orders.pieces import joint_columns

        pieces = self.arrays.joint_pieces
        if pieces.are_none:
            return plan
        if plan not in self._plans:
            record, table = (each.copy() for each in pieces.record_of(plan))
            for row, motion in zip(table, pieces.motions, strict=False):
                if motion is not None:
                    row["motion"] = self.address_of(motion.function, OF_JOINTS["motion"])
            record["pieces"] = array_address(table)
            record["columns"] = self.address_of(joint_columns.function, "siippp")
            self._plans[plan] = record, table
        return array_address(self._plans[plan][0])

    @functools.cached_property
    def packed(self) -> tuple[int, int]:
        """The address of the offsets of a packed mass matrix, and how many numbers it has."""
        offsets, count = packed_mass_matrix(self.arrays)
        return self._listed(offsets), count

    def in_order(self, size: int) -> tuple[int, int]:
        """Return the same of results that lie in memory as they are to be read."""
        if size not in self._in_order:
            self._in_order[size] = self._listed(np.arange(size)), size
        return self._in_order[size]

    def _listed(self, offsets: Any) -> int:
        """Return the address of offsets counted in numbers."""
        from mbkit.kernels.compile import array_address

        offsets = offsets * self.lanes.width
        self._owners.append(offsets)
        return array_address(offsets)

    def _install(self, i: int, joint: Joint, functions: dict[str, Any]) -> None:
        """Let a joint have these functions for lanes: its own, or calls lane by lane."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.joints import lane_by_lane

        row: Any = self.bodies[i]
        functions = {name: each for name, each in functions.items() if row[name]}
        if all(is_written_for_lanes(joint, name) for name in functions):
            self._install_own(i, joint, functions)
            return
        parameters = called_one_by_one(row)
        self._owners.append(parameters)
        self.rooms[i] = room_for_one(row)
        row["parameters"] = array_address(parameters)
        for name in functions:
            row[name] = self.address_of(getattr(lane_by_lane, name), OF_JOINTS[name])

    def _install_own(self, i: int, joint: Joint, functions: dict[str, Any]) -> None:
        """Let a joint have its own functions for lanes, with those of its members."""
        from mbkit.kernels.compile import array_address

        def address(name: str, function: Any) -> int:
            wanted = name in functions and function is not None
            return self.address_of(function.function, OF_JOINTS[name]) if wanted else 0

        row: Any = self.bodies[i]
        for name, each in functions.items():
            row[name] = address(name, each)
        if calls_members(joint):
            parameters = joint.parameters_with(address)
            self._owners.append(parameters)
            row["parameters"] = array_address(parameters)

    @functools.cached_property
    def forces(self) -> LanesForces:
        """All forces that are called for their sum."""
        return LanesForces(self, self.arrays.forces.order[:-1])

    @functools.cached_property
    def forces_of_runs(self) -> LanesForces:
        """Those that time loops call; they compute the others in place."""
        forces = self.arrays.forces
        return LanesForces(self, forces.order[forces.num_fields : forces.num_called])


class LanesWorkspace:
    """The memory of one caller at a time for batches in lanes, besides his `Workspace`."""

    def __init__(self, arrays: SystemArrays, model: LanesModel) -> None:
        from mbkit.kernels.compile import array_address

        width = model.lanes.bitwidth // 64  # doubles that have as much room
        nv = int(arrays.bodies[0]["num_velocities"])
        kind = record_in_lanes(layout.SCRATCH, model.lanes)
        rows = 1 + max(len(arrays.bodies), nv)
        self._width = width
        self._model = model
        self._vectors: dict[int, tuple[int, int, Any]] = {}  # size, address, memory
        self._kept: list[Any] = [model]
        scratch = self._lines(rows * kind.size // 8)
        integers = scratch.view(np.int64).reshape((rows, -1))
        self._carries = integers[:, kind.offset("carries") // 8]
        self._slots = slots = integers[:, kind.offset("slot") // 8]
        slots[0] = array_address(self._lines(layout.STAGE_SIZE * width))
        for i, room in model.rooms.items():
            slots[i] = array_address(self._lines(room))
        self.record = np.zeros(1, layout.SPACE)
        space: Any = self.record[0]
        space["bodies"] = array_address(model.bodies)
        space["num_bodies"] = len(model.bodies)
        space["scratch"] = array_address(scratch)
        space["num_rows"] = rows
        space["frames"] = array_address(arrays.frames)
        space["num_frames"] = len(arrays.frames)
        space["rest"] = array_address(self._lines(nv * width))
        space["columns"] = array_address(self._lines(arrays.size_of_columns * width))
        ndx = max(1, int(arrays.bodies[0]["ndx"]))
        for name, record in (("directions", layout.DIRECTION), ("changes", layout.CHANGE)):
            size = ndx * record_in_lanes(record, model.lanes).size
            space[name] = array_address(self._lines(size // 8))
        self._column_of = np.arange(max(ndx, nv))
        space["column_of"] = array_address(self._column_of)
        space["velocity_of_column"] = array_address(arrays.velocity_of_column)
        self.address = array_address(self.record)
        self.closure: LanesClosure | None = None
        self.forces: LanesForces | None = None
        self.trial: Any = None
        self._alone: Workspace | None = None

    def let_move(self, forward_dynamics: int, project: int = 0) -> None:
        """Put in the functions that time loops call: the equations under constant efforts `tau`.

        `project` is the address of a kernel that brings the end of a step back to the constraints.
        """
        from mbkit.kernels.compile import array_address

        nv = int(self._model.bodies[0]["num_velocities"])
        space: Any = self.record[0]
        self.tau, self.time = self.numbers(nv), self.numbers(1)
        space["tau"], space["time"] = array_address(self.tau), array_address(self.time)
        space["forward_dynamics"], space["project"] = forward_dynamics, project
        if self._model.arrays.forces.forces:
            self.let_act(self._model.forces_of_runs)

    def let_act(self, forces: LanesForces) -> None:
        """Put in the forces, unless they are there."""
        from mbkit.kernels.compile import array_address

        space: Any = self.record[0]
        if space["num_forces"]:
            return
        self.forces = forces
        arrays, lanes = self._model.arrays, self._model.lanes
        install_forces(space, arrays.forces, forces.table, forces.springs)
        kind, own = record_in_lanes(layout.SITE, lanes), site_rows(arrays)
        sites = self._lines(len(own) * kind.size // 8)
        integers = sites.view(np.int64).reshape((len(own), -1))
        for name in ("row", "frame"):
            integers[:, kind.offset(name) // 8] = own[name]
        space["sites"] = array_address(sites)
        moved = own["row"][: arrays.forces.num_moved]
        mark_carriers(self._carries, arrays, moved, forces.springs[:-1])
        space["force_pass"], space["force_search"] = forces.force_pass, forces.search
        nv = int(self._model.bodies[0]["num_velocities"])
        space["efforts"] = array_address(self.numbers(nv))
        space["powers"] = array_address(self.numbers(layout.NUM_POWERS))

    def close(self, closure: LanesClosure) -> None:
        """Put in the functions for kernels that evaluate constraints."""
        from mbkit.kernels.compile import array_address

        self.closure = closure
        self.time = self.numbers(1)
        space: Any = self.record[0]
        space["closure"], space["time"] = closure.address, array_address(self.time)
        arrays = self._model.arrays
        mark_carriers(self._carries, arrays, arrays.closure.sites["row"])

    def numbers(self, size: int) -> Any:
        """Return memory for so many numbers of each sample, (size, width)."""
        width = self._width
        found = self._lines(size * width)[: size * width].reshape(size, width)
        self._kept.append(found)  # Python finds it again by its address while it lives
        return found

    def address_of(self, rows: Any) -> int:
        """Return the address of some of these numbers, where Python too finds them again.

        Empty arrays have no place of their own: other arrays begin at their addresses.
        """
        from mbkit.kernels.compile import array_address

        kept = rows.reshape(-1) if rows.size else self.numbers(1)
        self._kept.append(kept)
        return array_address(kept)

    def _lines(self, size: int) -> Any:
        """Return zeros in whole lines of the cache, kept as long as the workspace."""
        numbers = lines(size)
        self._kept.append(numbers)
        return numbers

    def let_find(self, i: int, slot: Any) -> None:
        """Let the joint of a row find its arguments at an address."""
        self._slots[i] = slot

    def have_trial(self, size: int) -> None:
        """Have memory for states and steps beside those that are given."""
        from mbkit.kernels.derivatives.joints.changes_in_turn import PARTS

        self.trial = self.numbers(size + PARTS)
        space: Any = self.record[0]
        space["trial"] = self.address_of(self.trial)

    def let_joints_change(self, alone: Workspace) -> None:
        """Let kernels find how motion subspaces change, for one sample after another.

        In the memory of one sample, which nobody else uses meanwhile: see
        `mbkit.kernels.derivatives.joints.changes_in_turn`.
        """
        from mbkit.kernels.derivatives.joints.changes_in_turn import BITS, PARTS

        self._alone = alone
        parts = [(alone.address >> BITS * k) % (1 << BITS) for k in range(PARTS)]
        self.trial[-PARTS:] = np.array(parts)[:, None]

    def room(self, which: int, size: int) -> int:
        """Return the address of room for the lanes of a vector of that size at least."""
        known, address, kept = self._vectors.get(which, (-1, 0, None))
        if known < size:
            from mbkit.kernels.compile import array_address

            kept = lines(size * self._width)
            address = array_address(kept)
            self._vectors[which] = size, address, kept
        return address


def lines(size: int) -> Any:
    """Return zeros, as many numbers or more, in whole lines of the cache."""
    from mbkit.kernels.lanes import LINE

    memory = np.zeros(size * 8 + 2 * LINE, dtype=np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + -(-max(size, 1) * 8 // LINE) * LINE].view(np.float64)
