"""The spread of the inertias of a mechanism, by which solvers lose digits."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

__all__ = ["InertiaSpread"]

#: Central moments below this part of the body's largest one about its origin are rounding.
_NOTHING = 1e-12


class InertiaSpread(NamedTuple):
    """The largest inertia of a body by the least, 1 where there are none."""

    # largest ratio of masses, and of central moments of inertia by the square of the length
    ratio: float
    least: int  # rows of BODY with the least and the largest inertia
    greatest: int

    @classmethod
    def of(cls, bodies: Any, length: float) -> Self:
        """Return how far the inertias of a model are apart; those that are zero do not count.

        Moments are compared with forces by the length [m].
        """
        with np.errstate(over="ignore", invalid="ignore"):  # numbers may be as large as there are
            inertias = np.c_[bodies["mass"], _central_moments(bodies) / length**2]
            inertias[0] = 0.0  # the world
            counted = inertias > 0.0
            if not counted.any():
                return cls(1.0, 0, 0)
            least = int(np.argmin(np.where(counted, inertias, np.inf)))
            greatest = int(np.argmax(inertias))
            ratio = float(inertias.flat[greatest] / inertias.flat[least])
        return cls(ratio, least // 4, greatest // 4)


def _central_moments(bodies: Any) -> Any:
    """Return the principal moments of inertia about the centres of mass, (bodies, 3)."""
    mass = bodies["mass"]
    com = bodies["first_moment"] / np.where(mass > 0.0, mass, 1.0)[:, None]
    xx, xy, xz, yy, yz, zz = bodies["moment"].T
    about_origin = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(-1, 3, 3)
    squares = (com**2).sum(axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None]
    central = about_origin - mass[:, None, None] * squares
    moments = np.linalg.eigvalsh(np.where(np.isfinite(central), central, 0.0))
    moments[moments < _NOTHING * (xx + yy + zz)[:, None]] = 0.0
    return moments
