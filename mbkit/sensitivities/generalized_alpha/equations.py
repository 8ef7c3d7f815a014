"""Linearised steps of the generalized-alpha method on Lie groups, many at once.

A step solves r(q_1, v_1, vdot_1, multipliers) = 0. With w = D + A_n^T eta, the end of the step is

    q_1 = retract(q_n, h D),      dq_1 = G dq_n + h T dD,      dw = dD + A_n^T deta + E dq_n,
    v_1 = kappa w + v_k,          v_k = (1 - kappa) v_n + h (1 - gamma - kappa (1/2 - beta)) a_n,
    a_1 = w / (h beta) + a_k,     a_k = -v_n / (h beta) - (1/2 - beta) / beta a_n,
    vdot_1 = chi a_1 + (am a_n - af vdot_n) / (1 - af),

kappa = gamma / beta, chi = (1 - am) / (1 - af), E = D_q(A_n^T eta), T the differential of the
retraction, G = T(x) T(-x)^-1. By the implicit function theorem

    (dD, h dlambda, deta) = -S^-1 (W (dq_n, dv_k, dvdot_k) + dr),

with S the matrix of Newton's method at the end of the step
(`mbkit.kernels.implicit_integrators.newton_matrix`), and
vdot_k the part of vdot_1 without w. Rows of equations of motion are multiplied by h, those of g
by 1 / h, and constraints by the size of the mass matrix besides, a power of two. Rows of
constraints that depend on others are not solved for. Formulas:
`mbkit.kernels.sensitivities.generalized_alpha_equations`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.integrators.generalized_alpha import AlphaCoefficients
from mbkit.kernels.implicit_integrators.layout import MOST_STEPS
from mbkit.sensitivities.charts import Charts
from mbkit.sensitivities.constraint_rows import ConstraintRows, RowChange, by_row
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.calls.failures import failure
from mbkit.systems.constraints import kept_rows

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Ends", "Equations", "Gains", "Weights", "blocks_of"]


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
    """The ends of N steps, and the steps to them; m rows of constraints.

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


class Weights(NamedTuple):
    """The weights (adjoint variables) of the equations of N steps.

    Attributes
    ----------
    efforts, rates, g, forces : ndarray, shape (N, nv), (N, m), (N, m), (N, nv)
        Weights of changes of the equations of motion, of A v + g_t, of g, and of A_n^T eta.
    """

    efforts: Floats
    rates: Floats
    g: Floats
    forces: Floats


