"""Twists and wrenches in the representation that a force in Python uses."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from mbkit.representations import Hybrid

__all__ = ["OwnTwists"]


@final
class OwnTwists:
    """The maps T from hybrid twists V_h of n bodies to those of a representation, V = T V_h.

    Attributes
    ----------
    T : ndarray, shape (n, 6, 6)
        At the poses of the bodies.
    rate : ndarray, shape (k, n, 6, 6)
        The rates of T where the poses move along k directions.
    """

    def __init__(self, T: Any, rate: Any) -> None:
        self.T = T
        self.rate = rate

    @classmethod
    def of(cls, own: Any, poses: Any, steps: Any) -> OwnTwists:
        """Of a representation, for hybrid steps (n, 6, k) of the poses; without rates if None."""
        hybrid, back = Hybrid(), Hybrid().inverse_twist_map(poses)
        T = own.twist_map(poses) @ back
        if steps is None:
            return cls(T, None)
        along = np.moveaxis(back @ steps, -1, 0)
        rate = own.twist_map_rate(poses, along) - T @ hybrid.twist_map_rate(poses, along)
        return cls(T, rate @ back)

    def moves(self, steps: Any) -> Any:
        """Return steps in the representation."""
        return self.T @ steps

    def twists(self, twists: Any) -> Any:
        """Return twists (n, 6) in the representation."""
        return (self.T @ twists[..., None])[..., 0]

    def rates(self, twists: Any, rates: Any) -> Any:
        """Return their rates (n, 6, k), for those of hybrid ones."""
        return self.T @ rates + np.moveaxis((self.rate @ twists[..., None])[..., 0], 0, -1)

    def wrench_rates(self, wrenches: Any, rates: Any) -> Any:
        """Of hybrid wrenches W_h = T^T W, for rates of W (n, 6, k)."""
        T = np.swapaxes(self.T, -1, -2)
        own = np.linalg.solve(T, wrenches[..., None])
        turned = (np.swapaxes(self.rate, -1, -2) @ own)[..., 0]
        return T @ rates + np.moveaxis(turned, 0, -1)
