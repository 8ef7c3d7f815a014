"""Efforts of the actuators of a closed mechanism, and the multipliers that go with them."""

from __future__ import annotations

from typing import Any, final

import attrs

from mbkit.systems.calls.arguments import Floats

__all__ = ["ActuatorEfforts"]


@final
@attrs.frozen(eq=False)
class ActuatorEfforts:
    """What actuators must do for a motion, and what constraints then do.

    Attributes
    ----------
    efforts : ndarray, shape (..., nv)
        Of the actuators, zero for passive joints. [N m], [N]
    multipliers : ndarray, shape (..., num_velocity_constraints)
        ``M vdot + b - J^T W = tau + efforts + A^T multipliers``. [N]
    redundancy : ndarray of int, shape (...)
        How many more actuators there are than the motion needs: so many efforts can be chosen
        freely, and were chosen as `minimise` says. -1 where a sample failed.
    """

    efforts: Floats
    multipliers: Floats
    redundancy: Any

    @property
    def unique(self) -> Any:
        """Whether no other efforts give this motion, bool, shape (...)."""
        return self.redundancy == 0
