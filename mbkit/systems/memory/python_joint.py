"""A joint in Python inside the compiled recursions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import JointError
from mbkit.joints import Joint
from mbkit.joints.defaults.canonical_frame import CanonicalFrame
from mbkit.joints.defaults.derivatives import derivatives_of
from mbkit.joints.defaults.own_methods import defines
from mbkit.joints.defaults.poses import pose_of
from mbkit.kernels import layout
from mbkit.lie.arrays import pose
from mbkit.systems.memory.callbacks import callback_address, read_only

__all__ = ["PythonJointSlot", "python_parameters"]

FLOAT = np.dtype(np.float64)


def python_parameters(joint: Joint) -> Any:
    """Return the parameters that the compiled side of a Python joint gets."""
    parameters = np.zeros(layout.PYTHON_SIZE)
    parameters[layout.PYTHON_NUM_POSITIONS] = joint.num_positions
    parameters[layout.PYTHON_NUM_VELOCITIES] = joint.num_velocities
    parameters[layout.PYTHON_NDX] = joint.ndx
    # An address is below 2^47 on the machines numba knows: a double holds it exactly.
    for entry, operation in (
        (layout.PYTHON_MOTION, "motion"),
        (layout.PYTHON_RETRACT, "retract"),
        (layout.PYTHON_DIFFERENCE, "difference"),
        (layout.PYTHON_DEXP_INV, "dexp_inv"),
        (layout.PYTHON_RATES, "rates"),
        (layout.PYTHON_WRENCHES, "constraint_wrenches"),
        (layout.PYTHON_CONFIGURATION_FROM_POSE, "configuration_from_pose"),
    ):
        parameters[entry] = callback_address(operation)
    return parameters


class PythonJointSlot:
    """The arguments and results of one Python joint in one workspace.

    Memory: whether the call came to its end, two inputs of max(nq, ndx, SLOT_LEAST) numbers,
    which a pose takes both, then the results, R p S-dot-v S or a vector.
    """

    def __init__(self, joint: Joint) -> None:

        nq, nv, ndx = joint.num_positions, joint.num_velocities, joint.ndx
        width = max(nq, ndx, layout.SLOT_LEAST)
        self.joint = joint
        # None where both methods are there and the pose need not be differentiated
        complete = defines(joint, "motion_subspace") and defines(joint, "bias")
        self._derivatives = None if complete else derivatives_of(joint)
        self._frame = CanonicalFrame.of(joint)
        self.error: BaseException | None = None
        self.memory = np.zeros(layout.SLOT_FIRST + 2 * width + max(layout.SLOT_SIZE, width))
        first = self.memory[layout.SLOT_FIRST :]
        second = first[width:]
        results = second[width:]
        self.q = read_only(first[:nq])
        self.v = read_only(second[:nv])
        self.x = read_only(first[:ndx])
        self.q1 = read_only(second[:nq])
        self.dx = read_only(second[:ndx])
        self._target = read_only(first[:12])
        self._R = results[: layout.SLOT_P].reshape(3, 3)
        self._p = results[layout.SLOT_P : layout.SLOT_BIAS]
        self._bias = results[layout.SLOT_BIAS : layout.SLOT_S]
        self._S = results[layout.SLOT_S : layout.SLOT_S + 6 * nv].reshape(nv, 6).T
        self.motion_numbers = results[: layout.SLOT_S + 6 * nv]
        self.positions = results[:nq]
        self._step = results[:ndx]
        self._wrenches = results[: 6 * (6 - nv)].reshape(6 - nv, 6).T

    def motion(self) -> None:
        """Write T(q), S(q) and S-dot v."""
        joint = self.joint
        if self._derivatives is None:
            pose = pose_of(joint, self.q)
            S, bias = joint.motion_subspace(self.q), joint.bias(self.q, self.v)
        else:
            pose, S, bias = self._derivatives.motion(self.q, self.v)
            if defines(joint, "motion_subspace"):
                S = joint.motion_subspace(self.q)
            if defines(joint, "bias"):
                bias = joint.bias(self.q, self.v)
        self._R[:] = pose[:3, :3]
        self._p[:] = pose[:3, 3]
        _assign(self._S, S, joint, "motion_subspace")
        _assign(self._bias, bias, joint, "bias")
        if self._frame is not None:
            self._to_canonical_frame(self._frame)

    def _to_canonical_frame(self, frame: CanonicalFrame) -> None:
        T = frame.pose(pose(self._R, self._p))
        self._R[:], self._p[:] = T[:3, :3], T[:3, 3]
        self._S[:], self._bias[:] = frame.to_twist @ self._S, frame.to_twist @ self._bias

    def pose_fault(self) -> str:
        """Return the error in the pose that `motion` left, as text."""
        with np.errstate(all="ignore"):
            error = float(np.abs(self._R @ self._R.T - np.eye(3)).max())
            determinant = float(np.linalg.det(self._R))
        return (
            f"pose must return a rotation and a translation; got |R R^T - I| = {error:.3g}, "
            f"det R = {determinant:.6g}"
        )

    def retract(self) -> None:
        """Write the configuration that a step leads to."""
        _assign(self.positions, self.joint.retract(self.q, self.dx), self.joint, "retract")

    def difference(self) -> None:
        """Write the step that leads from one configuration to another."""
        _assign(self._step, self.joint.difference(self.q, self.q1), self.joint, "difference")

    def dexp_inv(self) -> None:
        """Write the rate of the step."""
        _assign(self._step, self.joint.dexp_inv(self.x, self.dx), self.joint, "dexp_inv")

    def rates(self) -> None:
        """Write the rates at which a step leaves a configuration."""
        _assign(self._step, self.joint.rates(self.q, self.v), self.joint, "rates")

    def constraint_wrenches(self) -> None:
        """Write the wrenches that the joint bears."""
        wrenches = self.joint.constraint_wrenches(self.q)
        _assign(self._wrenches, wrenches, self.joint, "constraint_wrenches")
        if self._frame is not None:
            self._wrenches[:] = self._frame.to_wrench @ self._wrenches

    def configuration_from_pose(self) -> None:
        """Write the configuration nearest to a pose."""
        T = pose(self._target[:9].reshape(3, 3), self._target[9:])
        if self._frame is not None:
            T = self._frame.in_joint_frame(T)
        _assign(
            self.positions,
            self.joint.configuration_from_pose(T),
            self.joint,
            "configuration_from_pose",
        )


def _assign(target: Any, value: Any, joint: Joint, method: str) -> None:
    if value.__class__ is not np.ndarray:
        try:
            value = np.asarray(value)
        except Exception:  # rows of several lengths; whatever its own __array__ raises
            value = np.asarray(None)
    # Without the comparisons numpy would spread a value of the wrong shape, drop an imaginary part,
    # and go on.
    if value.shape != target.shape:
        raise _wrong_shape(joint, method, target.shape, value.shape)
    if value.dtype is not FLOAT and value.dtype.kind not in "fiu":
        raise _wrong_type(joint, method, value)
    target[:] = value


def _wrong_type(joint: Joint, method: str, value: Any) -> JointError:
    return JointError(
        f"Joint '{joint.name}': {method} must return real numbers, got an array of {value.dtype}."
    )


def _wrong_shape(
    joint: Joint, method: str, expected: tuple[int, ...], found: tuple[int, ...]
) -> JointError:
    return JointError(
        f"Joint '{joint.name}': {method} must return an array of shape {expected}, got {found}."
    )
