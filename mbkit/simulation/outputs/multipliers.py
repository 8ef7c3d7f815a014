"""Multipliers and residuals of the constraints, at the rows that a run saves."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.integrators.integrator import Rows
from mbkit.systems.calls.evaluations import (
    MINIMUM_NORM_MULTIPLIERS,
    STORED_CONSTRAINT_STATE,
    STORED_DYNAMICS,
)
from mbkit.systems.constraints import constraint_parts, solved_by

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared


def constraints_of(run: Prepared) -> Callable[[Rows], tuple[Any, Any, BaseException | None]] | None:
    """Return the function for multipliers and residuals of rows; None for a tree."""
    if not run.system.num_velocity_constraints:
        return None
    return functools.partial(multipliers_and_residuals, run)


def multipliers_and_residuals(
    run: Prepared, rows: Rows, tau: Any = None
) -> tuple[Any, Any, BaseException | None]:
    """Return multipliers (k, m), residuals (k, 3), not a number where one fails, and the failure.

    They are those of the state alone, by the equations of the run, with the pull of
    `mbkit.Baumgarte` where it has one; forces are evaluated anew, a callable tau is called once for
    each row, and of a sampled one past efforts are taken. Multipliers that the integrator has found
    itself are taken as they are. Rows may be those of several runs of one system, whose efforts are
    `tau` (k, nv).
    """
    system, t = run.system, rows.t
    residuals = np.full((t.size, 3), np.nan)
    multipliers = np.full((t.size, system.num_velocity_constraints), np.nan)
    try:
        tau = efforts_of(run, rows) if tau is None else tau
        given = rows.q, rows.v, tau, None
        vdot, multipliers, kept = solved_by(
            system, STORED_DYNAMICS, given, t=t, pull=_pull(run), on_error="nan"
        )
        if rows.multipliers.size:
            _put_own(run, rows, multipliers, kept)
        motions = (None, None), (rows.v, None), (rows.v, vdot)
        for level, motion in enumerate(motions):
            parts = constraint_parts(
                system, rows.q, *motion, t, on_error="nan", what=STORED_CONSTRAINT_STATE
            )
            residuals[:, level] = np.abs(parts[level]).max(axis=-1, initial=0.0)
    except BaseException as error:
        return multipliers, residuals, error
    return multipliers, residuals, None


def _put_own(run: Prepared, rows: Rows, multipliers: Any, kept: Any) -> None:
    """Replace multipliers of states by those that the integrator has found.

    Of least norm where rows depend on each other: A^T lambda is kept. Few rows are solved for as
    they are; of many A is not formed.
    """
    system = run.system
    own = np.isfinite(rows.multipliers).all(axis=1)
    multipliers[own] = rows.multipliers[own]
    assert run.workspace.closure is not None  # it has constraints
    reduces = run.workspace.closure.record[0]["reduce"] != 0
    for row in np.flatnonzero(own & ~np.asarray(kept, dtype=bool).all(axis=-1)):
        q, t = rows.q[row], rows.t[row]
        if reduces:
            given = np.append(multipliers[row], t)
            zero = system.evaluator.zero
            multipliers[row] = system.evaluator.compute(MINIMUM_NORM_MULTIPLIERS, q, zero, given)
            continue
        A = system.constraint_jacobian(q, t)
        multipliers[row] = np.linalg.lstsq(A.T, A.T @ multipliers[row], rcond=1e-9)[0]


def _pull(run: Prepared) -> tuple[float, float]:
    """Return stiffness and damping of the loop stabilisation in the steps of a run."""
    assert run.workspace.closure is not None  # it has constraints
    record = run.workspace.closure.record[0]
    return float(record["stiffness"]), float(record["damping"])


def efforts_of(run: Prepared, rows: Rows) -> Any:
    """Return the efforts that the run was given, at all rows, (k, nv)."""
    system = run.system
    tau = np.zeros((rows.t.size, system.nv))
    if run.held is not None:
        tau[:] = [run.held.at(float(t)) for t in rows.t]
    elif callable(run.tau):
        for row, (t, q, v) in enumerate(zip(rows.t, rows.q, rows.v, strict=True)):
            tau[row] = run.tau(float(t), q.copy(), v.copy())
    elif run.tau is not None:
        tau += run.workspace.tau
    return tau
