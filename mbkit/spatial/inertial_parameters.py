"""The ten numbers of a body in which its dynamics are linear, and whether a body can have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import InertiaError, ShapeError
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, shown, with_key

__all__ = [
    "PARAMETER_NAMES",
    "UPPER",
    "check_com",
    "check_inertia",
    "check_mass",
    "check_moment",
    "entries_of_parameters",
    "parameters_of",
]

#: The inertial parameters of a body, in this order, in its frame and about its origin.
PARAMETER_NAMES = (
    "mass",
    *(f"first_moment[{k}]" for k in "xyz"),
    *(f"moment_about_origin[{k}]" for k in ("xx", "xy", "xz", "yy", "yz", "zz")),
)

#: Entries of a symmetric matrix (3, 3) that parameters have: xx, xy, xz, yy, yz, zz.
UPPER = np.triu_indices(3)


def parameters_of(mass: ArrayLike, com: ArrayLike, moment_about_com: ArrayLike) -> FloatArray:
    """Return `SpatialInertia.parameters` (..., 10) of masses, centres of mass and moments."""
    m, c = np.asarray(mass, dtype=float)[..., None], np.asarray(com, dtype=float)
    squares = (c * c).sum(axis=-1)[..., None, None] * np.eye(3) - c[..., :, None] * c[..., None, :]
    moment = np.asarray(moment_about_com, dtype=float) + m[..., None] * squares
    found: FloatArray = np.concatenate([m, m * c, moment[(..., *UPPER)]], axis=-1)
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
    upper[UPPER] = numbers[4:]
    com = numbers[1:4] / mass if mass else np.zeros(3)
    return mass, com, upper + np.triu(upper, 1).T


#: Rounding allowed in a moment of inertia, as a part of its largest entry: files give nine digits
#: or more, and thin plates stand on the border of possible ones.
TOLERANCE = 1e-10


def check_mass(mass: Any) -> None:
    """Raise unless `mass` is a finite number, zero or positive."""
    value = frozen_array(mass)
    if value.dtype.kind != "f" or value.shape != ():
        raise ShapeError(f"Inertia: mass must be a number, got {mass!r}.")
    if not (np.isfinite(value) and value >= 0.0):
        raise InertiaError(
            f"Inertia: mass must be finite and positive (zero for a body without inertia), got "
            f"{float(value)!r} [kg]; give a positive mass, in kilograms."
        )


def check_com(com: FloatArray) -> None:
    """Raise unless the centre of mass is a finite vector of three."""
    check_array(com, (3,), "Inertia: com", error=InertiaError)


def check_inertia(mass: float, com: FloatArray, moment: FloatArray, unphysical: bool) -> bool:
    """Raise unless a body can have this inertia about its centre of mass, `mass` being a number.

    With `unphysical` a moment that no body has is accepted; return whether it is one.
    """
    if not isinstance(unphysical, (bool, np.bool_)):
        raise ShapeError(f"Inertia: unphysical must be True or False, got {unphysical!r}.")
    with_key("com", check_com, com)
    # The moment may come from one about the origin, and is no better known than that.
    size = mass * float(com @ com)
    found = check_moment(moment, "moment_about_com", size, unphysical=unphysical)
    if mass == 0.0 and moment.any():
        if unphysical:
            return True
        raise InertiaError(
            "Inertia: mass must be positive where there is a moment of inertia, got mass 0.0 and "
            f"moment {shown(moment)}; give the mass."
        ).about("mass")
    return found


def check_moment(
    moment: FloatArray, name: str, size: float = 0.0, *, unphysical: bool = False
) -> bool:
    """Raise unless a body can have this moment (3, 3); return whether it is one that no body has.

    About the centre of mass or any other point. [kg m^2] `name` is its name in the message, and
    the key of the error; rounding of a moment of `size` may be in it besides its own. With
    `unphysical` a moment that no body has is accepted, if it is finite and symmetric.
    """
    with_key(name, _check_symmetry, moment, name, size)
    try:
        with_key(name, _check_principal, moment, name, size)
    except InertiaError:
        if not unphysical:
            raise
        return True
    return False


def _check_symmetry(moment: FloatArray, name: str, size: float) -> None:
    check_array(moment, (3, 3), f"Inertia: {name}", error=InertiaError)
    if np.abs(moment - moment.T).max() > _rounding(moment, size):
        raise InertiaError(
            f"Inertia: {name} must be symmetric, got {shown(moment)}; give products of inertia "
            "with the same sign on both sides of the diagonal."
        )


def _check_principal(moment: FloatArray, name: str, size: float) -> None:
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
