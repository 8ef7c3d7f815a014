"""No motion."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.joint import Joint
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class FixedJoint(Joint):
    """Two bodies held together: their joint frames coincide.

    For computing the bodies are merged into one; each still answers by its name.

    Attributes
    ----------
    name : str
        Unique in the mechanism.

    Examples
    --------
    >>> FixedJoint("weld").num_velocities
    0
    """

    num_positions = 0
    num_velocities = 0
    zero_reference = True

    name: str

    def pose(self, q: FloatArray) -> FloatArray:
        """Return the identity."""
        return np.eye(4)

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return no column, (6, 0)."""
        return np.zeros((6, 0))

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero."""
        return np.zeros(6)

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return no position, (0,)."""
        return np.zeros(0)

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return all wrenches, the identity."""
        return np.eye(6)
