"""A joint in Python inside the compiled recursions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import JointError
from mbkit.joints import Joint
from mbkit.systems.callbacks import callback_address

__all__ = ["PythonJointSlot", "python_parameters"]


def python_parameters(num_positions: int, num_velocities: int) -> Any:
    """Return the parameters that the compiled side of a Python joint gets."""
    from mbkit.kernels import layout

    parameters = np.zeros(layout.PYTHON_SIZE)
    parameters[layout.PYTHON_NUM_POSITIONS] = num_positions
    parameters[layout.PYTHON_NUM_VELOCITIES] = num_velocities
    # An address is below 2^47 on the machines numba knows: a double holds it exactly.
    for entry, operation in (
        (layout.PYTHON_MOTION, "motion"),
        (layout.PYTHON_RETRACT, "retract"),
        (layout.PYTHON_DIFFERENCE, "difference"),
        (layout.PYTHON_DEXP_INV, "dexp_inv"),
        (layout.PYTHON_WRENCHES, "constraint_wrenches"),
    ):
        parameters[entry] = callback_address(operation)
    return parameters


class PythonJointSlot:
    """The arguments and results of one Python joint in one workspace.

    Memory: whether the call came to its end, two inputs of max(nq, nv) numbers, then the results,
    R p S-dot-v S or a vector.
    """

    def __init__(self, joint: Joint) -> None:
        from mbkit.kernels import layout

        nq, nv = joint.num_positions, joint.num_velocities
        width = max(nq, nv)
        self.joint = joint
        self.error: BaseException | None = None
        self.memory = np.zeros(layout.SLOT_FIRST + 2 * width + max(layout.SLOT_SIZE, width))
        first = self.memory[layout.SLOT_FIRST :]
        second = first[width:]
        results = second[width:]
        self.q = _read_only(first[:nq])
        self.v = _read_only(second[:nv])
        self.x = _read_only(first[:nv])
        self.q1 = _read_only(second[:nq])
        self._R = results[: layout.SLOT_P].reshape(3, 3)
        self._p = results[layout.SLOT_P : layout.SLOT_BIAS]
        self._bias = results[layout.SLOT_BIAS : layout.SLOT_S]
        self._S = results[layout.SLOT_S : layout.SLOT_S + 6 * nv].reshape(nv, 6).T
        self._positions = results[:nq]
        self._velocities = results[:nv]
        self._wrenches = results[: 6 * (6 - nv)].reshape(6 - nv, 6).T

    def motion(self) -> None:
        """Write T(q), S(q) and S-dot v."""
        joint = self.joint
        pose = np.asarray(joint.pose(self.q))
        if pose.shape != (4, 4):
            raise _wrong_shape(joint, "pose", (4, 4), pose.shape)
        self._R[:] = pose[:3, :3]
        self._p[:] = pose[:3, 3]
        _assign(self._S, joint.motion_subspace(self.q), joint, "motion_subspace")
        _assign(self._bias, joint.bias(self.q, self.v), joint, "bias")

    def retract(self) -> None:
        """Write the configuration that a step leads to."""
        _assign(self._positions, self.joint.retract(self.q, self.v), self.joint, "retract")

    def difference(self) -> None:
        """Write the step that leads from one configuration to another."""
        _assign(self._velocities, self.joint.difference(self.q, self.q1), self.joint, "difference")

    def dexp_inv(self) -> None:
        """Write the rate of the step."""
        _assign(self._velocities, self.joint.dexp_inv(self.x, self.v), self.joint, "dexp_inv")

    def constraint_wrenches(self) -> None:
        """Write the wrenches that the joint bears."""
        wrenches = self.joint.constraint_wrenches(self.q)
        _assign(self._wrenches, wrenches, self.joint, "constraint_wrenches")


def _read_only(view: Any) -> Any:
    view = view.view()
    view.flags.writeable = False
    return view


def _assign(target: Any, value: Any, joint: Joint, method: str) -> None:
    # Without the comparison numpy would spread a value of the wrong shape, and go on.
    if np.shape(value) != target.shape:
        raise _wrong_shape(joint, method, target.shape, np.shape(value))
    target[:] = value


def _wrong_shape(
    joint: Joint, method: str, expected: tuple[int, ...], found: tuple[int, ...]
) -> JointError:
    return JointError(
        f"Joint '{joint.name}': {method} must return an array of shape {expected}, got {found}."
    )
