"""Rows of constraints, linear about states: of positions, and of velocities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.kinematics.loops import position_rows
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.derivatives.dynamics_derivatives import loops_alone
from mbkit.systems.derivatives.input_changes import rate_along_steps
from mbkit.systems.derivatives.numeric_changes import best_rate
from mbkit.systems.derivatives.parameter_changes import changed_by, moves_of

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["ConstraintRows", "RowChange", "by_row", "row_changes"]


def by_row(system: System, residuals: Floats) -> Floats:
    """Return what is given by rows of g (..., p) by rows of A v (..., m), zero where g has none."""
    found = np.zeros((*residuals.shape[:-1], system.num_velocity_constraints))
    found[..., position_rows(system)] = residuals
    return found


class ConstraintRows(NamedTuple):
    """Rows of N states.

    Attributes
    ----------
    A : ndarray, shape (N, m, nv)
        A v is the rate of g; no column of a prescribed joint.
    rate_by_q : ndarray, shape (N, m, nv)
        Of A v + g_t.
    """

    A: Floats
    rate_by_q: Floats

    @classmethod
    def of(cls, system: System, t: Floats, q: Floats, v: Floats) -> ConstraintRows:
        """Return the rows of states (N, ...)."""
        free = ~prescribed_velocities(system)
        A = system.constraint_jacobian(q, t)
        if loops_alone(system):
            by_q = system.constraint_jacobian_velocity_derivative(q, v, t)
        else:
            by_q = rate_along_steps(system, q, system.constraint_velocity, v, t)
        return cls(A * free, by_q * free)


class RowChange(NamedTuple):
    """What a parameter changes of g, by rows of A v, of A v + g_t, and of A_n^T eta; 0: nothing."""

    g: Any
    rate: Any
    eta_forces: Any


def row_changes(
    system: System,
    names: Sequence[str],
    t: Floats,
    q: Floats,
    v: Floats,
    eta: tuple[Floats, Floats, Floats] | None = None,
) -> Mapping[str, RowChange]:
    """Return what parameters of geometry change, by name; others change nothing, and are left out.

    Parameters
    ----------
    system : System
        With constraints.
    names : sequence of str
        Parameters.
    t, q, v : ndarray, shape (N,), (N, nq), (N, nv)
        States.
    eta : tuple of ndarray, optional
        t (N,), q (N, nq) and multipliers (N, m) of `RowChange.eta_forces`; zero if left out.
    """
    m = system.num_velocity_constraints
    free = ~prescribed_velocities(system)
    speed = np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))[:, None]
    force = 1e-300 if eta is None else max(1e-300, float(np.abs(eta[2]).max(initial=0.0)))
    found = {}
    for name in names:
        kind, field = name.partition(".")[0], name.rpartition(".")[2]
        if kind in ("gravity", "forces") or (
            kind == "bodies" and field in ("mass", "moment_about_com")
        ):
            continue
        start, moves = moves_of(system, name)

        def parts(e: float, k: int, name: str = name) -> Floats:
            other = changed_by(system, name, k, e)
            g = by_row(other, other.constraint_residual(q, t))
            found = [g, other.constraint_velocity(q, v, t) / speed]
            if eta is not None:
                A = other.constraint_jacobian(eta[1], eta[0])
                found.append(np.einsum("nmv,nm->nv", A, eta[2] / force))
            return np.concatenate(found, axis=-1)

        rates = [best_rate(lambda e, k=k: parts(e, k), start) for k in range(len(moves))]  # type: ignore[misc]
        g, rate, forces = np.split(np.stack(rates, axis=-1), [m, 2 * m], axis=1)
        by_eta = 0.0 if eta is None else forces * force * free[:, None]
        found[name] = RowChange(g, rate * speed[..., None], by_eta)
    return found
