"""Rows of joints that close loops, and what kernels ask of them."""

import ctypes

import numpy as np

from mbkit.kernels import layout
from mbkit.kernels.compile import UNCOMPILED, address_kernel, array_address, records_at
from mbkit.kernels.joints.loop_joint import joint_configuration_from_pose, joint_wrenches
from mbkit.kernels.layout import BODY
from mbkit.spatial import inverse
from mbkit.systems.memory.arrays import fill_table
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.python_joint import PythonJointSlot


@address_kernel("iipp")
def configuration_from_pose(row, slot, T, out):
    """By the address of a row."""
    return joint_configuration_from_pose(records_at(row, 1, BODY)[0], slot, T, out)


@address_kernel("iipp")
def wrenches(row, slot, q, out):
    """By the address of a row."""
    return joint_wrenches(records_at(row, 1, BODY)[0], slot, q, out)


class LoopRow:
    """A joint as kernels see it that closes a loop."""

    def __init__(self, joint):
        self.joint = joint
        self.K = joint.canonical_frame
        self.rows = np.zeros(1, BODY)
        row = self.rows[0]
        row["num_velocities"] = joint.num_velocities
        self.slot, self.remove = None, None
        if joint.screw_form() is not None:
            row["kind"] = layout.SCREW
            row["rate"], row["lead"] = joint.screw_form()
        elif joint.num_velocities:
            row["kind"] = layout.TABLE
            self.owners = fill_table(row, joint, loop=True)
            if joint.kernels() is None:
                self.slot = PythonJointSlot(joint)
                register(array_address(self.slot.memory), self.slot)

    def _call(self, function, argument, size):
        slot = 0 if self.slot is None else array_address(self.slot.memory)
        out = np.full(max(size, 1), np.nan)
        row = array_address(self.rows)
        if UNCOMPILED:
            state = function.function(row, slot, argument, out)
        else:
            pointer = ctypes.POINTER(ctypes.c_double)
            form = ctypes.CFUNCTYPE(
                ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, pointer, pointer
            )
            arguments = (array.ctypes.data_as(pointer) for array in (argument, out))
            state = form(function.address)(row, slot, *arguments)
        return state, out[:size]

    def configuration_from_pose(self, T):
        """The status, and the configuration."""
        C = inverse(self.K) @ T @ self.K
        target = np.concatenate([C[:3, :3].ravel(), C[:3, 3]])
        return self._call(configuration_from_pose, target, self.joint.num_positions)

    def wrenches(self, q):
        """The status, and the wrenches (6, 6 - nv) in the canonical frame."""
        count = 6 - self.joint.num_velocities
        given = np.append(np.asarray(q, dtype=float), 0.0)
        state, found = self._call(wrenches, given, 6 * count)
        return state, found.reshape(count, 6).T
