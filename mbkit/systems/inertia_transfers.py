"""Moments of inertia that a body has for its neighbour, where the joint between makes it so."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array

__all__ = ["InertiaTransfer"]


@final
@attrs.frozen
class InertiaTransfer:
    """A moment of inertia amount (1 - n n^T), which one body of a joint has for the other.

    Where a joint leaves no turn but one about n, both bodies have the same angular velocity
    across n, and with it the same rate of the angular momentum that belongs to such a moment: which
    of them has it changes no motion. It changes what the joint passes on, by that rate.

    Attributes
    ----------
    joint : str
        Whose bodies they are.
    receiver : str
        The body that has the moment, and would not have it by itself.
    giver : str
        The body that it is missing from; the world, which does not turn, misses nothing.
    amount : float
        [kg m^2]
    receiver_axis, giver_axis : ndarray, shape (3,)
        n in the axes of either body; zero where the joint leaves no turn at all.
    """

    joint: str
    receiver: str
    giver: str
    amount: float
    receiver_axis: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False)
    giver_axis: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False)

    def moment(self, axis: FloatArray) -> FloatArray:
        """Return amount (1 - n n^T), (3, 3), in the axes of n."""
        found: FloatArray = self.amount * (np.eye(3) - np.outer(axis, axis))
        return found

    def rate(self, R: FloatArray, w: FloatArray, wdot: FloatArray) -> FloatArray:
        """Return the rate of its angular momentum, (..., 3), in the world.

        Parameters
        ----------
        R : ndarray, shape (..., 3, 3)
            Rotation of the receiver.
        w, wdot : ndarray, shape (..., 3)
            Its angular velocity and acceleration in the world.
        """
        n = R @ self.receiver_axis
        # H = w - n (n.w), with n' = w x n, which is across w
        along = (n * w).sum(axis=-1)[..., None]
        changed = (n * wdot).sum(axis=-1)[..., None]
        found: FloatArray = self.amount * (wdot - n * changed - np.cross(w, n) * along)
        return found
