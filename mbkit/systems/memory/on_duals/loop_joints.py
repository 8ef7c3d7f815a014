"""Joints that close loops, as kernels read them on dual numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.kernels.layout import BODY, SCREW
from mbkit.systems.memory.in_lanes.workspace import record_in_lanes

if TYPE_CHECKING:
    from mbkit.joints import Joint

__all__ = ["DualJoints", "OwnNumbers"]

_NOTHING = np.zeros(0)
_NONE: Mapping[int, Any] = MappingProxyType({})

#: The addresses of parameters, in rows of BODY, by the functions that get them.
_PARAMETERS = {
    "motion": "parameters",
    "constraint_wrenches": "wrench_parameters",
    "configuration_from_pose": "configuration_from_pose_parameters",
}


class OwnNumbers(NamedTuple):
    """The parameters of the functions of a joint.

    Attributes
    ----------
    numbers : ndarray
        The joint's own numbers.
    head : ndarray
        Numbers that stand before them for some functions.
    headed : tuple of str
        The names of these functions, of "constraint_wrenches" and "configuration_from_pose".
    """

    numbers: Any
    head: Any = _NOTHING
    headed: tuple[str, ...] = ()


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
    own : mapping of int to OwnNumbers, optional
        By row: of joints whose parameters differ from `Joint.parameters`.

    Attributes
    ----------
    numbers : ndarray, shape (size, 1 + directions)
        All of it, with the values.
    places : list of list of int
        By joint, where the numbers are that kernels read of it: the rate and the lead of a screw,
        the parameters of another joint.
    """

    def __init__(
        self,
        rows: Any,
        joints: Sequence[Joint | None],
        room: Callable[[int], Any],
        own: Mapping[int, OwnNumbers] = _NONE,
    ) -> None:
        from mbkit.kernels.duals import DUAL

        self._rows = rows
        self._kind = kind = record_in_lanes(BODY, DUAL)
        self._size = kind.size // 8 // DUAL.width
        self._own = [
            own[k] if k in own else OwnNumbers(_NOTHING if each is None else _parameters_of(each))
            for k, each in enumerate(joints)
        ]
        sizes = [len(each.head) + len(each.numbers) for each in self._own]
        self._ends = np.cumsum([self._size * len(rows), *sizes]).tolist()
        self.numbers = room(self._ends[-1])
        for k, row in enumerate(rows):
            self._write(k, row)
            given = self._own[k]
            self.numbers[self._ends[k] : self._ends[k + 1], 0] = [*given.head, *given.numbers]
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
            return list(range(self._ends[k] + len(self._own[k].head), self._ends[k + 1]))
        return [self._place(k, name) for name in ("rate", "lead")]

    def put(self, numbers: Any) -> int:
        """Let rows among these numbers, a copy, find their parameters there; return the address."""
        from mbkit.kernels.compile import array_address

        for k, row in enumerate(self._rows):
            if row["kind"] != SCREW and row["num_velocities"]:
                given, first = self._own[k], self._ends[k]
                for function, name in _PARAMETERS.items():
                    behind = 0 if function in given.headed else len(given.head)
                    self._set_integer(numbers, k, name, array_address(numbers[first + behind :]))
        return array_address(numbers)


def _parameters_of(joint: Joint) -> Any:
    """Return the parameters of a joint that is no screw."""
    if joint.screw_form() is not None:
        return np.zeros(0)
    return np.asarray(joint.parameters(), dtype=np.float64).reshape(-1)
