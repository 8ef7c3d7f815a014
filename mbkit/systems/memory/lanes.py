"""Memory for several samples at once, in the lanes of registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.kernels import layout
from mbkit.systems.memory.arrays import SystemArrays

if TYPE_CHECKING:
    from mbkit.kernels.lanes import Lanes

__all__ = ["LanesEquations", "LanesModel", "LanesWorkspace"]

#: Forms of functions by address, with lanes: see `address_in_lanes`.
EVALUATION = "sipppp"
_OF_JOINTS = {
    "motion": "icpppppp", "retract": "icppp", "difference": "icppp", "dexp_inv": "icppp",
}  # fmt: skip


class LanesModel:
    """What all workspaces of a system with as many lanes share.

    Attributes
    ----------
    lanes : Lanes
        Their number.
    bodies : ndarray of BODY
        The model, in which joints have functions for lanes.
    rooms : dict of int to int
        By row, for joints whose function is called for one lane after another: how many numbers it
        wants room for.

    Parameters
    ----------
    arrays : SystemArrays
        The system.
    lanes : Lanes
        Their number.
    steps : bool
        Whether joints have what steps on the group ask of them, besides their motion.
    """

    def __init__(self, arrays: SystemArrays, lanes: Lanes, *, steps: bool = False) -> None:
        self.lanes = lanes
        self.bodies = arrays.bodies.copy()
        self.rooms: dict[int, int] = {}
        self._owners: list[Any] = []
        names = tuple(_OF_JOINTS) if steps else ("motion",)
        for i, joint in enumerate(arrays.joints):
            kernels = None if joint is None or joint.screw_form() else joint.kernels()
            if kernels is not None:  # none that calls Python: see `batch_in_lanes`
                self._install(i, {name: getattr(kernels, name) for name in names})

    def _install(self, i: int, functions: dict[str, Any]) -> None:
        """Let a joint have these functions for lanes: its own, or what calls them one by one."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.joints import lane_by_lane
        from mbkit.kernels.lanes import address_in_lanes

        row: Any = self.bodies[i]
        functions = {name: each for name, each in functions.items() if row[name]}
        if all(getattr(each, "in_lanes", False) for each in functions.values()):
            for name, each in functions.items():
                row[name] = address_in_lanes(each.function, _OF_JOINTS[name], self.lanes)
            return
        # as doubles, which hold addresses exactly; see `_general_forms` of `arrays`
        names = (
            "motion", "parameters", "num_positions", "num_velocities", "retract", "difference",
            "dexp_inv",
        )  # fmt: skip
        parameters = np.array([row[name] for name in names], dtype=np.float64)
        self._owners.append(parameters)
        nq, nv = int(row["num_positions"]), int(row["num_velocities"])
        self.rooms[i] = 2 * nq + nv + lane_by_lane.OUTPUT
        row["parameters"] = array_address(parameters)
        for name in functions:
            function = getattr(lane_by_lane, name)
            row[name] = address_in_lanes(function, _OF_JOINTS[name], self.lanes)


class LanesEquations(NamedTuple):
    """Functions for lanes, by address, and a SPACE that knows of the forces; None: of none."""

    forward_dynamics: int
    sprung_dynamics: int = 0
    no_search: int = 0
    forces: Any = None


class LanesWorkspace:
    """The memory of one caller at a time for batches in lanes, besides his `Workspace`."""

    def __init__(self, arrays: SystemArrays, model: LanesModel) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.lanes import record_of_lanes

        width = model.lanes.width
        nv = int(arrays.bodies[0]["num_velocities"])
        kind = record_of_lanes(layout.SCRATCH, model.lanes)
        rows = 1 + max(len(arrays.bodies), nv)
        self._width = width
        self._bodies = model.bodies
        self._vectors: dict[int, tuple[int, int, Any]] = {}  # size, address, memory
        self._kept: list[Any] = [model]
        scratch = self._lines(rows * kind.size // 8)
        slots = scratch.view(np.int64).reshape((rows, -1))[:, kind.offset("slot") // 8]
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
            size = ndx * record_of_lanes(record, model.lanes).size
            space[name] = array_address(self._lines(size // 8))
        self._places = np.arange(max(ndx, nv))
        space["places"] = array_address(self._places)
        space["velocity_of_column"] = array_address(arrays.velocity_of_column)
        self.address = array_address(self.record)

    def let_move(self, equations: LanesEquations) -> None:
        """Put in what time loops ask for: the equations of a tree under constant efforts `tau`."""
        from mbkit.kernels.compile import array_address

        nv = int(self._bodies[0]["num_velocities"])
        space: Any = self.record[0]
        self.tau, self.time = self.numbers(nv), np.zeros(1)
        space["tau"], space["time"] = array_address(self.tau), array_address(self.time)
        space["forward_dynamics"] = equations.forward_dynamics
        forces = equations.forces
        if forces is None:
            return
        for name in ("num_forces", "linear", "num_linear"):
            space[name] = forces[name]
        space["force_pass"] = equations.forward_dynamics
        space["forward_dynamics"] = equations.sprung_dynamics
        space["force_search"] = equations.no_search
        space["efforts"] = array_address(self.numbers(nv))
        space["powers"] = array_address(self.numbers(layout.NUM_POWERS))

    def numbers(self, size: int) -> Any:
        """Return memory for so many numbers of each sample, (size, width)."""
        width = self._width
        return self._lines(size * width)[: size * width].reshape(size, width)

    def _lines(self, size: int) -> Any:
        """Return zeros in whole lines of the cache, kept as long as the workspace."""
        numbers = _lines(size)
        self._kept.append(numbers)
        return numbers

    def room(self, which: int, size: int) -> int:
        """Return the address of room for the lanes of a vector of that size at least."""
        from mbkit.kernels.compile import array_address

        known, address, kept = self._vectors.get(which, (-1, 0, None))
        if known < size:
            kept = _lines(size * self._width)
            address = array_address(kept)
            self._vectors[which] = size, address, kept
        return address


def _lines(size: int) -> Any:
    from mbkit.kernels.lanes import LINE

    memory = np.zeros(size * 8 + 2 * LINE, dtype=np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + -(-max(size, 1) * 8 // LINE) * LINE].view(np.float64)
