"""A four-bar linkage as textbooks of planar mechanisms have it: one angle, one equation of motion.

Freudenstein's equation gives the rocker's angle from the crank's (J. J. Uicker, G. R. Pennock,
J. E. Shigley, Theory of Machines and Mechanisms, on position analysis); the reduced inertia gives
the motion (Eksergian's equation). Nothing here knows of joints, constraints or multipliers.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from scipy.integrate import solve_ivp


@attrs.frozen
class Rod:
    """A homogeneous rod with its moment of inertia about the centre."""

    length: float
    mass: float
    moment: float


@attrs.frozen
class PlanarFourBar:
    """Crank and rocker on the ground, the coupler between them; gravity is along -y.

    All functions take complex angles, so that they can be differentiated by a complex step.
    """

    ground: float
    crank: Rod
    coupler: Rod
    rocker: Rod
    gravity: float = 9.81

    def rocker_angle(self, a: Any) -> Any:
        """Return the rocker's angle, of Freudenstein's K1 cos(b) - K2 cos(a) + K3 = cos(a - b)."""
        d, l2, l3, l4 = self.ground, self.crank.length, self.coupler.length, self.rocker.length
        k1, k2 = d / l2, d / l4
        k3 = (l2**2 - l3**2 + l4**2 + d**2) / (2 * l2 * l4)
        p = np.cos(a) - k1 - k2 * np.cos(a) + k3
        q = -2 * np.sin(a)
        r = k1 - (k2 + 1) * np.cos(a) + k3
        return 2 * np.arctan((-q - np.sqrt(q**2 - 4 * p * r)) / (2 * p))

    def coupler_angle(self, a: Any) -> Any:
        """Return the coupler's angle, from the crank's tip to the rocker's."""
        b = self.rocker_angle(a)
        x = self.ground + self.rocker.length * np.cos(b) - self.crank.length * np.cos(a)
        y = self.rocker.length * np.sin(b) - self.crank.length * np.sin(a)
        return 2 * np.arctan((self.coupler.length - x) / y)  # tan(c / 2) = (1 - cos c) / sin c

    def ratios(self, a: Any) -> Any:
        """Return the rates of coupler and rocker by that of the crank."""
        b, c = self.rocker_angle(a), self.coupler_angle(a)
        l2, l3, l4 = self.crank.length, self.coupler.length, self.rocker.length
        return (
            l2 * np.sin(b - a) / (l3 * np.sin(c - b)),
            l2 * np.sin(a - c) / (l4 * np.sin(b - c)),
        )

    def reduced_inertia(self, a: Any) -> Any:
        """Return J(a), with which the kinetic energy is J(a) a'^2 / 2."""
        c = self.coupler_angle(a)
        turn_c, turn_b = self.ratios(a)
        l2, l3 = self.crank.length, self.coupler.length
        vx = -l2 * np.sin(a) - l3 / 2 * np.sin(c) * turn_c
        vy = l2 * np.cos(a) + l3 / 2 * np.cos(c) * turn_c
        return (
            self.crank.moment
            + self.crank.mass * (l2 / 2) ** 2
            + self.coupler.moment * turn_c**2
            + self.coupler.mass * (vx**2 + vy**2)
            + (self.rocker.moment + self.rocker.mass * (self.rocker.length / 2) ** 2) * turn_b**2
        )

    def potential_energy(self, a: Any) -> Any:
        """Return that of gravity."""
        b, c = self.rocker_angle(a), self.coupler_angle(a)
        tip = self.crank.length * np.sin(a)
        return self.gravity * (
            self.crank.mass * tip / 2
            + self.coupler.mass * (tip + self.coupler.length / 2 * np.sin(c))
            + self.rocker.mass * self.rocker.length / 2 * np.sin(b)
        )

    def crank_motion(self, start: float, rate: float, times: Any) -> Any:
        """Return the crank's angles and rates (2, k) at times, by J a'' + J' a'^2 / 2 + U' = 0."""
        step = 1e-30

        def equation(_t: float, y: Any) -> Any:
            a = y[0] + 1j * step
            J = self.reduced_inertia(a)
            slope = self.potential_energy(a).imag / step
            return y[1], -(0.5 * J.imag / step * y[1] ** 2 + slope) / J.real

        span = (0.0, times[-1])
        found = solve_ivp(
            equation, span, (start, rate), "DOP853", t_eval=times, rtol=1e-13, atol=1e-13
        )
        return found.y
