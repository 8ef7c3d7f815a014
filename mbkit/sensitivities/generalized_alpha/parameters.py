"""Changes of the residuals of generalized-alpha steps by efforts and by parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.sensitivities.accelerations import contracted_inertia
from mbkit.sensitivities.constraint_rows import RowChange, row_changes
from mbkit.sensitivities.generalized_alpha.equations import Ends, Equations, Gains
from mbkit.sensitivities.passes.equations import WeightedEquations, weighted_changes
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.parameter_changes import change_by_parameter, changes_by_places

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["ResidualChange", "changes_by_inputs", "contracted"]


class ResidualChange(NamedTuple):
    """What an input changes of residuals (N, n, k), and of w besides (N, nv, k); 0: nothing."""

    residuals: Floats
    w: Any = 0.0


def changes_by_inputs(
    system: System, gains: Gains, ends: Ends, equations: Equations, names: Sequence[str]
) -> Mapping[str, ResidualChange]:
    """Return what each input changes, by name.

    Parameters
    ----------
    system, gains, ends, equations : System, Gains, Ends, Equations
        The steps.
    names : sequence of str
        "q" and "v", which change nothing, "tau", and parameters.
    """
    parameters = [name for name in names if name not in ("q", "v", "tau")]
    rows: Mapping[str, RowChange] = {}
    if system.num_velocity_constraints:
        eta = None if equations.E is None else (ends.t_n, ends.q_n, ends.eta)
        rows = row_changes(system, parameters, ends.t, ends.q, ends.v, eta)
    point = _point(system, ends)
    places = changes_by_places(point, parameters, scaled=False)
    count, nv = ends.v.shape
    free = ~prescribed_velocities(system)[:, None]
    found = {}
    for name in names:
        if name in parameters:
            change = (
                places[name] if name in places else change_by_parameter(point, name, scaled=False)
            )
            efforts = change.efforts
        else:
            efforts = np.broadcast_to(-np.eye(nv) * (name == "tau"), (count, nv, nv))
        here = rows.get(name)
        residuals = equations.residuals(gains, efforts * free, here)
        found[name] = ResidualChange(residuals, 0.0 if here is None else here.eta_forces)
    return found


def contracted(
    system: System,
    gains: Gains,
    ends: Ends,
    equations: Equations,
    names: Sequence[str],
    adjoints: Sequence[Floats],
) -> Mapping[str, Floats]:
    """Return sums of adjoints of residuals (N, n) and w (N, nv) times `changes_by_inputs`, (k,).

    Of "tau" what is to be summed, (N, nv).

    Parameters of bodies, of forces, of constraints and of places of joints take one pass over the
    bodies at each state, or two where there is eta; inertial ones at least where some forces are
    not known there.
    """
    by_residuals, by_w = adjoints
    free = ~prescribed_velocities(system)
    efforts = gains.h[:, None] * by_residuals[:, : system.nv] * free
    found = dict(_by_pass(system, gains, ends, equations, names, (efforts, *adjoints)))
    others = [name for name in names if name not in found]
    found |= contracted_inertia(_point(system, ends), efforts, others)
    others = [name for name in names if name not in found]
    for name, change in changes_by_inputs(system, gains, ends, equations, others).items():
        sums = "nk" if name == "tau" else "k"
        found[name] = np.einsum(f"ni,nik->{sums}", by_residuals, change.residuals)
        if np.ndim(change.w):
            found[name] += np.einsum("ni,nik->k", by_w, change.w)
    return found


def _by_pass(
    system: System,
    gains: Gains,
    ends: Ends,
    equations: Equations,
    names: Sequence[str],
    adjoints: Sequence[Floats],
) -> Mapping[str, Floats]:
    """Return those of them that a pass knows; `adjoints` has those of efforts first."""
    efforts, by_residuals, by_w = adjoints
    parameters = [name for name in names if name not in ("q", "v", "tau")]
    weights, closed = [], equations.closed
    states = ends.t, ends.q, ends.v, ends.vdot
    if closed is None:
        weights.append(WeightedEquations(*states, efforts))
        return weighted_changes(system, parameters, weights)
    nv, m = system.nv, system.num_velocity_constraints
    of_g, of_rate = closed.of_g[..., 0], closed.of_rate[..., 0]
    lines = by_residuals[:, nv : nv + m]
    rates, g = of_rate * lines, of_g * lines / gains.h[:, None]
    if closed.A_n is not None:
        rates = rates + of_g * by_residuals[:, nv + m :]
        forces = gains.w[:, 1, None] * np.einsum("nmv,nm->nv", closed.A, rates)
        forces += np.einsum("nij,ni->nj", equations.P, by_residuals[:, :nv])
        forces = (forces + by_w) * ~prescribed_velocities(system)
        still = np.zeros(forces.shape)
        weights.append(
            WeightedEquations(ends.t_n, ends.q_n, still, still, -forces, ends.eta, still=True)
        )
    weights.append(WeightedEquations(*states, efforts, ends.multipliers, rates=rates, residuals=g))
    return weighted_changes(system, parameters, weights)


def _point(system: System, ends: Ends) -> Point:
    """Return the ends of steps, where accelerations are given, and no row depends on others."""
    count, nv = ends.v.shape
    return Point(
        system, ends.q, ends.v, ends.vdot, np.zeros((count, nv)), ends.t, ends.multipliers,
        np.full(count, ends.multipliers.shape[-1]), np.ones(nv, dtype=bool), by_motion=False,
    )  # fmt: skip