@final
@attrs.frozen(eq=False, slots=False)
class Equations:
    """Steps that are linear about their ends, N.

    Attributes
    ----------
    system : System
        The system that moves.
    x : ndarray, shape (N, nv)
        Increments of the configuration.
    given : NamedTuple
        The arrays from which kernels assemble the equations:
        `mbkit.kernels.sensitivities.generalized_alpha_equations`.
    """

    system: System
    x: Floats
    given: Any

    @classmethod
    def of(cls, system: System, gains: Gains, ends: Ends, *, stabilised: bool) -> Equations:
        """Return the steps that end there."""
        from mbkit.kernels.derivatives.inverse_dynamics import inverse_dynamics_derivatives
        from mbkit.kernels.sensitivities import generalized_alpha_equations as kernels

        make: Any = kernels.Equations
        free = ~prescribed_velocities(system) * 1.0
        parts = (
            gains.h, gains.w[:, 1::2], ends.x, ends.q, ends.v, ends.vdot,
            *_of_forces(system, ends), *_of_constraints(system, ends, stabilised),
            free, Charts.of(system).memory,
        )  # fmt: skip
        given = map(np.ascontiguousarray, parts)
        return cls(system, ends.x, make(*given, inverse_dynamics_derivatives.address))

    @property
    def memory(self) -> Any:
        """Memory of kernels for one step."""
        from mbkit.kernels.sensitivities.generalized_alpha_equations import Matrices

        nv, n, count = self.system.nv, self.size, Charts.of(self.system).numbers(rates=False)
        block = nv, MOST_STEPS
        shapes: Any = (3, nv, nv), (n, nv), (n, nv), (n, n), block, block, count
        return Matrices(*map(np.zeros, shapes))

    @property
    def size(self) -> int:
        """How many equations there are, of motion and of constraints."""
        return int(self.system.nv + self.given.A.shape[1] + self.given.A_n.shape[1])

    @functools.cached_property
    def matrices(self) -> tuple[Floats, ...]:
        """S (N, n, n), W (N, n, 3 nv) and V (N, n, nv).

        Of the residuals, by the unknowns, by (q_n, v_k, vdot_k), and by w.
        """
        from mbkit.kernels.sensitivities.generalized_alpha_equations import assemble

        n, nv, evaluator = self.size, self.system.nv, self.system.evaluator
        found = tuple(np.empty((len(self.x), n, width)) for width in (n, 3 * nv, nv))
        workspace = evaluator.take()
        status = assemble(workspace.address, self.given, self.memory, *found)
        if status != 0:
            raise failure(evaluator, status, workspace, {"x": self.x[0]})
        evaluator.give_back(workspace)
        return found

    @functools.cached_property
    def retraction(self) -> tuple[Floats | None, Floats | None]:
        """T and G (N, nv, nv); None for unity."""
        return blocks_of(self.system, self.x)

    @property
    def A_n(self) -> Floats | None:
        """Rows of constraints where steps begin, (N, m, nv), or None without eta."""
        return self.given.A_n if len(self.given.E) else None

    @property
    def E(self) -> Floats | None:
        """The derivative of A_n^T eta by q_n, (N, nv, nv), or None without eta."""
        return self.given.E if len(self.given.E) else None

    def solved(self, residuals: Floats) -> tuple[Floats, Floats]:
        """Return the changes of D and w, (N, nv, k), by those of residuals (N, n, k)."""
        nv = self.system.nv
        unknowns = -np.asarray(np.linalg.solve(self.matrices[0], residuals), dtype=np.float64)
        D = unknowns[:, :nv]
        if self.A_n is None:
            return D, D
        return D, D + np.swapaxes(self.A_n, -1, -2) @ unknowns[:, -self.A_n.shape[1] :]

    def residuals(self, efforts: Floats, rows: RowChange | None) -> Floats:
        """Return changes of residuals (N, n, k) from those of efforts (N, nv, k) and of rows."""
        given, h = self.given, self.given.h[:, None, None]
        found = np.zeros((len(self.x), self.size, efforts.shape[-1]))
        nv, m = efforts.shape[1], given.A.shape[1]
        found[:, :nv] = h * efforts
        if rows is not None:
            of_g, of_rate = given.of_g[..., None], given.of_rate[..., None]
            found[:, nv : nv + m] = of_g / h * rows.g + of_rate * rows.rate
            if self.A_n is not None:
                found[:, nv + m :] = of_g * rows.rate
                found += self.matrices[2] @ rows.eta_forces
        return found

    def weights(self, residuals: Floats, w: Floats) -> Weights:
        """Return weights of changes of the equations, from adjoints of residuals (N, n) and w."""
        given, h = self.given, self.given.h[:, None]
        nv, m = self.system.nv, given.A.shape[1]
        rows = residuals[:, nv : nv + m]
        rates = given.of_rate * rows
        if self.A_n is not None:
            rates = rates + given.of_g * residuals[:, nv + m :]
        efforts = h * residuals[:, :nv] * given.free
        return Weights(efforts, rates, given.of_g * rows / h, w * given.free)


def _of_forces(system: System, ends: Ends) -> tuple[Floats, Floats]:
    """Return derivatives (N, nv, nv) by q, of those of constraints too, and by v, or none."""
    by_q = by_v = np.zeros((0, system.nv, system.nv))
    if system.forces:
        by_q, by_v = system.force_derivatives(ends.q, ends.v, ends.t)
    if system.num_velocity_constraints:
        of_rows = system.constraint_force_derivative(ends.q, ends.multipliers, ends.t)
        by_q = by_q + of_rows if len(by_q) else of_rows
    return by_q, by_v


def _of_constraints(system: System, ends: Ends, stabilised: bool) -> tuple[Floats, ...]:
    """Return A, Z, of_g, of_rate, A_n and E: rows by the size of the mass matrix."""
    count, nv, m = len(ends.x), system.nv, system.num_velocity_constraints
    none = np.zeros((count, 0, nv)), np.zeros((0, nv, nv))
    if not m:
        return none[0], none[0], np.zeros((count, 0)), np.zeros((count, 0)), *none
    free = ~prescribed_velocities(system)
    rows = ConstraintRows.of(system, ends.t, ends.q, ends.v)
    with_g = by_row(system, np.ones(system.num_position_constraints)) > 0.0
    largest = system.mass_matrix(ends.q[0]).max()
    size = np.exp2(np.round(np.log2(largest)))  # by which nothing is rounded
    scaled = size * (kept_rows(system, ends.q, ends.v, ends.t) != 0.0)
    of_g, of_rate = scaled * with_g, scaled * ~with_g
    if not (stabilised and with_g.any()):
        return *rows, of_g, of_rate, *none
    A_n = system.constraint_jacobian(ends.q_n, ends.t_n) * free * (of_g != 0.0)[..., None]
    E = system.constraint_force_derivative(ends.q_n, ends.eta, ends.t_n) * free[:, None]
    return *rows, of_g, of_rate, A_n, E


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
