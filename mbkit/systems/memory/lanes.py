"""Memory for several samples at once, in the lanes of registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels import layout
from mbkit.systems.memory.arrays import SystemArrays

if TYPE_CHECKING:
    from mbkit.kernels.lanes import Lanes

__all__ = ["LanesModel", "LanesWorkspace"]

#: Forms of functions by address, with lanes: see `address_in_lanes`.
EVALUATION = "sipppp"
_MOTION = "icpppppp"


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
    """

    def __init__(self, arrays: SystemArrays, lanes: Lanes) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.joints import lane_by_lane
        from mbkit.kernels.lanes import address_in_lanes

        self.lanes = lanes
        self.bodies = arrays.bodies.copy()
        self.rooms: dict[int, int] = {}
        self._owners: list[Any] = []
        for i, joint in enumerate(arrays.joints):
            kernels = None if joint is None or joint.screw_form() else joint.kernels()
            if kernels is None:  # none that calls Python: see `batch_in_lanes`
                continue
            row = self.bodies[i]
            function: Any = kernels.motion
            if getattr(function, "in_lanes", False):
                row["motion"] = address_in_lanes(function.function, _MOTION, lanes)
                continue
            sizes = int(row["num_positions"]), int(row["num_velocities"])
            # as doubles, which hold addresses exactly; see `_general_forms` of `arrays`
            parameters = np.array([row["motion"], row["parameters"], *sizes], dtype=np.float64)
            self._owners.append(parameters)
            self.rooms[i] = sum(sizes) + lane_by_lane.OUTPUT
            row["parameters"] = array_address(parameters)
            row["motion"] = address_in_lanes(lane_by_lane.motion, _MOTION, lanes)


class LanesWorkspace:
    """The memory of one caller at a time for batches in lanes, besides his `Workspace`."""

    def __init__(self, arrays: SystemArrays, model: LanesModel) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.lanes import record_of_lanes

        width = model.lanes.width
        nv = int(arrays.bodies[0]["num_velocities"])
        kind = record_of_lanes(layout.WORK, model.lanes)
        rows = 1 + max(len(arrays.bodies), nv)
        self._width = width
        self._vectors: dict[int, Any] = {}
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
        space["columns"] = array_address(self._lines(layout.COLUMN_SIZE * nv * width))
        space["velocity_of_column"] = array_address(arrays.velocity_of_column)
        self.address = array_address(self.record)

    def _lines(self, size: int) -> Any:
        """Return zeros in whole lines of the cache, kept as long as the workspace."""
        numbers = _lines(size)
        self._kept.append(numbers)
        return numbers

    def room(self, which: int, size: int) -> int:
        """Return the address of room for the lanes of a vector of that size at least."""
        from mbkit.kernels.compile import array_address

        size *= self._width
        if which not in self._vectors or len(self._vectors[which]) < size:
            self._vectors[which] = _lines(size)
        return array_address(self._vectors[which])


def _lines(size: int) -> Any:
    from mbkit.kernels.lanes import LINE

    memory = np.zeros(size * 8 + 2 * LINE, dtype=np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + -(-max(size, 1) * 8 // LINE) * LINE].view(np.float64)
