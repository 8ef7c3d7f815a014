"""Inertia transfers: moments of inertia moved from a body to its neighbour on a joint."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array

__all__ = ["InertiaTransfer"]


@final
@attrs.frozen
class InertiaTransfer:
    """A moment of inertia amount (1 - n n^T), moved from one body of a joint to the other.

    If a joint allows no rotation but one about n, both bodies have the same angular velocity across
    n, and the same rate of the angular momentum of such a moment: the transfer changes no motion.
    It changes the wrench of the joint by that rate.

    Attributes
    ----------
    joint : str
        The joint of the two bodies.
    receiver : str
        The body that gets the moment.
    giver : str
        The body that gives it; the world, which does not rotate, can give any moment.
    amount : float
        [kg m^2]
    receiver_axis, giver_axis : ndarray, shape (3,)
        n in the axes of either body; zero if the joint allows no rotation.
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
