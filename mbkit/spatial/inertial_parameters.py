"""The ten numbers of a body in which its dynamics are linear."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import InertiaError
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, shown, with_key
from mbkit.spatial.consistency import check_mass

__all__ = ["PARAMETER_NAMES", "entries_of_parameters", "parameters_of"]

#: The inertial parameters of a body, in this order, in its frame and about its origin.
PARAMETER_NAMES = (
    "mass",
    *(f"first_moment[{k}]" for k in "xyz"),
    *(f"moment_about_origin[{k}]" for k in ("xx", "xy", "xz", "yy", "yz", "zz")),
)

_UPPER = np.triu_indices(3)


def parameters_of(mass: ArrayLike, com: ArrayLike, moment_about_com: ArrayLike) -> FloatArray:
    """Return `SpatialInertia.parameters` (..., 10) of masses, centres of mass and moments."""
    m, c = np.asarray(mass, dtype=float)[..., None], np.asarray(com, dtype=float)
    squares = (c * c).sum(axis=-1)[..., None, None] * np.eye(3) - c[..., :, None] * c[..., None, :]
    moment = np.asarray(moment_about_com, dtype=float) + m[..., None] * squares
    found: FloatArray = np.concatenate([m, m * c, moment[(..., *_UPPER)]], axis=-1)
    return found


def entries_of_parameters(parameters: ArrayLike) -> tuple[float, FloatArray, FloatArray]:
    """Return mass, centre of mass and moment about the origin; InertiaError if there are none."""
    numbers = frozen_array(parameters)
    check_array(numbers, (10,), "Inertia: parameters", error=InertiaError)
    mass = float(numbers[0])
    with_key("mass", check_mass, mass)
    if mass == 0.0 and numbers[1:4].any():
        raise InertiaError(
            f"Inertia: mass must be positive where there is a first moment, got mass 0.0 and first "
            f"moment {shown(numbers[1:4])}; give the mass."
        )
    upper = np.zeros((3, 3))
    upper[_UPPER] = numbers[4:]
    com = numbers[1:4] / mass if mass else np.zeros(3)
    return mass, com, upper + np.triu(upper, 1).T
