"""Which masses and moments of inertia a body can have."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import InertiaError, ShapeError
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, shown

__all__ = ["check_com", "check_mass", "check_massless", "check_principal", "check_symmetry"]

#: Rounding allowed in a moment of inertia, as a part of its largest entry: files give nine digits
#: or more, and thin plates stand on the border of what is possible.
TOLERANCE = 1e-10


def check_mass(mass: Any) -> None:
    """Raise unless `mass` is a finite number, zero or positive."""
    value = frozen_array(mass)
    if value.dtype.kind != "f" or value.shape != ():
        raise ShapeError(f"Inertia: mass must be a number, got {mass!r}.")
    if not (np.isfinite(value) and value >= 0.0):
        raise InertiaError(
            f"Inertia: mass must be finite and positive (zero for a body without inertia), got "
            f"{float(value)!r} [kg]; give the mass in kilograms."
        )


def check_com(com: FloatArray) -> None:
    """Raise unless the centre of mass is a finite vector of three."""
    check_array(com, (3,), "Inertia: com", error=InertiaError)


def check_massless(mass: float, moment: FloatArray) -> None:
    """Raise if there is a moment of inertia without mass."""
    if mass == 0.0 and moment.any():
        raise InertiaError(
            "Inertia: mass must be positive where there is a moment of inertia, got mass 0.0 and "
            f"moment {shown(moment)}; give the mass."
        )


def check_symmetry(moment: FloatArray, name: str, size: float = 0.0) -> None:
    """Raise unless a moment of inertia is finite, (3, 3) and symmetric.

    Parameters
    ----------
    moment : ndarray, shape (3, 3)
        About the centre of mass or any other point. [kg m^2]
    name : str
        What the message calls it.
    size : float
        A moment whose rounding is in it besides its own. [kg m^2]
    """
    check_array(moment, (3, 3), f"Inertia: {name}", error=InertiaError)
    if np.abs(moment - moment.T).max() > _rounding(moment, size):
        raise InertiaError(
            f"Inertia: {name} must be symmetric, got {shown(moment)}; give products of inertia "
            "with the same sign on both sides of the diagonal."
        )


def check_principal(moment: FloatArray, name: str, size: float = 0.0) -> None:
    """Raise unless a body can have a symmetric moment of inertia; see `check_symmetry`."""
    rounding = _rounding(moment, size)
    a, b, c = np.linalg.eigvalsh(moment).tolist()  # ascending
    principal = f"principal moments [{a:.9g}, {b:.9g}, {c:.9g}]"
    if a < -rounding:
        raise InertiaError(
            f"Inertia: {name} must not be negative about any axis, got {principal}; "
            "check the signs, and which point it is taken about."
        )
    if a + b < c - rounding:
        raise InertiaError(
            f"Inertia: {name} must keep the triangle inequality (no principal moment above the "
            f"sum of the others), got {principal}; check the units, and which point it is taken "
            "about."
        )


def _rounding(moment: FloatArray, size: float) -> float:
    return TOLERANCE * float(np.abs(moment).max()) + _EPSILONS * size


_EPSILONS = 64.0 * float(np.finfo(np.float64).eps)
