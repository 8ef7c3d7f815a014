"""Efforts of the actuators of a closed mechanism, with the multipliers."""

from __future__ import annotations

from typing import Any, final

import attrs

from mbkit.systems.calls.arguments import Floats

__all__ = ["ActuatorEfforts"]


@final
@attrs.frozen(eq=False)
class ActuatorEfforts:
    """Efforts of actuators for a motion, with the multipliers of the constraints.

    Attributes
    ----------
    efforts : ndarray, shape (..., nv)
        Efforts of the actuators, zero for passive joints. [N m], [N]
    multipliers : ndarray, shape (..., num_velocity_constraints)
        ``M vdot + b - J^T W = tau + efforts + A^T multipliers``. [N]
    redundancy : ndarray of int, shape (...)
        Number of actuators beyond those that the motion needs: as many efforts can be chosen
        freely, and are chosen by `minimise`. -1 for a failed sample.
    """

    efforts: Floats
    multipliers: Floats
    redundancy: Any

    @property
    def unique(self) -> Any:
        """Whether no other efforts give this motion, bool, shape (...)."""
        return self.redundancy == 0
