"""Scratch memory for one call, and the one record of addresses that a kernel is given."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.joints import Joint
from mbkit.kernels import layout
from mbkit.kernels.layout import CARRIES, COMMON
from mbkit.systems.memory.arrays import SystemArrays, python_joint_rows
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.closure import ClosureMemory
from mbkit.systems.memory.forces import ForceArrays, PythonForceSlot
from mbkit.systems.memory.python_joint import PythonJointSlot

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluator import Evaluator

__all__ = ["Workspace", "install_forces", "mark_carriers", "site_rows", "spring_rows"]

#: Changes of one joint, behind those of all: see `mbkit.kernels.derivatives.second_order`.
_ROOM = 6

_COUNTS = ("num_positions", "num_velocities", "ndx")


class Workspace:
    """The memory of one caller at a time; a system keeps a pool of them.

    Attributes
    ----------
    address : int
        The first argument of every kernel.
    scratch : ndarray of SCRATCH
        Results of the last kernel.
    slots, loop_slots : dict of int to PythonJointSlot
        By row: the joints that are called back; those that close loops.
    force_slots : dict of int to PythonForceSlot
        By row: the forces that are called back.
    """

    def __init__(self, arrays: SystemArrays, evaluator: Evaluator) -> None:
        from mbkit.kernels.compile import array_address

        totals = arrays.bodies[0]
        nv = int(totals["num_velocities"])
        self.scratch = np.zeros(1 + max(len(arrays.bodies), nv), layout.SCRATCH)
        self.stage = np.zeros(layout.STAGE_SIZE)
        self.tau = np.zeros(nv)
        self.rest = np.zeros(nv)
        ndx = max(1, int(totals["ndx"]))
        self.columns = _aligned(arrays.size_of_columns)
        self.directions = np.zeros(ndx, layout.DIRECTION)
        self.changes = np.zeros(ndx + _ROOM, layout.CHANGE)
        # and six addresses behind, three each: see `let_joints_change`, `let_steps_change`
        self.trial = np.zeros(6 + sum(int(totals[count]) for count in _COUNTS))
        self._dual: Any = None
        self._dual_steps: Any = None
        self.column_of = np.arange(max(ndx, nv))
        self.scratch[0]["slot"] = array_address(self.stage)
        self.slots: dict[int, PythonJointSlot] = {}
        self.loop_slots: dict[int, PythonJointSlot] = {}
        self._install_joints(arrays.joints, self.scratch, self.slots)
        self.record = np.zeros(1, layout.SPACE)
        space: Any = self.record[0]
        space["bodies"] = array_address(arrays.bodies)
        space["num_bodies"] = len(arrays.bodies)
        space["scratch"] = array_address(self.scratch)
        space["num_rows"] = len(self.scratch)
        space["frames"] = array_address(arrays.frames)
        space["num_frames"] = len(arrays.frames)
        space["tau"] = array_address(self.tau)
        space["rest"] = array_address(self.rest)
        space["columns"] = array_address(self.columns)
        space["velocity_of_column"] = array_address(arrays.velocity_of_column)
        space["directions"] = array_address(self.directions)
        space["changes"] = array_address(self.changes)
        space["trial"] = array_address(self.trial)
        space["column_of"] = array_address(self.column_of)
        if totals["ndx"] != totals["num_velocities"]:
            from mbkit.kernels.configuration import rates

            space["rates"] = rates.address
        self.address = array_address(self.record)
        self.time = np.zeros(1)
        space["time"] = array_address(self.time)
        self._arrays = arrays
        self.closure: ClosureMemory | None = None
        if arrays.closure:
            self.closure = ClosureMemory(arrays.closure, totals, evaluator)
            space["closure"] = self.closure.address
            self._install_joints(arrays.closure.joints, self.closure.joint_scratch, self.loop_slots)
            mark_carriers(self.scratch["carries"], arrays, self.closure.sites["row"])
        self.force_slots: dict[int, PythonForceSlot] = {}
        if arrays.forces.forces:
            self._install_forces(space)

    def exchange(self, arrays: SystemArrays) -> None:
        """Let kernels read other numbers of the same tree, of which no part is in Python."""
        from mbkit.kernels.compile import array_address

        space: Any = self.record[0]
        self._arrays = arrays
        self._dual, self._dual_steps, self.trial[-6:] = None, None, 0.0
        for name in ("bodies", "frames", "velocity_of_column"):
            space[name] = array_address(getattr(arrays, name))
        if arrays.forces.forces:
            self._install_forces(space)

    def stabilise(self, *, project: bool, stiffness: float = 0.0, damping: float = 0.0) -> None:
        """Keep loops closed in time loops: after each step, or by accelerations that pull them."""
        if self.closure is not None:
            from mbkit.kernels.constraints.solve.projection import project as projection

            self.record[0]["project"] = projection.address if project else 0
            self.closure.record[0]["stiffness"] = stiffness
            self.closure.record[0]["damping"] = damping

    def let_joints_change(self, evaluator: Evaluator) -> Workspace:
        """Let kernels find how motion subspaces change by dual numbers, exact; return itself.

        Without that they take differences. The evaluator, whose workspace it is, has the model for
        dual numbers.
        """
        if self._dual is None and self._arrays.joints_vary:
            self._dual, self.trial[-6:-3] = evaluator.dual_model.let_joints_change()
        return self

    def let_steps_change(self, evaluator: Evaluator) -> Workspace:
        """Let kernels differentiate the rates of steps by dual numbers, exact; return itself.

        Without that they take differences.
        """
        from mbkit.kernels.compile import UNCOMPILED

        if self._dual_steps is None and not UNCOMPILED:
            self._dual_steps, self.trial[-3:] = evaluator.dual_model.let_steps_change()
        return self

    def slot_of(self, row: int) -> Any:
        """Return the slot of a joint in Python, None of others; on dual numbers, where that ended.

        As of `failure`: where a call did not come to its end.
        """
        dual = None if self._dual is None else self._dual.joint_slots.get(row)
        is_left = dual is not None and (dual.error is not None or dual.is_left)
        return dual if is_left else self.slots.get(row)

    def install_free_dynamics(self, address: int) -> None:
        """Let the tree move otherwise than by the representation's own forward dynamics."""
        if self.closure is None:
            self.record[0]["forward_dynamics"] = address
        else:
            self.closure.record[0]["free_dynamics"] = address

    def _install_joints(
        self,
        joints: tuple[Joint | None, ...],
        scratch: Any,
        slots: dict[int, PythonJointSlot],
    ) -> None:
        """Give a slot to each joint that is in Python."""
        from mbkit.kernels.compile import array_address

        for i in python_joint_rows(joints):
            joint = joints[i]
            assert joint is not None  # the world has none
            slot = PythonJointSlot(joint)
            address = array_address(slot.memory)
            scratch[i]["slot"] = address
            slots[i] = slot
            weakref.finalize(self, register(address, slot))

    def _install_forces(self, space: Any) -> None:
        """Let the record point to the forces, and to a slot for each that is in Python."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.forces.force_pass import force_pass, force_search

        forces = self._arrays.forces
        self.force_table = forces.table.copy()
        for k, force in enumerate(forces.forces):
            if force.kernels() is None:
                slot = PythonForceSlot(force, forces.joints[k], forces.bodies[k])
                address = array_address(slot.memory)
                self.force_table[k]["slot"] = address
                self.force_slots[k] = slot
                weakref.finalize(self, register(address, slot))
        self.efforts = np.zeros(len(self.tau))
        self.powers = np.zeros(layout.NUM_POWERS)
        self.sites = site_rows(self._arrays)
        self.springs = spring_rows(self._arrays)
        install_forces(space, forces, self.force_table, self.springs)
        space["sites"] = array_address(self.sites)
        mark_carriers(
            self.scratch["carries"], self._arrays,
            self.sites["row"][: forces.num_moved], self.springs[:-1],
        )  # fmt: skip
        space["force_pass"] = force_pass.address
        space["force_search"] = force_search.address
        space["efforts"] = array_address(self.efforts)
        space["powers"] = array_address(self.powers)


def install_forces(space: Any, forces: ForceArrays, table: Any, springs: Any) -> None:
    """Let a SPACE point to the arrays of forces that all its samples share."""
    from mbkit.kernels.compile import array_address

    space["force_table"], space["num_forces"] = array_address(table), len(table)
    space["force_order"] = array_address(forces.order)
    space["num_ordered"] = len(forces.order) - 1
    space["num_called"] = forces.num_called
    space["num_fields"] = forces.num_fields
    space["field"] = forces.field
    space["linear"], space["num_linear"] = array_address(forces.linear), len(forces.linear) - 1
    space["springs"], space["num_springs"] = array_address(springs), len(forces.springs)
    space["num_sites"], space["num_moved"] = len(forces.sites), forces.num_moved


def mark_carriers(carries: Any, arrays: SystemArrays, rows: Any, springs: Any = ()) -> None:
    """Mark the rows whose poses in the world are needed.

    Of a site, all from its row to the world; of a spring, all from its ends to the first row
    that both hang on.
    """
    parent = arrays.bodies["parent"].tolist()
    ends = [(int(spring["row_a"]), int(spring["row_b"])) for spring in springs]
    moved, common = _carriers(parent, rows.tolist(), ends)
    carries[moved] = CARRIES
    for row in common:
        if not carries[row]:
            carries[row] = COMMON


def _aligned(size: int) -> Any:
    """Return zeros that begin where a line of the cache does: eight numbers are read at once."""
    numbers = np.zeros(size + 7)
    first = -(numbers.ctypes.data // 8) % 8
    return numbers[first : first + size]


def _carriers(
    parent: list[int], sites: list[int], springs: list[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    """Return the rows on the paths of sites to the world and of springs between their ends.

    Then those where the two support paths of a spring meet, but for the world. Each row is seen
    once, from the tips inwards, and of two groups of springs that meet the smaller one joins the
    larger: on a chain of n bodies all support paths have some n^2 rows.
    """
    to_world = {*sites}
    beyond: dict[int, set[int]] = {}  # by row: springs with one end there or farther out
    common = set()
    for k, (a, b) in enumerate(springs):
        if a == b:
            common.add(a)
            continue
        for end in (a, b):
            beyond.setdefault(end, set()).add(k)
    moved = []
    for row in range(len(parent) - 1, 0, -1):  # parents come first
        up = parent[row]
        if row in to_world:
            to_world.add(up)
        own = beyond.pop(row, None)
        if own or row in to_world:
            moved.append(row)
        if own:
            there = beyond.get(up, set())
            few, many = (own, there) if len(own) < len(there) else (there, own)
            if not few.isdisjoint(many):
                common.add(up)
            many ^= few
            beyond[up] = many
    return moved, sorted(common - {0})


def site_rows(arrays: SystemArrays) -> Any:
    """Return SITE rows, one more than there are: an empty array has no address of its own."""
    sites = np.zeros(len(arrays.forces.sites) + 1, layout.SITE)
    sites["frame"][:-1] = arrays.forces.sites
    sites["row"] = arrays.frames["row"][sites["frame"]]
    return sites


def spring_rows(arrays: SystemArrays) -> Any:
    """Return SPRING rows, one more than there are: an empty array has no address of its own."""
    forces = arrays.forces
    springs = np.zeros(len(forces.springs) + 1, layout.SPRING)
    names = forces.names
    for spring, k in zip(springs, forces.springs, strict=False):
        numbers = forces.parameters[names[k]]
        spring["stiffness"], spring["rest"], spring["damping"] = numbers[:3]
        ends = zip(
            "ab", forces.sites[forces.bodies[k][:2]], numbers[3:9].reshape(2, 3), strict=True
        )
        for end, site, point in ends:
            frame = arrays.frames[site]
            spring[f"row_{end}"] = frame["row"]
            spring[f"point_{end}"] = frame["R"] @ point + frame["p"]
    return springs
