"""Warnings of singular configurations that a run comes near to."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mbkit.errors import SingularityWarning
from mbkit.systems import System
from mbkit.systems.singularities import NEAR, near_singularity, singular_joints

__all__ = ["Lookout"]

#: Configurations that are looked at in a chunk of steps, which takes about 0.1 s.
LOOKS = 16


class Lookout:
    """Warns once of each joint that comes near a singular configuration.

    Parameters
    ----------
    system : System
        Whose motion it is.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._has_any = singular_joints(system)
        self._told: set[str] = set()

    def look(self, t: Any, q: Any) -> None:
        """Look at some of the states with times (k,) and positions (k, nq), the last among them."""
        if not self._has_any or len(t) == 0:
            return
        for row in np.unique(np.linspace(0, len(t) - 1, LOOKS).round().astype(int)):
            if not np.isfinite(q[row]).all():
                return
            for near in near_singularity(self._system, q[row]):
                if near.joint not in self._told:
                    self._told.add(near.joint)
                    remedy = f"; {near.remedy}" if near.remedy else ""
                    warnings.warn(
                        f"Joint '{near.joint}' ({near.kind}) comes near a singular configuration "
                        f"at t = {t[row]:.6g} s: its measure is {near.distance:.3g}, below {NEAR}, "
                        f"and zero where it is singular{remedy}.",
                        SingularityWarning,
                        stacklevel=2,
                    )
