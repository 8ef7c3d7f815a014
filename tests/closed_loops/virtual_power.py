"""Motion and inverse dynamics of mechanisms that are no more than a function that places bodies.

From minimal coordinates it says where each body is, in closed form. Velocities and accelerations
are differences of it with 50 digits, exact in double precision, and forces come from the principle
of virtual power. Nothing here knows of joints, trees or multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import mpmath as mp
import numpy as np

_DIGITS = 50
_STEP = mp.mpf(10) ** -12  # differences are then good to 1e-24

#: From a list of n coordinates to centre of mass (3) and rotation (3 x 3) of each body, of mpmath.
Place = Callable[[Any], Sequence[tuple[Any, Any]]]


@attrs.frozen
class Motion:
    """Where b bodies are and how they move, at an instant.

    Attributes
    ----------
    centres, velocities, accelerations : ndarray, shape (b, 3)
        Of the centres of mass, in the world.
    rotations : ndarray, shape (b, 3, 3)
        From axes of the body to those of the world.
    spins, spin_rates : ndarray, shape (b, 3)
        Angular velocities and accelerations, in the world.
    shifts, turns : ndarray, shape (b, 3, n)
        Velocities and angular velocities by the rates of the coordinates.
    """

    centres: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    rotations: np.ndarray
    spins: np.ndarray
    spin_rates: np.ndarray
    shifts: np.ndarray
    turns: np.ndarray

    def poses(self) -> np.ndarray:
        """Return the poses (b, 4, 4) of frames in the centres of mass."""
        poses = np.tile(np.eye(4), (len(self.centres), 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = self.rotations, self.centres
        return poses

    def forces(
        self, inertias: Sequence[tuple[float, np.ndarray]], gravity: Sequence[float]
    ) -> np.ndarray:
        """Return the forces (n,) along the coordinates that make the bodies move so.

        They are the sum of m (c'' - g) . dc + (J w' + w x J w) . dr over the bodies, for all
        virtual motions dc, dr; J is about the centre of mass, given in axes of the body.
        """
        Q = np.zeros(self.shifts.shape[2])
        for i, (mass, moment) in enumerate(inertias):
            J = self.rotations[i] @ moment @ self.rotations[i].T
            torque = J @ self.spin_rates[i] + np.cross(self.spins[i], J @ self.spins[i])
            Q += mass * (self.accelerations[i] - gravity) @ self.shifts[i] + torque @ self.turns[i]
        return Q


def motion(place: Place, x: Any, rate: Any, acceleration: Any) -> Motion:
    """Return how bodies move while their coordinates are x, with these derivatives by time."""
    with mp.workdps(_DIGITS):
        x, rate, acceleration = (
            [mp.mpf(float(e)) for e in each] for each in (x, rate, acceleration)
        )

        def difference(first: Sequence[Any], second: Sequence[Any]) -> tuple[np.ndarray, ...]:
            """Return the first two derivatives along x + first s + second s^2 / 2."""
            return _differences(place, [x, first, second])

        still = [mp.mpf(0)] * len(x)
        now = place(x)
        along = difference(rate, acceleration)
        aside = [difference([*still[:k], mp.mpf(1), *still[k + 1 :]], still) for k in range(len(x))]
        return Motion(
            centres=np.array([_floats(c).ravel() for c, _ in now]),
            rotations=np.array([_floats(R) for _, R in now]),
            velocities=along[0],
            spins=along[1],
            accelerations=along[2],
            spin_rates=along[3],
            shifts=np.stack([each[0] for each in aside], axis=2),
            turns=np.stack([each[1] for each in aside], axis=2),
        )


def _differences(place: Place, course: Sequence[Sequence[Any]]) -> tuple[np.ndarray, ...]:
    """Return velocities, spins, accelerations and their rates (b, 3) at the start of a course.

    With the rotation R, R' R^T = w~, and the skew part of R'' R^T is that of w'.
    """
    h = _STEP
    before, now, after = (
        place([a + s * b + s * s * c / 2 for a, b, c in zip(*course, strict=True)])
        for s in (-h, mp.mpf(0), h)
    )
    found: list[list[np.ndarray]] = [[], [], [], []]
    for (c0, R0), (c1, R1), (c2, R2) in zip(before, now, after, strict=True):
        found[0].append(_floats((c2 - c0) / (2 * h)).ravel())
        found[1].append(_vee((R2 - R0) / (2 * h) * R1.T))
        found[2].append(_floats((c2 - 2 * c1 + c0) / h**2).ravel())
        found[3].append(_vee((R2 - 2 * R1 + R0) / h**2 * R1.T))
    return tuple(map(np.array, found))


def _vee(matrix: Any) -> np.ndarray:
    m = _floats(matrix)
    return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2


def _floats(matrix: Any) -> np.ndarray:
    return np.array(matrix.tolist(), dtype=float)


def vector(values: Any) -> Any:
    """Return a column of mpmath from numbers."""
    return mp.matrix([mp.mpf(each) for each in values])


def cross(a: Any, b: Any) -> Any:
    """Return the vector product of two columns."""
    return mp.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def unit(a: Any) -> Any:
    """Return a column of length one."""
    return a / mp.norm(a)


def columns(*vectors: Any) -> Any:
    """Return the matrix of three columns."""
    return mp.matrix([[each[k] for each in vectors] for k in range(3)])


def turn_by_vector(r: Any) -> Any:
    """Return exp(r~) by its series, for rotation vectors of a few radians at most."""
    skew = mp.matrix([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    term = total = mp.eye(3)
    for k in range(1, 60):
        term = term * skew / k
        total = total + term
    return total
