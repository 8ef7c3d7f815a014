"""Memory for samples in lanes of which each has its own model: `mbkit.kernels.simd.own_models`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from mbkit.joints import Joint
from mbkit.kernels import layout
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.in_lanes.workspace import LanesModel, LanesWorkspace, record_in_lanes
from mbkit.systems.memory.workspace import spring_rows

__all__ = ["ModelsInLanes", "differ_in_numbers"]

#: Fields of two models that are not compared, besides their own numbers.
_ADDRESSES = (
    "floating", "parameters", "wrench_parameters", "configuration_from_pose_parameters", "own_frame"
)  # fmt: skip


def differ_in_numbers(one: SystemArrays, other: SystemArrays) -> bool:
    """Return whether two trees with the same joints differ only in numbers that lanes can hold.

    That is masses, gravity and numbers of forces; not which of these a table in place computes.
    """
    from mbkit.kernels.simd.own_models import OF_BODIES

    names = [x for x in layout.BODY.names or () if x not in (*OF_BODIES, *_ADDRESSES)]
    of_bodies = (
        (one.bodies[names] == other.bodies[names]).all()
        and all(map(_move_alike, one.joints, other.joints))
        and all(map(_stand_alike, one.bodies, other.bodies))
    )
    if not (of_bodies and one.forces.forces):
        return bool(of_bodies)
    a, b = one.forces, other.forces
    return (
        np.array_equal(a.order, b.order)
        and np.array_equal(a.field, b.field)
        and np.array_equal(a.table["num_parameters"], b.table["num_parameters"])
        and np.array_equal(a.table["function"], b.table["function"])
        and all(np.array_equal(a.linear[x], b.linear[x]) for x in ("position", "velocity"))
    )


def _move_alike(one: Joint | None, other: Joint | None) -> bool:
    """Return whether two joints of a kind have the same numbers."""
    if one is other or one is None or other is None or one.screw_form() is not None:
        return True  # the row of a screw describes it completely
    return np.array_equal(one.parameters(), other.parameters())


def _stand_alike(one: Any, other: Any) -> bool:
    """Return whether bodies have the same frame in that of the joint, and both float or none."""
    if (one["floating"] == 0) != (other["floating"] == 0):
        return False
    if one["own_frame"] == 0 or one["own_frame"] == other["own_frame"]:
        return True
    frames = (_numbers_at(each["own_frame"], layout.OWN_FRAME_SIZE) for each in (one, other))
    return np.array_equal(*frames)


def _numbers_at(address: Any, count: int) -> Any:
    """Return so many numbers at an address."""
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(int(address)))


class _Table:
    """The rows of a table, whose numbers each lane has for itself, and the rest once."""

    def __init__(self, model: LanesModel, workspace: LanesWorkspace, rows: Any, kind: Any) -> None:
        lanes = model.lanes
        size = kind.size // 8
        memory = workspace.numbers(-(-len(rows) * size // lanes.width)).reshape(-1)
        memory = memory[: len(rows) * size].reshape(len(rows), size)
        self.address = workspace.address_of(memory)
        self.numbers: dict[str, Any] = {}  # by name: (rows, how many, width)
        self.once: dict[str, Any] = {}  # (rows, how many)
        for name in rows.dtype.names:
            own, first = kind.typeof(name), kind.offset(name) // 8
            count = rows.dtype[name].itemsize // 8
            if getattr(own, "dtype", own) == lanes:
                part = memory[:, first : first + count * lanes.width]
                self.numbers[name] = part.reshape(len(rows), count, lanes.width)
            else:
                part = memory[:, first : first + count].view(rows.dtype[name].base)
                part[:] = rows[name].reshape(part.shape)
                self.once[name] = part

    def put(self, lane: int, rows: Any) -> None:
        """Put the numbers of a model into a lane."""
        for name, numbers in self.numbers.items():
            numbers[:, :, lane] = rows[name].reshape(numbers.shape[:2])


class ModelsInLanes:
    """The models that samples in lanes have, each its own.

    Parameters
    ----------
    model : LanesModel
        The arrays that are the same for all of them.
    workspace : LanesWorkspace
        In which forces are, if there are some; kernels find the models there.
    """

    def __init__(self, model: LanesModel, workspace: LanesWorkspace) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.recursions.floating_bodies import FLOATING_SIZE
        from mbkit.kernels.simd.own_models import record_of_body

        arrays, lanes = model.arrays, model.lanes
        space: Any = workspace.record[0]
        self._bodies = _Table(model, workspace, model.bodies, record_of_body(lanes))
        self._tables = {"bodies": self._bodies}
        rows = {"frames": (layout.FRAME, arrays.frames)}
        if arrays.forces.forces:
            rows["linear"] = layout.LINEAR, arrays.forces.linear
            rows["springs"] = layout.SPRING, spring_rows(arrays)
        for name, (dtype, own) in rows.items():
            kind = record_in_lanes(dtype, lanes)
            self._tables[name] = _Table(model, workspace, own, kind)
        for name, table in self._tables.items():
            space[name] = table.address
        self._floating = {
            int(i): workspace.numbers(FLOATING_SIZE)
            for i in np.flatnonzero(arrays.bodies["floating"])
        }
        for i, numbers in self._floating.items():
            self._bodies.once["floating"][i] = array_address(numbers)
        self._parameters: dict[str, Any] = {}
        if workspace.forces is not None:
            self._force_table = workspace.forces.table.copy()
            space["force_table"] = array_address(self._force_table)
            for k, (name, own) in enumerate(arrays.forces.parameters.items()):
                self._parameters[name] = workspace.numbers(own.size)
                self._force_table[k]["parameters"] = array_address(self._parameters[name])

    def put(self, lane: int, arrays: SystemArrays) -> None:
        """Put the model of a sample into its lane."""
        rows = {"bodies": arrays.bodies, "frames": arrays.frames}
        if arrays.forces.forces:
            rows |= {"linear": arrays.forces.linear, "springs": spring_rows(arrays)}
        for name, table in self._tables.items():
            table.put(lane, rows[name])
        for i, numbers in self._floating.items():
            numbers[:, lane] = _numbers_at(arrays.bodies[i]["floating"], len(numbers))
        for name, numbers in self._parameters.items():
            numbers[:, lane] = arrays.forces.parameters[name]
