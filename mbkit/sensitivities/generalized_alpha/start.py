"""The first step of the generalized-alpha method after a start, and its derivatives.

    vdot = F(q, v, t),    a = vdot + lag (F(q', v', t') - vdot),    lag = (am - af) h / s,
    q' = retract(q, x),    x = s v + s^2 vdot / 2,    v' = v + s vdot,    t' = t + s,

with F forward dynamics and s a small part of the step: see ``begin`` in
`mbkit.kernels.time_loops.generalized_alpha`. A velocity that is off the constraints, as the ends of
steps in index 3 are, is brought to them before, by the least change by kinetic energy. The velocity
of a start of second order in index 3 has besides, against the rows of positions
(`mbkit.sensitivities.perturbed_velocity`), the error of its first increment,

    l = (1 - 6 beta - 3 (am - af)) / 6 h^2 / s (F(q', v', t') - vdot) + h^2 / 12 [v, vdot].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.sensitivities.accelerations import Accelerations, States
from mbkit.sensitivities.corrections import Corrections, counted_rows
from mbkit.sensitivities.generalized_alpha.equations import blocks_of, times
from mbkit.sensitivities.perturbed_velocity import PerturbedVelocity
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities

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
    corrections : tuple of (Corrections or PerturbedVelocity, ndarray)
        The corrections of velocities; by q and v behind that, (4 nv, 2 nv), or by v, (4 nv, nv).
    """

    by_state: Floats
    by_rates: Floats
    accelerations: Accelerations
    corrections: tuple[tuple[Corrections | PerturbedVelocity, Floats], ...] = ()

    @classmethod
    def of(
        cls, system: System, method: GeneralizedAlpha, h: float, t: float, state: Sequence[Floats]
    ) -> Start:
        """Return the derivatives at a start at (q, v) with efforts tau, the `state`."""
        from mbkit.kernels.implicit_integrators.starting_values import INTO

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
        of_q, of_v, of_vdot, of_rate = np.split(np.eye(4 * nv), 4)
        by_vdot = q1 @ of_q + v1 @ of_v + of_vdot
        by_x = s * of_v + 0.5 * s * s * by_vdot
        by_rate = times(q2, G) @ of_q + times(q2, T) @ by_x + v2 @ (of_v + s * by_vdot) + of_rate
        c, by_change = method.numbers, (by_rate - by_vdot) / INTO
        lag = c.alpha_m - c.alpha_f if method.start == "second order" else 0.0
        by_a, by_v = by_vdot + lag * by_change, of_v
        corrections: tuple[tuple[Corrections | PerturbedVelocity, Floats], ...] = ()
        if _is_perturbed(system, method):
            f, turn = (1.0 - 6.0 * c.beta - 3.0 * (c.alpha_m - c.alpha_f)) / 6.0, h * h / 12.0
            ad_v, ad_vdot = _bracket(system, v), _bracket(system, vdot)
            missed = f * h * (rates[0] - vdot) / INTO + turn * ad_v @ vdot
            by_missed = f * h * by_change + turn * (ad_v @ by_vdot - ad_vdot @ of_v)
            perturbed = PerturbedVelocity.of(system, t, q, missed, kept)
            by_v = of_v + perturbed.by_steps @ of_q + perturbed.by_missed @ by_missed
            corrections = ((perturbed, of_v.T),)
        found = np.concatenate([of_q, by_v, by_a, by_vdot])
        by_state, *by_rates = np.split(found, [2 * nv, 3 * nv], axis=1)
        return cls(by_state, np.stack(by_rates), accelerations, corrections)

    @classmethod
    def of_open(
        cls, system: System, method: GeneralizedAlpha, h: float, t: float, state: Sequence[Floats]
    ) -> Start:
        """Return the same where the velocity is off the constraints."""
        q, v, tau = state
        at = np.array([t]), q[None], v[None]
        correction = Corrections.of_velocity(system, *at, counted_rows(system, *at))
        start = cls.of(system, method, h, t, (q, correction.end[1][0], tau))
        free = np.tile(~prescribed_velocities(system), 2)[:, None]
        by_state = start.by_state @ (correction.matrices[0] * free)
        corrections = ((correction, start.by_state * free.T), *start.corrections)
        return start._replace(by_state=by_state, corrections=corrections)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives (4 nv, k) by inputs other than the state, by name."""
        driven = self.accelerations.by_inputs(names)
        found = {name: np.einsum("sij,sjk->ik", self.by_rates, P) for name, P in driven.items()}
        for correction, by_closed in self.corrections:
            for name, each in correction.by_inputs(names).items():
                found[name] = found[name] + by_closed @ each[0]
        return found

    def contracted(self, adjoint: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return an adjoint (4 nv,) times `by_inputs`, (k,)."""
        found = dict(self.accelerations.contracted(adjoint @ self.by_rates, names))
        for correction, by_closed in self.corrections:
            closed = (adjoint @ by_closed)[None]
            for name, each in correction.contracted(closed, names).items():
                found[name] = found[name] + each
        return found


def _is_perturbed(system: System, method: GeneralizedAlpha) -> bool:
    """Whether the method begins with another velocity than that of the start."""
    second_order = method.formulation == "index3" and method.start == "second order"
    return second_order and system.num_velocity_constraints > 0


def _bracket(system: System, x: Floats) -> Floats:
    """Return [x, .] in the groups of the joints, (nv, nv), as ``bracket`` of kernels takes it."""
    from mbkit.kernels.implicit_integrators.starting_values import INTO

    one = np.eye(system.nv)
    odd = system.dexp_inv(INTO * x, one) - system.dexp_inv(-INTO * x, one)
    return np.asarray(odd.T / INTO)


def _rates(system: System, t: float, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """Return the acceleration, and 1 for rows of constraints that are independent."""
    vdot, _, kept = system.solved(q, v, tau, t=t)
    return vdot, kept
