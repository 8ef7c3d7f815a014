"""Forces in Python that give their derivatives, as kernels on dual numbers call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.forces import Force
from mbkit.forces.derivatives import checked_derivatives
from mbkit.kernels import layout
from mbkit.representations import Hybrid
from mbkit.systems.memory.callbacks import taken_error
from mbkit.systems.memory.forces import PythonForceSlot


class DualForceSlot:
    """The arguments and the answer of one Python force on dual numbers.

    The values are those of a `PythonForceSlot`, which calls the force; what the arguments do along
    each direction, its derivatives turn into what the answer does.

    Parameters
    ----------
    force : Force
        A force in Python with `Force.derivatives`.
    joints, bodies : ndarray of int
        As of `PythonForceSlot`.
    numbers : callable
        Returns memory for so many dual numbers, (size, 1 + directions).

    Attributes
    ----------
    numbers : ndarray, shape (size, 1 + directions)
        See OWN_* in `mbkit.kernels.layout`, dual numbers.
    memory : ndarray, shape (size,)
        Their values.
    error : BaseException or None
        What ended the last call.
    moving : tuple of str, axes and slice, or None
        The field of the force that moves besides, its axes, and which of its entries, in a row,
        have the directions.
    """

    def __init__(
        self, force: Force, joints: Any, bodies: Any, numbers: Callable[[int], Any]
    ) -> None:
        self._plain = plain = PythonForceSlot(force, joints, bodies)
        self.force = force
        self.error: BaseException | None = None
        self.moving: tuple[str, tuple[int, ...], slice] | None = None
        self._mistake: BaseException | None = None
        self.numbers = numbers(len(plain.memory))
        self.numbers[:, 0] = plain.memory
        self.numbers[layout.OWN_POWER, 0] = -1.0  # of its power nothing is asked
        self.memory = self.numbers[:, 0]
        *parts, out = plain.arguments
        ends = layout.OWN_VECTORS + np.cumsum([0, *(part.size for part in parts)])
        directions = self.numbers.shape[1] - 1
        self._rates = [
            self.numbers[start:end, 1:].reshape((*part.shape, directions))
            for start, end, part in zip(ends, ends[1:], parts, strict=False)
        ]
        self._answer = self.numbers[ends[-1] : ends[-1] + out.size]

    def evaluate(self) -> None:
        """Call the force, then its derivatives, and write what they say along the directions."""
        self._plain.memory[:] = self.memory
        self._plain.evaluate()
        try:
            self._answer[:, 1:] = self._along().reshape((len(self._answer), -1))
        except BaseException as error:
            q = np.array2string(self._plain.arguments[0], precision=6)
            where = f"t = {self.memory[layout.OWN_TIME]:.6g} and q = {q} of its joints"
            error.add_note(f"Raised by the derivatives of force '{self.force.name}', at {where}.")
            self._mistake = error
            raise
        self._answer[:, 0] = self._plain.arguments[-1].reshape(-1)

    def raise_mistake(self) -> None:
        """Raise what is wrong with the derivatives, or Ctrl-C, if that ended a call."""
        mistake, self._mistake = self._mistake, None
        if mistake is None and isinstance(self.error, Exception | None):
            return
        other = taken_error(self)
        raise other if mistake is None else mistake

    def _along(self) -> Any:
        """Return what the answer does along each direction, (*out, directions)."""
        q, v, poses, twists, out = self._plain.arguments
        by_q, by_v, by_pose, by_twist = self._rates
        by_time = self.numbers[layout.OWN_TIME, 1:]
        t, outer = self.memory.item(layout.OWN_TIME), out.shape
        steps, own = None, None
        if len(poses):
            steps = _moves(poses, by_pose)
            own = _OwnTwists.of(self.force.representation, poses, steps)
            if self._plain.is_converted:
                by_twist = own.rates(twists, by_twist)
                twists = own.twists(twists)
            steps = own.moves(steps)
        field, axes, entries = self.moving or ("", (), slice(0))
        fields = {field: axes} if field else {}
        given = checked_derivatives(self.force, (t, q, v, poses, twists), outer, fields)
        moves = {"t": by_time, "q": by_q, "v": by_v, "poses": steps, "twists": by_twist}
        found = np.zeros((*outer, len(by_time)))
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


def _moves(poses: Any, rates: Any) -> Any:
    """Return hybrid twists (n, 6, k) of poses (n, 4, 4) that have rates (n, 4, 4, k)."""
    spin = np.einsum("bijk,blj->bilk", rates[:, :3, :3], poses[:, :3, :3])
    turns = [0.5 * (spin[:, i, j] - spin[:, j, i]) for i, j in ((2, 1), (0, 2), (1, 0))]
    return np.concatenate([np.stack(turns, axis=1), rates[:, :3, 3]], axis=1)


class _OwnTwists:
    """From hybrid twists V_h at poses that move to those of a representation, V = T V_h."""

    def __init__(self, T: Any, rate: Any) -> None:
        self._T = T  # (n, 6, 6)
        self._rate = rate  # (k, n, 6, 6)

    @classmethod
    def of(cls, own: Any, poses: Any, steps: Any) -> _OwnTwists:
        """Of a representation, for steps (n, 6, k) of the poses."""
        hybrid, back = Hybrid(), Hybrid().inverse_twist_map(poses)
        T = own.twist_map(poses) @ back
        along = np.moveaxis(back @ steps, -1, 0)
        rate = own.twist_map_rate(poses, along) - T @ hybrid.twist_map_rate(poses, along)
        return cls(T, rate @ back)

    def moves(self, steps: Any) -> Any:
        return self._T @ steps

    def twists(self, twists: Any) -> Any:
        return (self._T @ twists[..., None])[..., 0]

    def rates(self, twists: Any, rates: Any) -> Any:
        return self._T @ rates + np.moveaxis((self._rate @ twists[..., None])[..., 0], 0, -1)

    def wrench_rates(self, wrenches: Any, rates: Any) -> Any:
        """Of hybrid wrenches W_h = T^T W, for rates of W (n, 6, k)."""
        T = np.swapaxes(self._T, -1, -2)
        own = np.linalg.solve(T, wrenches[..., None])
        turned = (np.swapaxes(self._rate, -1, -2) @ own)[..., 0]
        return T @ rates + np.moveaxis(turned, 0, -1)
