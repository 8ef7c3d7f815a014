"""Homogeneous shapes: volume, and squared radii of gyration about the centre."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.autodiff.marks import traced_as, without
from mbkit.errors import InertiaError
from mbkit.spatial.arrays import EQUAL, FloatArray, check_array, frozen_array, with_key

__all__ = [
    "UnitDensity",
    "box",
    "capsule",
    "check_positive",
    "cylinder",
    "ellipsoid",
    "point_moment",
    "sphere",
]

#: The largest length of a shape: its fifth power is a number. [m]
_LONGEST = 1e60


@attrs.frozen
class UnitDensity:
    """A shape with its centre of mass at the origin and its principal axes along x, y, z."""

    kind: str  # its name in messages
    volume: float  # [m^3]
    # (3,): principal moments of inertia divided by the mass. [m^2]
    gyration: FloatArray = attrs.field(eq=EQUAL, hash=False)

    def mass(self, mass: float | None, density: float | None) -> float:
        """Return the mass, given as such or by the density; InertiaError unless by one of them."""
        if (mass is None) == (density is None):
            raise InertiaError(
                f"Inertia: a {self.kind} takes either mass or density, got "
                f"{'neither' if mass is None else 'both'}; give one of them."
            )
        if mass is None:
            with_key("density", check_positive, density, "Inertia: density", "kg/m^3")
            assert density is not None
            mass = density * self.volume
        with_key("mass", check_positive, mass, "Inertia: mass", "kg")
        return mass


def box(size: ArrayLike) -> UnitDensity:
    """Box with edges a, b, c along x, y, z: Ixx = m (b^2 + c^2) / 12."""
    edges = _three_lengths("size", size, "size of a box", "each size of a box")
    a, b, c = edges**2
    return UnitDensity("box", float(np.prod(edges)), np.array([b + c, c + a, a + b]) / 12.0)


def cylinder(radius: float, length: float) -> UnitDensity:
    """Cylinder about z: Izz = m r^2 / 2, Ixx = m (3 r^2 + l^2) / 12."""
    with_key("radius", check_length, radius, "Inertia: radius of a cylinder")
    with_key("length", check_length, length, "Inertia: length of a cylinder")
    axial = radius**2 / 2.0
    lateral = (3.0 * radius**2 + length**2) / 12.0
    gyration = np.array([lateral, lateral, axial])
    return UnitDensity("cylinder", math.pi * radius**2 * length, gyration)


def sphere(radius: float) -> UnitDensity:
    """Ball: I = 2 m r^2 / 5."""
    with_key("radius", check_length, radius, "Inertia: radius of a sphere")
    return UnitDensity("sphere", 4.0 / 3.0 * math.pi * radius**3, np.full(3, 0.4 * radius**2))


def capsule(radius: float, length: float) -> UnitDensity:
    """Cylinder about z with a half ball on either end.

    A half ball of mass m has its centre of mass 3 r / 8 from the flat side and the lateral moment
    2 m r^2 / 5 about a diameter of it. About the capsule's centre, l / 2 from the flat side, both
    half balls of mass m_b in sum have m_b (2 r^2 / 5 + l^2 / 4 + 3 l r / 8).
    """
    with_key("radius", check_length, radius, "Inertia: radius of a capsule")
    with_key("length", check_length, length, "Inertia: length of a capsule", or_zero=True)
    tube, ball = math.pi * radius**2 * length, 4.0 / 3.0 * math.pi * radius**3
    axial = tube * radius**2 / 2.0 + ball * 0.4 * radius**2
    lateral = tube * (3.0 * radius**2 + length**2) / 12.0
    lateral += ball * (0.4 * radius**2 + length**2 / 4.0 + 3.0 * length * radius / 8.0)
    gyration = np.array([lateral, lateral, axial]) / (tube + ball)
    return UnitDensity("capsule", tube + ball, gyration)


def ellipsoid(radii: ArrayLike) -> UnitDensity:
    """Ellipsoid with half axes a, b, c along x, y, z: Ixx = m (b^2 + c^2) / 5."""
    halves = _three_lengths("radii", radii, "radii", "each of the radii")
    a, b, c = halves**2
    volume = 4.0 / 3.0 * math.pi * float(np.prod(halves))
    return UnitDensity("ellipsoid", volume, np.array([b + c, c + a, a + b]) / 5.0)


def _three_lengths(key: str, value: ArrayLike, what: str, each: str) -> FloatArray:
    """Return three lengths; InertiaError, which names the key of a model file, unless they are."""
    lengths = frozen_array(value)
    with_key(key, check_array, lengths, (3,), f"Inertia: {what}", error=InertiaError)
    for length in lengths.tolist():
        with_key(key, check_length, length, f"Inertia: {each}")
    return lengths


@traced_as(without)
def check_positive(value: Any, what: str, unit: str = "m", *, or_zero: bool = False) -> None:
    """Raise InertiaError unless `value` is a finite number above zero (or zero itself)."""
    number = frozen_array(value)
    fits = number.dtype.kind == "f" and number.shape == () and np.isfinite(number)
    if not (fits and (number > 0.0 or (or_zero and number == 0.0))):
        rule = "zero or positive" if or_zero else "positive"
        raise InertiaError(
            f"{what} must be {rule} and finite, got {value!r} [{unit}]; give a {rule} number, in "
            "SI units."
        )


@traced_as(without)
def check_length(value: Any, what: str, *, or_zero: bool = False) -> None:
    """Raise InertiaError unless `value` is a positive number whose powers are numbers."""
    check_positive(value, what, or_zero=or_zero)
    if float(value) > _LONGEST:
        raise InertiaError(
            f"{what} must be at most {_LONGEST:g} m, got {value!r}; give such a number in SI units."
        )


_IDENTITY = np.eye(3)


def point_moment(mass: float, c: FloatArray) -> FloatArray:
    """Return m (c.c I - c c^T), the moment of a point mass at c."""
    moment: FloatArray = mass * (c @ c * _IDENTITY - c[:, None] * c)
    return moment
