"""Methods of joints in Python, written in the joint frame, in the canonical frame."""

from __future__ import annotations

from typing import Any, Self, final

import attrs
import numpy as np

from mbkit.joints.joint import Joint
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse

__all__ = ["CanonicalFrame"]


@final
@attrs.frozen(eq=False)
class CanonicalFrame:
    """The canonical frame K of a joint; arrays may hold traced numbers."""

    K: FloatArray
    back: FloatArray  # K^-1
    to_twist: FloatArray  # Ad_K^-1
    to_wrench: FloatArray  # Ad_K^T

    @classmethod
    def of(cls, joint: Joint) -> Self | None:
        """Return that of a joint, None where it is the joint frame itself."""
        K = np.asarray(joint.canonical_frame, dtype=np.float64)
        if np.array_equal(K, np.eye(4)):
            return None
        back = inverse(K)
        return cls(K, back, SE3.Ad(back), SE3.Ad(K).T)

    def pose(self, T: Any) -> Any:
        """Return K^-1 T K."""
        return self.back @ T @ self.K

    def in_joint_frame(self, T: Any) -> Any:
        """Return the pose T of the canonical frame as one of the joint frame, K T K^-1."""
        return self.K @ T @ self.back
