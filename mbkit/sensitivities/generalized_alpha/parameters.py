"""Changes of the equations of generalized-alpha steps by efforts and by parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.sensitivities.accelerations import contracted_inertia
from mbkit.sensitivities.constraint_rows import RowChange, row_changes
from mbkit.sensitivities.generalized_alpha.equations import Ends, Weights
from mbkit.sensitivities.passes.equations import WeightedEquations, weighted_changes
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.parameter_changes import change_by_parameter, changes_by_places

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["changes_by_inputs", "contracted"]


def changes_by_inputs(
    system: System, ends: Ends, names: Sequence[str], *, eta: bool
) -> Mapping[str, Any]:
    """Return the changes of efforts by inputs (N, nv, k), and of rows or None, in a pair by name.

    Parameters
    ----------
    system, ends : System, Ends
        The steps.
    names : sequence of str
        "q" and "v", which change nothing, "tau", and parameters.
    eta : bool
        Whether the method has these multipliers.
    """
    parameters = [name for name in names if name not in ("q", "v", "tau")]
    rows: Mapping[str, RowChange] = {}
    if system.num_velocity_constraints:
        start = (ends.t_n, ends.q_n, ends.eta) if eta else None
        rows = row_changes(system, parameters, ends.t, ends.q, ends.v, start)
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
        found[name] = efforts * free, rows.get(name)
    return found


def contracted(
    system: System, ends: Ends, names: Sequence[str], weights: Weights, *, eta: bool
) -> Mapping[str, Floats]:
    """Return sums of weights times `changes_by_inputs`, (k,).

    Of "tau" the terms that are to be summed, (N, nv).

    Parameters of bodies, of forces, of constraints and of places of joints take one pass over the
    bodies at each state, or two where there is eta; inertial ones at least where some forces are
    not known there.
    """
    parameters = [name for name in names if name not in ("q", "v", "tau")]
    found = dict(weighted_changes(system, parameters, _states(ends, weights, eta=eta)))
    if "tau" in names:
        found["tau"] = -weights.efforts
    others = [name for name in parameters if name not in found]
    found |= contracted_inertia(_point(system, ends), weights.efforts, others)
    others = [name for name in others if name not in found]
    for name, (efforts, rows) in changes_by_inputs(system, ends, others, eta=eta).items():
        changes = (efforts, *(() if rows is None else (rows.rate, rows.g, rows.eta_forces)))
        found[name] = sum(
            np.einsum("ni,nik->k", weight, change)
            for weight, change in zip(weights, changes, strict=False)
            if np.ndim(change)
        )
    return found


def _states(ends: Ends, weights: Weights, *, eta: bool) -> list[WeightedEquations]:
    """Return the states at which equations have weights: ends of steps, and with eta beginnings."""
    efforts, rates, g, forces = weights
    states, still = (ends.t, ends.q, ends.v, ends.vdot), np.zeros(ends.v.shape)
    found = [WeightedEquations(*states, efforts, ends.multipliers, rates=rates, residuals=g)]
    if eta:
        start = ends.t_n, ends.q_n, still, still
        found.insert(0, WeightedEquations(*start, -forces, ends.eta, still=True))
    return found


def _point(system: System, ends: Ends) -> Point:
    """Return the ends of steps, where accelerations are given, and no row depends on others."""
    count, nv = ends.v.shape
    return Point(
        system, ends.q, ends.v, ends.vdot, np.zeros((count, nv)), ends.t, ends.multipliers,
        np.full(count, ends.multipliers.shape[-1]), np.ones(nv, dtype=bool), by_motion=False,
    )  # fmt: skip
