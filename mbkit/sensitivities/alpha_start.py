"""The first step of the generalized-alpha method after a start, and its derivatives.

    vdot = F(q, v, t),    a = vdot + lag (F(q', v', t') - vdot),    lag = (am - af) h / s,
    q' = retract(q, x),    x = s v + s^2 vdot / 2,    v' = v + s vdot,    t' = t + s,

with F forward dynamics and s a small part of the step: see ``begin`` in
`mbkit.kernels.time_loops.generalized_alpha`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.sensitivities.accelerations import Accelerations, States
from mbkit.sensitivities.alpha_equations import blocks_of, times
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Start"]


class Start(NamedTuple):
    """Derivatives of (q, v, a, vdot) (4 nv,) at a start.

    Attributes
    ----------
    by_state : ndarray, shape (4 nv, 2 nv)
        By q and v.
    by_rates : ndarray, shape (2, 4 nv, nv)
        By vdot, and by F(q', v', t'), as inputs other than the state change them.
    accelerations : Accelerations
        Both, linear about their states.
    """

    by_state: Floats
    by_rates: Floats
    accelerations: Accelerations

    @classmethod
    def of(
        cls, system: System, method: GeneralizedAlpha, h: float, t: float, state: Sequence[Floats]
    ) -> Start:
        """Return the derivatives at a start at (q, v) with efforts tau, the `state`."""
        from mbkit.kernels.implicit.start import INTO

        q, v, tau = state
        s, nv = INTO * h, system.nv
        vdot, kept = _rates(system, t, q, v, tau)
        x = s * v + 0.5 * s * s * vdot
        later = system.prescribed_rows(t + s, system.retract(q, x), v + s * vdot)[:2]
        rates = _rates(system, t + s, *later, tau)
        points = (np.array([t, t + s]), np.stack([q, later[0]]), np.stack([v, later[1]]))
        rank = np.array([np.count_nonzero(kept), np.count_nonzero(rates[1])])
        states = States(*points, np.stack([vdot, rates[0]]), np.stack([tau, tau]))
        accelerations = Accelerations.at(system, states, rank)
        (q1, q2), (v1, v2) = accelerations.by_state
        T, G = (None if each is None else each[0] for each in blocks_of(system, x[None]))
        one, c = np.eye(nv), method.numbers
        lag = (c.alpha_m - c.alpha_f) / INTO if method.start == "second order" else 0.0
        by_vdot = (1.0 - lag) * one + lag * (0.5 * s * s * times(q2, T) + s * v2)
        by_q, by_v = lag * times(q2, G), lag * (s * times(q2, T) + v2)
        none = np.zeros((nv, nv))
        by_state = np.block(
            [[one, none], [none, one], [by_q + by_vdot @ q1, by_v + by_vdot @ v1], [q1, v1]]
        )
        first = np.concatenate([none, none, by_vdot, one])
        second = np.concatenate([none, none, lag * one, none])
        return cls(by_state, np.stack([first, second]), accelerations)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives (4 nv, k) by inputs other than the state, by name."""
        driven = self.accelerations.by_inputs(names)
        return {name: np.einsum("sij,sjk->ik", self.by_rates, P) for name, P in driven.items()}

    def contracted(self, adjoint: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return an adjoint (4 nv,) times `by_inputs`, (k,)."""
        return self.accelerations.contracted(adjoint @ self.by_rates, names)


def _rates(system: System, t: float, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """Return the acceleration, and 1 for rows of constraints that are independent."""
    vdot, _, kept = system.solved(q, v, tau, t=t)
    return vdot, kept
