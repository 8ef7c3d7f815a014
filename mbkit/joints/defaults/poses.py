"""Poses that joints return, looked at before anything is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import JointError
from mbkit.spatial.arrays import FloatArray, returned_array


def pose_of(joint: Any, q: FloatArray) -> FloatArray:
    """Return the pose (4, 4) of a joint at q; JointError if it is no matrix of real numbers."""
    T = returned_array(joint.pose(q))
    if T.dtype.kind not in "fiu":
        raise JointError(
            f"Joint '{joint.name}': pose must return real numbers, got an array of {T.dtype}."
        )
    if T.shape != (4, 4):
        raise JointError(
            f"Joint '{joint.name}': pose must return an array of shape (4, 4), got {T.shape}."
        )
    return np.asarray(T, dtype=np.float64)


def inverse_of(joint: Any, T: FloatArray) -> FloatArray:
    """Return the inverse of the pose of `pose_of`; JointError if there is none."""
    try:
        return np.asarray(np.linalg.inv(T))
    except np.linalg.LinAlgError:
        raise JointError(
            f"Joint '{joint.name}': pose must return a rotation and a translation; got "
            f"{T.tolist()}, which has no inverse."
        ) from None
