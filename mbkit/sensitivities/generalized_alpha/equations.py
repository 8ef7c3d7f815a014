"""Linearised steps of the generalized-alpha method on Lie groups, many at once.

A step solves r(q_1, v_1, vdot_1, multipliers) = 0. With w = D + A_n^T eta, what follows from it is

    q_1 = retract(q_n, h D),      dq_1 = G dq_n + h T dD,      dw = dD + A_n^T deta + E dq_n,
    v_1 = kappa w + v_k,          v_k = (1 - kappa) v_n + h (1 - gamma - kappa (1/2 - beta)) a_n,
    a_1 = w / (h beta) + a_k,     a_k = -v_n / (h beta) - (1/2 - beta) / beta a_n,
    vdot_1 = chi a_1 + (am a_n - af vdot_n) / (1 - af),

kappa = gamma / beta, chi = (1 - am) / (1 - af), E = D_q(A_n^T eta), T the differential of the
retraction, G = T(x) T(-x)^-1. By the implicit function theorem

    (dD, h dlambda, deta) = -S^-1 (W (dq_n, dv_k, dvdot_k) + dr),

with S the matrix of Newton's method at the end of the step
(`mbkit.kernels.implicit_integrators.newton_matrix`), and
vdot_k what is left of vdot_1 without w. Rows of equations of motion are multiplied by h, those of g
by 1 / h, and constraints by the size of the mass matrix besides. Rows of constraints that depend on
others are not solved for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.integrators.generalized_alpha import AlphaCoefficients
from mbkit.sensitivities.charts import Charts
from mbkit.sensitivities.constraint_rows import ConstraintRows, RowChange, by_row
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.constraints import kept_rows

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Ends", "Equations", "Gains", "blocks_of"]


class Gains(NamedTuple):
    """Weights of the beginning and of w in the ends of N steps; rows (q, v, a, vdot).

    Where the next step has another size, a at the end is the one that it begins with:
    a + (am - af) (h_next / h - 1) (vdot_1 - vdot_n).

    Attributes
    ----------
    known : ndarray, shape (N, 4, 4)
        From its beginning; that of q is G.
    w : ndarray, shape (N, 4)
        From w.
    h : ndarray, shape (N,)
        Steps. [s]
    """

    known: Floats
    w: Floats
    h: Floats

    @classmethod
    def of(cls, c: AlphaCoefficients, h: Floats, following: Floats) -> Gains:
        """Return those of a method, with steps (N,) and the ones that follow them."""
        kappa, late = c.gamma / c.beta, 1.0 / (1.0 - c.alpha_f)
        chi, before = (1.0 - c.alpha_m) * late, (0.5 - c.beta) / c.beta
        known, w = np.zeros((len(h), 4, 4)), np.zeros((len(h), 4))
        known[:, 1, 1], known[:, 1, 2] = 1.0 - kappa, h * (1.0 - c.gamma - c.gamma * before)
        known[:, 2, 1], known[:, 2, 2] = -1.0 / (h * c.beta), -before
        known[:, 3] = chi * known[:, 2] + [0.0, 0.0, c.alpha_m * late, -c.alpha_f * late]
        w[:, 1], w[:, 2], w[:, 3] = kappa, 1.0 / (h * c.beta), chi / (h * c.beta)
        lag = (c.alpha_m - c.alpha_f) * (following / h - 1.0)
        known[:, 2] += lag[:, None] * (known[:, 3] - [0.0, 0.0, 0.0, 1.0])
        w[:, 2] += lag * w[:, 3]
        return cls(known, w, h)


class Ends(NamedTuple):
    """The ends of N steps, and what led there; m rows of constraints.

    Attributes
    ----------
    t, q, v, vdot, multipliers : ndarray, shape (N,), (N, nq), (N, nv), (N, nv), (N, m)
        At the end.
    x : ndarray, shape (N, nv)
        Increments of the configuration, h D.
    q_n, t_n, eta : ndarray, shape (N, nq), (N,), (N, m)
        Where the step began, and multipliers of the stabilised form.
    """

    t: Floats
    q: Floats
    v: Floats
    vdot: Floats
    multipliers: Floats
    x: Floats
    t_n: Floats
    q_n: Floats
    eta: Floats


class Equations(NamedTuple):
    """Linearised steps, one a row; n equations, of motion and of constraints.

    Attributes
    ----------
    S : ndarray, shape (N, n, n)
        Residuals by the unknowns; overwritten by the adjoint.
    W : ndarray, shape (N, n, 3 nv)
        Residuals by (q_n, v_k, vdot_k).
    T, G : ndarray, shape (N, nv, nv), or None
        Of the retraction; None for unity.
    P : ndarray, shape (N, nv, nv)
        h times the residuals of the equations of motion by w.
    closed : _Closed or None
        Rows of constraints, where there are some.
    """

    S: Floats
    W: Floats
    T: Floats | None
    G: Floats | None
    P: Floats
    closed: _Closed | None

    @classmethod
    def of(cls, system: System, gains: Gains, ends: Ends, stabilised: bool) -> Equations:
        """Return the linearised steps that end there."""
        K, C, M = _of_motion(system, ends)
        T, G = blocks_of(system, ends.x)
        h, kappa, chi = (x[:, None, None] for x in (gains.h, gains.w[:, 1], gains.w[:, 3]))
        P = h * (kappa * C + chi * M)
        S = P + h * h * times(K, T)
        W = h * np.concatenate([times(K, G), C, M], axis=-1)
        closed = None
        if system.num_velocity_constraints:
            size = np.diagonal(M, 0, 1, 2).max(axis=-1)
            closed = _Closed.of(system, ends, size, (T, G), stabilised)
            S, W = closed.bordered(gains, P, S, W)
        fixed = np.flatnonzero(prescribed_velocities(system))
        if fixed.size:
            S[:, fixed], S[:, :, fixed], W[:, fixed] = 0.0, 0.0, 0.0
            S[:, fixed, fixed] = 1.0
        return cls(S, W, T, G, P, closed)

    @property
    def A_n(self) -> Floats | None:
        """Rows of constraints where steps begin, (N, m, nv), or None without eta."""
        return None if self.closed is None else self.closed.A_n

    @property
    def E(self) -> Floats | None:
        """The derivative of A_n^T eta by q_n, (N, nv, nv), or None without eta."""
        return None if self.closed is None else self.closed.E

    def solved(self, residuals: Floats) -> tuple[Floats, Floats]:
        """Return what changes of residuals (N, n, k) do to D and w, (N, nv, k)."""
        nv = self.P.shape[1]
        unknowns = -np.asarray(np.linalg.solve(self.S, residuals), dtype=np.float64)
        D = unknowns[:, :nv]
        if self.A_n is None:
            return D, D
        return D, D + np.swapaxes(self.A_n, -1, -2) @ unknowns[:, -self.A_n.shape[1] :]

    def residuals(self, gains: Gains, efforts: Floats, rows: RowChange | None) -> Floats:
        """Return changes of residuals (N, n, k) from those of efforts (N, nv, k) and of rows."""
        h = gains.h[:, None, None]
        efforts = h * efforts
        if self.closed is None:
            return efforts
        found = np.zeros((*self.W.shape[:2], efforts.shape[-1]))
        nv, m = efforts.shape[1], self.closed.A.shape[1]
        found[:, :nv] = efforts
        if rows is not None:
            c, rate = self.closed, rows.rate
            if c.A_n is not None:
                found[:, :nv] += self.P @ rows.eta_forces
                rate = rate + gains.w[:, 1, None, None] * c.A @ rows.eta_forces
                found[:, nv + m :] = c.of_g * rate
            found[:, nv : nv + m] = c.of_g / h * rows.g + c.of_rate * rate
        return found


def _of_motion(system: System, ends: Ends) -> tuple[Floats, Floats, Floats]:
    """Return K, C and M of the equations of motion."""
    K, C = system.inverse_dynamics_derivatives(ends.q, ends.v, ends.vdot, t=ends.t)
    if system.num_velocity_constraints:
        K = K - system.constraint_force_derivative(ends.q, ends.multipliers, ends.t)
    return K, C, system.mass_matrix(ends.q)


class _Closed(NamedTuple):
    """Rows of constraints at the ends of steps, by the size of the mass matrix.

    Attributes
    ----------
    A, Z : ndarray, shape (N, m, nv)
        Of A v + g_t by v and by q.
    of_g, of_rate : ndarray, shape (N, m, 1)
        The size where the row of g is solved for, and where a row without one is; else 0.
    A_n, E : ndarray, shape (N, m, nv), (N, nv, nv), or None
        Of the stabilised form.
    T, G : ndarray, shape (N, nv, nv), or None
        Of the retraction.
    """

    A: Floats
    Z: Floats
    of_g: Floats
    of_rate: Floats
    A_n: Floats | None
    E: Floats | None
    T: Floats | None
    G: Floats | None

    @classmethod
    def of(
        cls,
        system: System,
        ends: Ends,
        size: Floats,
        retraction: tuple[Floats | None, Floats | None],
        stabilised: bool,
    ) -> _Closed:
        """Return the rows of constraints; T and G are those of the retraction."""
        free = ~prescribed_velocities(system)
        rows = ConstraintRows.of(system, ends.t, ends.q, ends.v)
        with_g = by_row(system, np.ones(system.num_position_constraints)) > 0.0
        kept = kept_rows(system, ends.q, ends.v, ends.t) != 0.0
        scaled = (kept * size[:, None])[..., None]
        of_g, of_rate = scaled * with_g[:, None], scaled * ~with_g[:, None]
        A_n = E = None
        if stabilised and with_g.any():
            A_n = system.constraint_jacobian(ends.q_n, ends.t_n) * free * (of_g != 0.0)
            E = system.constraint_force_derivative(ends.q_n, ends.eta, ends.t_n) * free[:, None]
        return cls(*rows, of_g, of_rate, A_n, E, *retraction)

    def bordered(self, gains: Gains, P: Floats, S: Floats, W: Floats) -> tuple[Floats, Floats]:
        """Return S and W with the rows of constraints, and with the columns of multipliers."""
        h, kappa = gains.h[:, None, None], gains.w[:, 1, None, None]
        count, m, nv = self.A.shape
        n = nv + m * (1 if self.A_n is None else 2)
        whole, by_state = np.zeros((count, n, n)), np.zeros((count, n, 3 * nv))
        whole[:, :nv, :nv], by_state[:, :nv] = S, W
        more = slice(nv + m, n)
        rate = kappa * self.A + h * times(self.Z, self.T)
        rate_by_q = times(self.Z, self.G)
        solved = self.of_g + self.of_rate  # 0 for rows that depend on others
        whole[:, :nv, nv : nv + m] = -np.swapaxes(solved * self.A, -1, -2)
        lines = slice(nv, nv + m)
        whole[:, lines, :nv] = self.of_g * times(self.A, self.T) + self.of_rate * rate
        if self.E is not None:
            by_state[:, :nv, :nv] += P @ self.E
            rate_by_q = rate_by_q + kappa * self.A @ self.E
        by_state[:, lines, :nv] = self.of_g / h * times(self.A, self.G) + self.of_rate * rate_by_q
        by_state[:, lines, nv : 2 * nv] = self.of_rate * self.A
        if self.A_n is not None:
            back = np.swapaxes(self.A_n, -1, -2)
            whole[:, :nv, more] = P @ back
            whole[:, more, :nv] = self.of_g * rate
            whole[:, more, more] = self.of_g * (kappa * self.A @ back)
            whole[:, lines, more] = self.of_rate * (kappa * self.A @ back)
            by_state[:, more, :nv] = self.of_g * rate_by_q
            by_state[:, more, nv : 2 * nv] = self.of_g * self.A
        unsolved = np.zeros((count, n), dtype=bool)
        unsolved[:, lines] = solved[..., 0] == 0.0
        unsolved[:, more] = self.of_g[..., 0] == 0.0 if n > nv + m else False
        sample, entry = np.nonzero(unsolved)
        whole[sample, entry, entry] = 1.0
        return whole, by_state


def times(matrices: Floats, blocks: Floats | None) -> Floats:
    """Return the product, where None is unity."""
    return matrices if blocks is None else matrices @ blocks


def blocks_of(system: System, x: Floats) -> tuple[Floats | None, Floats | None]:
    """Return T and G of steps x (N, ndx), one block a joint; None where coordinates add.

    ``retract(retract(q, dq), x + dx)`` is ``retract(retract(q, x), G dq + T dx)`` to first order.
    """
    charts = Charts.of(system)
    if not charts.blocks:
        return None, None
    G, T = charts.dense(charts.differentials(x, None, None), len(x))
    return T, G
