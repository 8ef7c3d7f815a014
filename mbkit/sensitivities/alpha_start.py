"""The first step of the generalized-alpha method after a start, and its derivatives.

    vdot_0 = F(q, v, t),    a_0 = vdot_0 + (am - af) (F(q', v', t + s) - vdot_0) / s h,
    q' = retract(q, s v + s^2 vdot_0 / 2),    v' = v + s vdot_0,

with F forward dynamics and s a small part of the step: see ``begin`` in
`mbkit.kernels.time_loops.generalized_alpha`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.sensitivities.alpha_equations import blocks_of, times
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Start", "start_of"]


class Start(NamedTuple):
    """Derivatives of (q, v, a, vdot) (4 nv,) at a start, by (q, v) and by inputs.

    Attributes
    ----------
    by_state : ndarray, shape (4 nv, 2 nv)
        By q and v.
    by_inputs : mapping of str to ndarray
        By each input, (4 nv, k).
    """

    by_state: Floats
    by_inputs: Mapping[str, Floats]


def start_of(
    system: System,
    method: GeneralizedAlpha,
    h: float,
    t: float,
    state: tuple[Floats, Floats, Floats],
    names: Sequence[str],
) -> Start:
    """Return the derivatives at a start.

    Parameters
    ----------
    system, method, h : System, GeneralizedAlpha, float
        What moves, by which method, in which steps.
    t, state : float, tuple of ndarray
        When, and q, v and tau.
    names : sequence of str
        "tau", and parameters.
    """
    from mbkit.kernels.implicit.start import INTO

    q, v, tau = state
    nv, by = system.nv, ("q", "v", *names)
    first = system.derivatives("forward_dynamics", q, v, tau, by=by, t=t)
    vdot, s = first.values["vdot"], INTO * h
    x = s * v + 0.5 * s * s * vdot
    later = system.retract(q, x), v + s * vdot, tau
    second = system.derivatives("forward_dynamics", *later, by=by, t=t + s)
    # columns: q, v, inputs
    rate = np.concatenate([first.vdot[name].reshape((nv, -1)) for name in by], axis=-1)
    explicit = np.concatenate([second.vdot[name].reshape((nv, -1)) for name in by], axis=-1)
    dq, dv = np.zeros((2, *rate.shape))
    dq[:, :nv], dv[:, nv : 2 * nv] = np.eye(nv), np.eye(nv)
    T, G = (None if each is None else each[0] for each in blocks_of(system, x[None]))
    moved = (dq if G is None else G @ dq) + times(np.eye(nv), T) @ (s * dv + 0.5 * s * s * rate)
    explicit[:, : 2 * nv] = 0.0
    change = explicit + second.vdot["q"] @ moved + second.vdot["v"] @ (dv + s * rate) - rate
    c = method.numbers
    lag = (c.alpha_m - c.alpha_f) / INTO if method.start == "second order" else 0.0
    whole = np.concatenate([dq, dv, rate + lag * change, rate])
    widths = [first.vdot[name].reshape((nv, -1)).shape[1] for name in names]
    parts = np.split(whole[:, 2 * nv :], np.cumsum(widths)[:-1], axis=1) if names else []
    return Start(whole[:, : 2 * nv], dict(zip(names, parts, strict=True)))
