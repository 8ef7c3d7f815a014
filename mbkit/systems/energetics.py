"""Energy, momentum and centre of mass of a system."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import ENERGIES, MASS_ACTION, MOMENTUM
from mbkit.systems.kinematics import Kinematics

__all__ = ["Energetics"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Energetics(Kinematics):
    """Energy, momentum and centre of mass; see `System`, which adds forces."""

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float | Floats:
        """Return ``1/2 v^T M v`` [J] at q (..., nq), v (..., nv)."""
        return _scalar(self.energies(q, v)[0])

    def potential_energy(self, q: ArrayLike) -> float | Floats:
        """Return ``-sum m g.c`` [J] at q (..., nq), c the centres of mass in the world."""
        return _scalar(self.energies(q, self.evaluator.zero)[1])

    def energies(
        self, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise"
    ) -> tuple[Floats, Floats]:
        """Return kinetic and potential energy.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        tuple of two ndarrays, shape (...)
            Kinetic and potential energy. [J]
        """
        both = self.evaluator.compute(ENERGIES, q, v, on_error=on_error)
        return both[..., 0].copy(), both[..., 1].copy()

    def momentum(self, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the momentum of all bodies about the world's origin.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., 6)
            (angular, linear), in the world. [kg m^2/s], [kg m/s]
        """
        return self.evaluator.compute(MOMENTUM, q, v, on_error=on_error)[..., :6].copy()

    def mass_action(
        self, q: ArrayLike, x: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the mass matrix times a vector, without the matrix.

        Parameters
        ----------
        q, x : array_like, shape (..., nq), (..., nv)
            Configuration; velocity or acceleration.
        out : ndarray, shape (..., nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            ``M(q) x``: for a velocity, the generalized momenta. Cost: O(bodies).
        """
        return self.evaluator.compute(MASS_ACTION, q, x, out=out, on_error=on_error)

    def centre_of_mass(self, q: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the centre of mass of all bodies in the world, shape (..., 3) [m], at q (..., nq).

        A mechanism without mass has none: the result is then not a number.
        """
        found = self.evaluator.compute(MOMENTUM, q, self.evaluator.zero, on_error=on_error)
        with np.errstate(invalid="ignore"):
            return found[..., 6:] / np.float64(self.mass)


def _scalar(array: Floats) -> float | Floats:
    return array if array.ndim else float(array)
