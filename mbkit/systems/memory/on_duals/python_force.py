"""Forces in Python for kernels on dual numbers, by derivatives with respect to their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.forces import Force
from mbkit.kernels import layout
from mbkit.representations import Hybrid
from mbkit.systems.memory.callbacks import taken_error
from mbkit.systems.memory.force_derivatives import StateDerivatives
from mbkit.systems.memory.forces import PythonForceSlot
from mbkit.systems.memory.own_twists import OwnTwists


class DualForceSlot:
    """The arguments and the answer of one Python force on dual numbers.

    The values are those of a `PythonForceSlot`, which calls the force. Along each direction, the
    derivatives of the force are multiplied by the rates of its arguments; this gives the rates of
    the answer. Where one state comes several times in a row, with other directions, the
    derivatives are computed once.

    Parameters
    ----------
    force : Force
        A force in Python.
    joints, bodies : ndarray of int
        As of `PythonForceSlot`.
    numbers : callable
        Returns memory for so many dual numbers, (size, 1 + directions).
    say_differences : callable, optional
        As of `StateDerivatives`.

    Attributes
    ----------
    numbers : ndarray, shape (size, 1 + directions)
        See OWN_* in `mbkit.kernels.layout`, dual numbers.
    memory : ndarray, shape (size,)
        Their values.
    error : BaseException or None
        The exception that ended the last call.
    moving : tuple of str, axes and slice, or None
        A field of the force that changes as well, its axes, and which of its entries, counted in
        a row, change along the directions.
    """

    def __init__(
        self,
        force: Force,
        joints: Any,
        bodies: Any,
        numbers: Callable[[int], Any],
        say_differences: Callable[[str], None] | None = None,
    ) -> None:
        self._plain = plain = PythonForceSlot(force, joints, bodies)
        self.derivatives = StateDerivatives(plain, say_differences)
        self._known: tuple[Any, Any, dict[str, Any], Any] | None = None
        self._is_hybrid = type(force.representation) is Hybrid
        self.force = force
        self.error: BaseException | None = None
        self.moving: tuple[str, tuple[int, ...], slice] | None = None
        self._mistake: BaseException | None = None
        self.numbers = numbers(len(plain.memory))
        self.numbers[:, 0] = plain.memory
        self.numbers[layout.OWN_POWER, 0] = -1.0  # its power is not needed
        self.memory = self.numbers[:, 0]
        *parts, out = plain.arguments
        ends = layout.OWN_VECTORS + np.cumsum([0, *(part.size for part in parts)])
        directions = self.numbers.shape[1] - 1
        self._rates = [
            self.numbers[start:end, 1:].reshape((*part.shape, directions))
            for start, end, part in zip(ends, ends[1:], parts, strict=False)
        ]
        self._end = int(ends[-1])
        self._answer = self.numbers[self._end : self._end + out.size]

    def evaluate(self) -> None:
        """Call the force, then its derivatives, and write the results along the directions."""
        plain = self._plain
        plain.memory[:] = self.memory
        arguments = plain.memory[layout.OWN_TIME : self._end]
        known, self._known = self._known, None
        if known is None or self.moving is not None or not np.array_equal(arguments, known[0]):
            known = None
            plain.evaluate()
        try:
            if known is None:
                given, dense = self._derivatives(arguments)
                known = arguments.copy(), plain.arguments[-1].copy(), given, dense
            _, out, given, dense = known
            if dense is None:
                self._answer[:, 1:] = self._along(given, out).reshape((len(self._answer), -1))
            else:
                self._answer[:, 1:] = self._along_numbers(given, dense)
        except BaseException as error:
            q = np.array2string(plain.arguments[0], precision=6)
            self.derivatives.add_note(error, self.memory[layout.OWN_TIME], q)
            self._mistake = error
            raise
        self._answer[:, 0] = out.reshape(-1)
        if self.moving is None:
            self._known = known

    def forget(self) -> None:
        """Ask the force anew, whose derivatives may depend on more than its arguments."""
        self._known = None

    def raise_mistake(self) -> None:
        """Raise the error of the derivatives, or Ctrl-C, if that ended a call."""
        mistake, self._mistake = self._mistake, None
        if mistake is None and isinstance(self.error, Exception | None):
            return
        other = taken_error(self)
        raise other if mistake is None else mistake

    def _derivatives(self, arguments: Any) -> tuple[dict[str, Any], Any]:
        """Return derivatives by name, or by all numbers of the arguments in hybrid twists."""
        dense = self._is_hybrid and self.moving is None
        if dense and not self.derivatives.is_given:
            state = arguments.item(0), *self._plain.arguments[:4]
            table = self.derivatives.table(state, self._plain.arguments[-1])
            if table is not None:
                return {"t": table[:, 0], "q": ()}, table[:, 1:]
        given = self._given()
        return given, self._dense(given) if dense else None

    def _given(self) -> dict[str, Any]:
        """Return the derivatives at the state, by a field, too, if one moves."""
        q, v, poses, twists, _ = self._plain.arguments
        if self._plain.is_converted:
            twists = OwnTwists.of(self.force.representation, poses, None).twists(twists)
        field, axes, _ = self.moving or ("", (), None)
        fields = {field: axes} if field else {}
        t = self.memory.item(layout.OWN_TIME)
        return self.derivatives.at((t, q, v, poses, twists), fields)

    def _dense(self, given: dict[str, Any]) -> Any:
        """Return derivatives by all numbers of the arguments but the time, (answer, numbers)."""
        size, poses = len(self._answer), self._plain.arguments[2]
        found = np.zeros((size, self._end - layout.OWN_VECTORS))
        ends = np.cumsum([part.size for part in self._plain.arguments[:3]])
        parts = np.split(found, ends, axis=1)
        for name, part in zip(("q", "v", "poses", "twists"), parts, strict=True):
            if name in given and name == "poses":
                by_steps = given[name].reshape((size, len(poses), 1, 6))
                part[:] = (by_steps @ _steps_of(poses)).reshape((size, -1))
            elif name in given:
                part[:] = given[name].reshape((size, -1))
        return found

    def _along_numbers(self, given: dict[str, Any], dense: Any) -> Any:
        """Return the derivatives of the results along each direction, (answer, directions)."""
        found = dense @ self.numbers[layout.OWN_VECTORS : self._end, 1:]
        by_time, by_q = self.numbers[layout.OWN_TIME, 1:], self._rates[0]
        if "t" in given:
            found += given["t"].reshape((-1, 1)) * by_time
        if "q" not in given and not self.derivatives.is_given and by_q.size:
            found += self.derivatives.along(given, by_q).reshape(found.shape)
        return found

    def _along(self, given: dict[str, Any], out: Any) -> Any:
        """Return the derivatives of the results along each direction, (*out, directions)."""
        _, _, poses, twists, _ = self._plain.arguments
        by_q, by_v, by_pose, by_twist = self._rates
        by_time = self.numbers[layout.OWN_TIME, 1:]
        outer = out.shape
        steps, own = None, None
        if len(poses):
            steps = _steps_of(poses) @ by_pose.reshape((len(poses), 16, -1))
            if not self._is_hybrid:
                own = OwnTwists.of(self.force.representation, poses, steps)
                if self._plain.is_converted:
                    by_twist = own.rates(twists, by_twist)
                steps = own.moves(steps)
        field, _, entries = self.moving or ("", (), slice(0))
        moves = {"t": by_time, "v": by_v, "poses": steps, "twists": by_twist}
        found = self.derivatives.along(given, by_q)
        for name, derivative in given.items():
            if name in moves and derivative.size:
                move = moves[name]
                found += np.tensordot(derivative, move, axes=move.ndim - 1)
        if field in given:
            columns = given[field].reshape((*outer, -1))[..., entries]
            found[..., : columns.shape[-1]] += columns
        elif field:
            found[:] = np.nan
        if own is not None and self._plain.is_converted and self.force.acts_on == "bodies":
            return own.wrench_rates(out, found)
        return found


def _steps_of(poses: Any) -> Any:
    """Return how hybrid twists follow from rates of poses (n, 4, 4): (n, 6, 16)."""
    found = np.zeros((len(poses), 6, 4, 4))
    for axis, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):  # half of R' R^T less its transpose
        found[:, axis, i, :3] = 0.5 * poses[:, j, :3]
        found[:, axis, j, :3] = -0.5 * poses[:, i, :3]
        found[:, 3 + axis, axis, 3] = 1.0
    return found.reshape((-1, 6, 16))
