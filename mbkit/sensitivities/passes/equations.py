"""Sums of weights times changes of equations by parameters, by one compiled pass at each state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbkit.sensitivities.passes.forces import called_forces, owner_of
from mbkit.sensitivities.passes.loops import has_pass, still_workspace
from mbkit.sensitivities.passes.memory import PassSums
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.failures import failure
from mbkit.systems.memory.workspace import Workspace

__all__ = ["WeightedEquations", "weighted_changes"]


class WeightedEquations(NamedTuple):
    """N states, and weights of their equations; rows (N, m), zero by default.

    Attributes
    ----------
    t, q, v, vdot : ndarray, shape (N,), (N, nq), (N, nv), (N, nv)
        States.
    efforts : ndarray, shape (N, nv)
        Weights of the efforts e = M vdot + ... - A^T multipliers.
    multipliers : ndarray, shape (N, m)
        These.
    accelerations, rates, residuals : ndarray, shape (N, m)
        Weights of A vdot + ..., of A v + g_t and of g.
    closed : bool
        Whether g is zero.
    still : bool
        Whether e is M vdot - A^T multipliers alone, and the first of these rows A vdot.
    """

    t: Floats
    q: Floats
    v: Floats
    vdot: Floats
    efforts: Floats
    multipliers: Any = 0.0
    accelerations: Any = 0.0
    rates: Any = 0.0
    residuals: Any = 0.0
    closed: bool = True
    still: bool = False


def weighted_changes(
    system: System, names: Iterable[str], equations: Sequence[WeightedEquations]
) -> Mapping[str, Floats]:
    """Return sums of weights times changes of equations, (k,) by name, as far as a pass finds them.

    Nothing where it has no derivatives, as by forces that are not smooth there.
    """
    names = list(names)
    if not (names and has_pass(system)):
        return {}
    sums = PassSums(system, names, _needed_forces(system, names))
    if not sums.known:
        return {}
    with sums.in_use():
        for each in equations:
            _add(system, sums, each)
    found = sums.found()
    return found if all(np.isfinite(x).all() for x in found.values()) else {}


def _needed_forces(system: System, names: list[str]) -> list[int]:
    """Return the rows of forces that a pass takes along; those in Python where they are needed.

    That is by their own parameters, and by those of joints, which move the bodies that they act on.
    """
    forces, owners = system.arrays.forces.forces, {owner_of(name) for name in names}
    asked = any(name.startswith("joints.") for name in names)
    return [
        k
        for k in called_forces(system)
        if asked or forces[k].kernels() is not None or f"forces.{forces[k].name}" in owners
    ]


def _add(system: System, sums: PassSums, given: WeightedEquations) -> None:
    """Add the sums of some states."""
    from mbkit.kernels.sensitivities.closed_passes import CLOSED, OPEN
    from mbkit.kernels.sensitivities.weighted_equations import Weighted, add_weighted_equations

    workspace = (
        still_workspace(system) if given.still else Workspace(system.arrays, system.evaluator)
    ).let_joints_change(system.evaluator)
    factors = np.zeros((len(given.t), 4, system.num_velocity_constraints))
    parts = given.multipliers, given.accelerations, given.rates, given.residuals
    for k, part in enumerate(parts):
        factors[:, k] = part
    t, q, v, vdot, efforts = (np.ascontiguousarray(x) for x in given[:5])
    counts = (CLOSED if given.closed else OPEN) if np.any(given.residuals) else 0
    weighted: Any = Weighted(t, q, v, vdot, efforts, counts, int(given.still), factors)
    memory = np.zeros(system.ndx), np.zeros(system.nv)
    status = add_weighted_equations(workspace.address, sums.memory.address, weighted, *memory)
    if status != 0:
        sums.raise_errors()
        state = {"q": given.q[0], "v": given.v[0]}
        raise failure(system.evaluator, status, workspace, state)
