"""Velocities in index 3 that are brought to the sizes of the steps which they begin.

    v' = v - (1 - (h / h_before)^2) M^-1 A^T (A M^-1 A^T)^-1 (A v + g_t):

see ``change_size`` in `mbkit.kernels.time_loops.generalized_alpha_adaptive`. This is a part of the
way to the velocity that the constraints allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.sensitivities.corrections import Corrections, counted_rows
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Resized"]


class Resized(NamedTuple):
    """Those of N steps.

    Attributes
    ----------
    matrices : ndarray, shape (N, nv, 2 nv)
        By q and v before.
    part : ndarray, shape (N, 1, 1)
        Of the way; of prescribed joints nothing moves.
    free : ndarray, shape (nv, 1)
        Whether a joint is not prescribed.
    correction : Corrections
        The whole way.
    """

    matrices: Floats
    part: Floats
    free: Floats
    correction: Corrections

    @classmethod
    def of(cls, system: System, t: Floats, q: Floats, v: Floats, ratios: Floats) -> Resized:
        """Return those where steps begin, each so many times as large as the one before."""
        nv, part = system.nv, (1.0 - ratios**2)[:, None, None]
        free = ~prescribed_velocities(system)[:, None] * 1.0
        correction = Corrections.of_velocity(system, t, q, v, counted_rows(system, t, q, v))
        stays = np.concatenate([np.zeros((nv, nv)), np.eye(nv)], axis=-1)
        matrices = free * (stays + part * (correction.matrices[:, nv:] - stays))
        return cls(matrices, part, free, correction)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives of v' by inputs, (N, nv, k) by name, where not zero."""
        nv, found = len(self.free), self.correction.by_inputs(names)
        return {name: self.part * self.free * each[:, nv:] for name, each in found.items()}

    def contracted(self, adjoints: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return sums of adjoints (N, nv) of v' times `by_inputs`, (k,)."""
        of_v = self.part[..., 0] * self.free[:, 0] * adjoints
        return self.correction.contracted(np.concatenate([0.0 * of_v, of_v], axis=-1), names)
