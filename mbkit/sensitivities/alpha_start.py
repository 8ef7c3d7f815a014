"""The first step of the generalized-alpha method after a start, and its derivatives.

    vdot = F(q, v, t),    a = vdot + lag (F(q', v', t') - vdot),    lag = (am - af) h / s,
    q' = retract(q, x),    x = s v + s^2 vdot / 2,    v' = v + s vdot,    t' = t + s,

with F forward dynamics and s a small part of the step: see ``begin`` in
`mbkit.kernels.time_loops.generalized_alpha`. A velocity that is off the constraints, as the ends of
steps in index 3 are, is brought to them before, by the least change by kinetic energy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.sensitivities.accelerations import Accelerations, States, prescribed
from mbkit.sensitivities.alpha_equations import blocks_of, times
from mbkit.sensitivities.corrections import Corrections, counted_rows
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
    closing : Corrections, optional
        What has brought the velocity to the constraints.
    by_closed : ndarray, shape (4 nv, 2 nv), optional
        By q and v behind that.
    """

    by_state: Floats
    by_rates: Floats
    accelerations: Accelerations
    closing: Corrections | None = None
    by_closed: Floats | None = None

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
        states = States(*points, np.stack([vdot, rates[0]]), np.stack([tau, tau]))
        accelerations = Accelerations.at(system, states, np.stack([kept, rates[1]]))
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

    @classmethod
    def of_open(
        cls, system: System, method: GeneralizedAlpha, h: float, t: float, state: Sequence[Floats]
    ) -> Start:
        """Return the same where the velocity is off the constraints."""
        q, v, tau = state
        at = np.array([t]), q[None], v[None]
        closing = Corrections.of_velocity(system, *at, counted_rows(system, *at))
        start = cls.of(system, method, h, t, (q, closing.end[1][0], tau))
        free = np.tile(~prescribed(system), 2)[:, None]
        by_state = start.by_state @ (closing.matrices[0] * free)
        return start._replace(by_state=by_state, closing=closing, by_closed=start.by_state * free.T)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives (4 nv, k) by inputs other than the state, by name."""
        driven = self.accelerations.by_inputs(names)
        found = {name: np.einsum("sij,sjk->ik", self.by_rates, P) for name, P in driven.items()}
        if self.closing is not None and self.by_closed is not None:
            for name, each in self.closing.by_inputs(names).items():
                found[name] = found[name] + self.by_closed @ each[0]
        return found

    def contracted(self, adjoint: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return an adjoint (4 nv,) times `by_inputs`, (k,)."""
        found = dict(self.accelerations.contracted(adjoint @ self.by_rates, names))
        if self.closing is not None and self.by_closed is not None:
            closed = (adjoint @ self.by_closed)[None]
            for name, each in self.closing.contracted(closed, names).items():
                found[name] = found[name] + each
        return found


def _rates(system: System, t: float, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """Return the acceleration, and 1 for rows of constraints that are independent."""
    vdot, _, kept = system.solved(q, v, tau, t=t)
    return vdot, kept
