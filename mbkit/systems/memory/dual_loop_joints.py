"""Joints that close loops, as kernels read them on dual numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels.layout import BODY, SCREW
from mbkit.systems.memory.lanes import record_in_lanes

if TYPE_CHECKING:
    from mbkit.joints import Joint

__all__ = ["DualJoints"]

#: The addresses of parameters, in rows of BODY.
_PARAMETERS = ("parameters", "wrench_parameters", "configuration_from_pose_parameters")


class DualJoints:
    """Rows of BODY whose numbers are dual, and behind them the joints' parameters.

    Parameters
    ----------
    rows : ndarray of BODY
        With functions for dual numbers; the first is of no joint.
    joints : sequence of Joint or None
        As many.
    room : callable
        Returns memory for so many dual numbers, (size, 1 + directions), all zero.

    Attributes
    ----------
    numbers : ndarray, shape (size, 1 + directions)
        All of it, with the values.
    places : list of list of int
        By joint, where the numbers are that kernels read of it: the rate and the lead of a screw,
        the parameters of another joint.
    """

    def __init__(
        self, rows: Any, joints: Sequence[Joint | None], room: Callable[[int], Any]
    ) -> None:
        from mbkit.kernels.duals import DUAL

        self._rows = rows
        self._kind = kind = record_in_lanes(BODY, DUAL)
        self._size = kind.size // 8 // DUAL.width
        own = [np.zeros(0) if joint is None else _parameters_of(joint) for joint in joints]
        self._ends = np.cumsum([self._size * len(rows), *map(len, own)]).tolist()
        self.numbers = room(self._ends[-1])
        for k, row in enumerate(rows):
            self._write(k, row)
            self.numbers[self._ends[k] : self._ends[k + 1], 0] = own[k]
        self.places = [self._of(k, joint) for k, joint in enumerate(joints) if joint is not None]

    def _write(self, k: int, row: Any) -> None:
        """Write a row: its numbers, and its integers where they are."""
        for name in BODY.names or ():
            if BODY[name].base == np.float64:
                first = self._place(k, name)
                values = np.reshape(row[name], -1)
                self.numbers[first : first + len(values), 0] = values
            else:
                self._set_integer(self.numbers, k, name, row[name])

    def _place(self, k: int, name: str) -> int:
        return int(k * self._size + self._kind.offset(name) // 8 // self.numbers.shape[1])

    def _set_integer(self, numbers: Any, k: int, name: str, value: Any) -> None:
        integers = numbers.view(np.int64).reshape(-1)
        integers[(k * self._kind.size + self._kind.offset(name)) // 8] = value

    def _of(self, k: int, joint: Joint) -> list[int]:
        if joint.screw_form() is None:
            return list(range(self._ends[k], self._ends[k + 1]))
        return [self._place(k, name) for name in ("rate", "lead")]

    def put(self, numbers: Any) -> int:
        """Let rows among these numbers, a copy, find their parameters there; return the address."""
        from mbkit.kernels.compile import array_address

        for k, row in enumerate(self._rows):
            if row["kind"] != SCREW and row["num_velocities"]:
                address = array_address(numbers[self._ends[k] :])
                for name in _PARAMETERS:
                    self._set_integer(numbers, k, name, address)
        return array_address(numbers)


def _parameters_of(joint: Joint) -> Any:
    """Return the parameters of a joint that is no screw."""
    if joint.screw_form() is not None:
        return np.zeros(0)
    return np.asarray(joint.parameters(), dtype=np.float64).reshape(-1)
