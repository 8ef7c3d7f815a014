"""Velocity terms of the equations of motion as a matrix, and the rate of the mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["mass_matrix_rate"]


def mass_matrix_rate(
    system: System, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise"
) -> Floats:
    """See `System.mass_matrix_rate`."""
    C = system.coriolis_matrix(q, v, on_error=on_error)
    return C + np.swapaxes(C, -1, -2)
