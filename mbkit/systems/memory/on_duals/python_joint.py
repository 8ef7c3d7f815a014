"""Joints in Python, as kernels on dual numbers call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.joints import Joint
from mbkit.joints.defaults.canonical_frame import CanonicalFrame
from mbkit.joints.defaults.jacobians import jacobians_of, motion_numbers
from mbkit.kernels import layout
from mbkit.kernels.layout import DONE, SLOT_STATUS
from mbkit.systems.memory.callbacks import taken_error
from mbkit.systems.memory.python_joint import PythonJointSlot

__all__ = ["DualJointSlot"]


class DualJointSlot:
    """The arguments and results of one Python joint on dual numbers.

    A `PythonJointSlot` calls the joint and has the values; the joint's derivatives take those of q,
    v and steps along each direction to those of the results.

    Parameters
    ----------
    joint : Joint
        A joint in Python.
    numbers : callable
        Returns memory for so many dual numbers, (size, 1 + directions).

    Attributes
    ----------
    numbers : ndarray, shape (size, 1 + directions)
        As the memory of a `PythonJointSlot`, dual numbers.
    memory : ndarray, shape (size,)
        Their values.
    error : BaseException or None
        The exception that ended the last call.
    """

    def __init__(self, joint: Joint, numbers: Callable[[int], Any]) -> None:
        self._plain = plain = PythonJointSlot(joint)
        self._joint = joint
        self._jacobians = jacobians_of(joint)
        self._frame = CanonicalFrame.of(joint)
        self.error: BaseException | None = None
        self.numbers = numbers(len(plain.memory))
        self.memory = self.numbers[:, 0]
        width = max(joint.num_positions, joint.ndx, layout.SLOT_LEAST)
        inputs = self.numbers[layout.SLOT_FIRST :, 1:]
        self._first, self._second = inputs[:width], inputs[width : 2 * width]
        self._results = inputs[2 * width :]

    @property
    def q(self) -> Any:
        """The positions of the last call."""
        return self._plain.q

    def pose_fault(self) -> str:
        """Return the error in the pose that `motion` left, as text."""
        return self._plain.pose_fault()

    @property
    def is_left(self) -> bool:
        """Whether a call has not come to its end."""
        return bool(self.memory[SLOT_STATUS] != DONE)

    def raise_interrupt(self) -> None:
        """Raise Ctrl-C, if that ended a call, maybe before its first statement."""
        if self.is_left and (self.error is None or not isinstance(self.error, Exception)):
            self.memory[SLOT_STATUS] = DONE
            raise taken_error(self)

    def motion(self) -> None:
        """Write T(q), S(q) and S-dot v."""
        plain, joint = self._plain, self._joint
        self._take()
        plain.motion()
        values = plain.motion_numbers
        if self._frame is not None:
            values = motion_numbers(joint, plain.q, plain.v)
        rates = self._along(
            self._jacobians.motion(plain.q, plain.v, values),
            (self._first[: joint.num_positions], self._second[: joint.num_velocities]),
            len(values),
        )
        if self._frame is not None:
            _to_canonical_frame(self._frame, rates)
        self._give(rates)

    def retract(self) -> None:
        """Write the configuration that a step leads to."""
        plain, joint = self._plain, self._joint
        self._take()
        plain.retract()
        nq = joint.num_positions
        values = plain.positions
        moves = self._first[:nq], self._second[: joint.ndx]
        self._give(self._along(self._jacobians.retract(plain.q, plain.dx, values), moves, nq))

    def _take(self) -> None:
        self._plain.memory[:] = self.memory

    def _give(self, rates: Any) -> None:
        """Write the values of the plain slot, and their derivatives along each direction."""
        self.memory[:] = self._plain.memory
        self._results[: len(rates)] = rates

    def _along(self, jacobian: Any, moves: tuple[Any, Any], size: int) -> Any:
        """Return derivatives of numbers along each direction; NaN where they are not known."""
        if jacobian is None:
            return np.full((size, self.numbers.shape[1] - 1), np.nan)
        return jacobian @ np.concatenate(moves)


def _to_canonical_frame(frame: CanonicalFrame, rates: Any) -> None:
    """Change rates (18 + 6 nv, k) of R, p, S-dot v and S by columns, of a joint frame."""
    count = rates.shape[1]
    T = np.zeros((count, 4, 4))
    T[:, :3, :3] = rates[: layout.SLOT_P].T.reshape(count, 3, 3)
    T[:, :3, 3] = rates[layout.SLOT_P : layout.SLOT_BIAS].T
    T = frame.pose(T)
    rates[: layout.SLOT_P] = T[:, :3, :3].reshape(count, 9).T
    rates[layout.SLOT_P : layout.SLOT_BIAS] = T[:, :3, 3].T
    twists = rates[layout.SLOT_BIAS :].reshape(-1, 6, count)
    twists[:] = frame.to_twist @ twists
