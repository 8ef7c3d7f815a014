"""Derivatives of one constraint in Python for the adjoint, which calls it once a state."""

from __future__ import annotations

import weakref
from typing import final

import numpy as np

from mbkit.constraints import Constraint
from mbkit.constraints.derivatives import ConstraintDerivatives
from mbkit.constraints.slopes import ConstraintSlopes
from mbkit.systems.memory.callbacks import callback_address, taken_error

__all__ = ["ConstraintSlopesSlot"]

#: Programs are made once.
_KNOWN: weakref.WeakKeyDictionary[ConstraintDerivatives, ConstraintSlopes] = (
    weakref.WeakKeyDictionary()
)


@final
class ConstraintSlopesSlot:
    """The arguments of a constraint in Python, weights of its results, and the derivatives.

    See `mbkit.kernels.vector_jacobian_products.python_constraints`.

    Attributes
    ----------
    memory : ndarray
        As kernels read and write it.
    error : BaseException or None
        The exception that ended the last call.
    """

    def __init__(self, constraint: Constraint, derivatives: ConstraintDerivatives) -> None:
        from mbkit.kernels.vector_jacobian_products import python_constraints as own

        self.error: BaseException | None = None
        if derivatives not in _KNOWN:
            rows = constraint.num_rows, constraint.num_position_rows
            _KNOWN[derivatives] = ConstraintSlopes(derivatives, *rows)
        self._slopes = slopes = _KNOWN[derivatives]
        self.memory = np.zeros(own.TIME + slopes.num_inputs + slopes.num_said)
        self.memory[own.ASKED] = callback_address("slopes")
        numbers = self.memory[own.TIME :]
        self._given, self._said = numbers[: slopes.num_inputs], numbers[slopes.num_inputs :]
        motion = derivatives.motion
        first, nb = 1 + motion.num_positions + motion.num_velocities, len(constraint.bodies)
        poses = self._given[first : first + 16 * nb]
        poses.reshape(nb, 4, 4)[:, 3, 3] = 1.0

    def slopes(self) -> None:
        """Write the derivatives at the given arguments and weights."""
        self._said[:] = self._slopes.at(self._given)

    def raise_error(self) -> None:
        """Raise the exception that ended the last call."""
        if self.error is not None:
            raise taken_error(self)
