"""Rows of constraints, linear about states: of positions, and of velocities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.closed_loops.loop_equations import position_rows
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.derivatives.constraint_changes import MovingRows
from mbkit.systems.derivatives.dynamics_derivatives import (
    by_poses,
    constraints_by_steps,
    steps_of_constraints,
)
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.derivatives.input_changes import rate_along_steps
from mbkit.systems.derivatives.joint_changes import Motion
from mbkit.systems.derivatives.loosened import Loosened
from mbkit.systems.derivatives.moving_joints import moving_joint
from mbkit.systems.derivatives.numeric_changes import best_rate
from mbkit.systems.derivatives.parameter_moves import changed_by, moves_of

if TYPE_CHECKING:
    from mbkit.systems.derivatives.on_duals.exact_constraints import RowDerivatives
    from mbkit.systems.system import System

__all__ = [
    "ConstraintRows",
    "RowChange",
    "by_row",
    "columns_by_row",
    "moving_rows",
    "rate_by_steps",
    "residual_by_steps",
    "row_changes",
]


def by_row(system: System, residuals: Floats) -> Floats:
    """Return numbers by rows of g (..., p) by rows of A v (..., m), zero where g has none."""
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
        return cls(A * free, rate_by_steps(system, q, v, t) * free)


def rate_by_steps(system: System, q: Floats, v: Floats, t: Floats) -> Floats:
    """Return the derivative of A v + g_t by steps of q, (N, m, ndx).

    By differences of eighth order where constraints are not compiled for dual numbers.
    """
    if by_poses(system):
        return system.constraint_jacobian_velocity_derivative(q, v, t)
    found = constraints_by_steps(system, q, v, t)
    if found is None:
        return _along_steps(system, q, system.constraint_velocity, v, t)
    return found.rate


def residual_by_steps(system: System, q: Floats, t: Floats) -> Floats:
    """Return the derivative of g by steps of q, by rows of A v, (N, m, ndx); cf. above."""
    found = constraints_by_steps(system, q, np.zeros(system.nv), t)
    if found is None:
        residual = _along_steps(system, q, system.constraint_residual, t)
    else:
        residual = found.residual
    return columns_by_row(system, residual)


def _along_steps(
    system: System, q: Floats, function: Callable[..., Floats], *given: Floats
) -> Floats:
    """Return differences of the results of constraints by steps, (N, rows, ndx)."""
    moving = steps_of_constraints(system)
    rates = rate_along_steps(system, q, function, *given, moving=moving)
    found = np.zeros((*rates.shape[:-1], system.ndx))
    found[..., moving] = rates
    return found


def _nothing(system: System, count: int) -> Floats:
    """Return no accelerations and no multipliers, (count, nv + m)."""
    return np.zeros((count, system.nv + system.num_velocity_constraints))


def _finite(rows: RowDerivatives) -> bool:
    return all(np.isfinite(part).all() for part in rows)


def columns_by_row(system: System, columns: Floats) -> Floats:
    """Return columns (N, p, k) of changes of g by rows of A v, (N, m, k)."""
    return np.swapaxes(by_row(system, np.swapaxes(columns, 1, 2)), 1, 2)


class RowChange(NamedTuple):
    """Derivatives by a parameter: of g, by rows of A v, of A v + g_t, and of A_n^T eta; 0: none."""

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
    """Return the changes by parameters of geometry, by name; others change nothing, are left out.

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
    found = dict(_by_places(system, names, t, q, v, eta))
    for name in names:
        kind, field = name.partition(".")[0], name.rpartition(".")[2]
        if kind in ("gravity", "forces") or (kind == "bodies" and field in _OF_INERTIA):
            continue
        if name in found:
            continue
        exact = _by_numbers(system, name, t, q, v, eta)
        if exact is None:
            exact = _by_joint(system, name, t, q, v, eta)
        found[name] = _by_differences(system, name, t, q, v, eta) if exact is None else exact
    return found


#: Fields of bodies that no constraint depends on.
_OF_INERTIA = ("mass", "moment_about_com")

_Eta = tuple[Floats, Floats, Floats]


