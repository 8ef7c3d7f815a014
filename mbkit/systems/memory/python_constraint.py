"""A constraint in Python inside the compiled solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.constraints import Constraint
from mbkit.constraints.derivatives import ConstraintDerivatives
from mbkit.kernels.constraints import layout
from mbkit.systems.memory.callbacks import callback_address

__all__ = ["PythonConstraintSlot"]


class PythonConstraintSlot:
    """The arguments and the answer of one Python constraint in one workspace.

    Memory: see OWN_* in `mbkit.kernels.constraints.layout`.
    """

    def __init__(self, constraint: Constraint, derivatives: ConstraintDerivatives) -> None:

        nq, nv = derivatives.motion.num_positions, derivatives.motion.num_velocities
        nb, m, g = len(constraint.bodies), constraint.num_rows, constraint.num_position_rows
        sizes = [nq, nv, 16 * nb, 6 * nb, g + m * (2 + 6 * nb + nv)]
        start = layout.OWN_VECTORS
        self.error: BaseException | None = None
        self.memory = np.zeros(start + sum(sizes))
        self.memory[layout.OWN_EVALUATE] = callback_address("evaluate")
        parts = np.split(self.memory[start:], np.cumsum(sizes)[:-1])
        parts[2].reshape(nb, 4, 4)[:, 3, 3] = 1.0
        q, v, poses, twists = (_read_only(part) for part in parts[:4])
        self._arguments = q, v, poses.reshape(nb, 4, 4), twists.reshape(nb, 6)
        self._said = parts[4]
        self._derivatives = derivatives
        self._time = layout.OWN_TIME

    def evaluate(self) -> None:
        """Write residual, rate, bias, wrenches and coefficients."""
        time = self.memory.item(self._time)
        self._said[:] = self._derivatives.numbers(time, *self._arguments)


def _read_only(view: Any) -> Any:
    view = view.view()
    view.flags.writeable = False
    return view