def _by_places(
    system: System, names: Sequence[str], t: Floats, q: Floats, v: Floats, eta: _Eta | None
) -> Iterator[tuple[str, RowChange]]:
    """Give the changes by places of joints of the tree: steps of free joints there, at rest."""
    loosened = Loosened.of(system, names)
    if loosened is None:
        return
    loose, moving, nv = loosened.system, loosened.moving, system.nv
    closed, w = loosened.states(q, v)
    # of a free joint at rest the velocities are the rates of its steps
    rates = loose.constraint_jacobian(closed, t)[..., nv:]
    g = by_row(system, np.ones(system.num_position_constraints))[:, None] * rates
    rate = rate_by_steps(loose, closed, w, t)[..., moving]
    forces: Any = None
    if eta is not None:
        (start,) = loosened.states(eta[1])
        by_start = loose.constraint_force_derivative(start, eta[2], eta[0])
        forces = by_start[:, :nv, moving] * ~prescribed_velocities(system)[:, None]
    for name, steps in loosened.steps.items():
        own = steps[moving]
        yield name, RowChange(g @ own, rate @ own, 0.0 if forces is None else forces @ own)


def _by_joint(
    system: System, name: str, t: Floats, q: Floats, v: Floats, eta: _Eta | None
) -> RowChange | None:
    """Return the change by a number of a joint of the tree, whose motion a free joint there has."""
    moving = moving_joint(system, name)
    motion = None if moving is None else Motion.of_numbers(system, moving, q, v, np.zeros(v.shape))
    if moving is None or motion is None:
        return None
    loosened, nv = Loosened.of_joint(system, moving.joint), system.nv
    loose, free = loosened.system, ~prescribed_velocities(system)[:, None]
    closed, w = loosened.states(q, v)
    A = loose.constraint_jacobian(closed, t)[..., nv:]
    twists, rates = motion.twists[..., 0], motion.rates[..., 0]
    g = by_row(system, np.ones(system.num_position_constraints))[:, None] * (A @ twists)
    rate = rate_by_steps(loose, closed, w, t)[..., loosened.moving] @ twists + A @ rates
    if eta is None:
        return RowChange(g, rate, 0.0)
    still = np.zeros(v.shape)
    start = Motion.of_numbers(system, moving, eta[1], still, still)
    if start is None:
        return None
    (opened,) = loosened.states(eta[1])
    by_start = loose.constraint_force_derivative(opened, eta[2], eta[0])
    forces = by_start[:, :nv, loosened.moving] @ start.twists[..., 0]
    # a force on the free joint is one on the joint, along the twist that its number adds
    wrench = np.einsum("nmi,nm->ni", loose.constraint_jacobian(opened, eta[0])[..., nv:], eta[2])
    own = system.velocity_slice(moving.joint)
    forces[:, own] += np.einsum("nikj,ni->njk", start.J, wrench)
    return RowChange(g, rate, forces * free)


def moving_rows(system: System, name: str) -> MovingRows | None:
    """Return how a parameter moves constraints on which nothing else depends, if exact."""
    return None if is_spread(system) else MovingRows.of(system, name, *moves_of(system, name))


def _by_numbers(
    system: System, name: str, t: Floats, q: Floats, v: Floats, eta: _Eta | None
) -> RowChange | None:
    """Return the change by the numbers that compiled constraints read, on dual numbers."""
    rows = moving_rows(system, name)
    if rows is None:
        return None
    here = rows.at(TimedStates(q, v, t), _nothing(system, len(q)))
    if not _finite(here):
        return None
    change = RowChange(columns_by_row(system, here.residual), here.rate, 0.0)
    if eta is None:
        return change
    still = np.zeros(v.shape)
    there = rows.at(TimedStates(eta[1], still, eta[0]), np.concatenate([still, eta[2]], axis=-1))
    free = ~prescribed_velocities(system)[:, None]
    return change._replace(eta_forces=there.forces * free) if _finite(there) else None


def _by_differences(
    system: System, name: str, t: Floats, q: Floats, v: Floats, eta: _Eta | None
) -> RowChange:
    """Return the change by other parameters, of systems with other numbers."""
    m, free = system.num_velocity_constraints, ~prescribed_velocities(system)[:, None]
    speed = np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))[:, None]
    force = 1e-300 if eta is None else max(1e-300, float(np.abs(eta[2]).max(initial=0.0)))
    start, moves = moves_of(system, name)

    def parts(e: float, k: int) -> Floats:
        other = changed_by(system, name, k, e)
        g = by_row(other, other.constraint_residual(q, t))
        found = [g, other.constraint_velocity(q, v, t) / speed]
        if eta is not None:
            A = other.constraint_jacobian(eta[1], eta[0])
            found.append(np.einsum("nmv,nm->nv", A, eta[2] / force))
        return np.concatenate(found, axis=-1)

    rates = [best_rate(lambda e, k=k: parts(e, k), start) for k in range(len(moves))]  # type: ignore[misc]
    g, rate, forces = np.split(np.stack(rates, axis=-1), [m, 2 * m], axis=1)
    return RowChange(g, rate * speed[..., None], 0.0 if eta is None else forces * force * free)
