"""The adjoint of Runge-Kutta-Munthe-Kaas steps, by one compiled loop from the last to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.sensitivities.accelerations import contracted
from mbkit.sensitivities.linear_steps import moving
from mbkit.sensitivities.passes.forces import called_forces, other_forces
from mbkit.sensitivities.passes.loops import changes_no_loops, takes_one_pass
from mbkit.sensitivities.passes.memory import PassSums, no_sums
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.failures import failure
from mbkit.systems.derivatives.evaluation_states import Point

if TYPE_CHECKING:
    from mbkit.sensitivities.munthe_kaas.steps import ExplicitSteps

__all__ = ["reversal"]

#: The adjoint at the beginning, and sums by the name of the input.
_Found = tuple[Floats, Mapping[str, Floats]]


def reversal(these: ExplicitSteps, adjoint: Floats, seeds: Floats, names: Sequence[str]) -> _Found:
    """Return the results of `LinearSteps.reverse`."""
    system = these.steps.system
    if not takes_one_pass(system):
        return _by_matrices(these, adjoint, seeds, names)
    called = called_forces(system)
    for rows in (called, []):  # some may not be smooth there
        found = _by_one_pass(these, adjoint, seeds, names, rows)
        if all(np.isfinite(x).all() for x in (found[0], *found[1].values())):
            return found
        if not called:
            break
    return _by_matrices(these, adjoint, seeds, names) if system.num_velocity_constraints else found


def _by_matrices(
    these: ExplicitSteps, adjoint: Floats, seeds: Floats, names: Sequence[str]
) -> _Found:
    """With matrices of derivatives at each stage."""
    correction, size = these.correction, these.steps.size
    by_q, by_v = (np.ascontiguousarray(x) for x in these.accelerations.by_state)
    matrices = np.zeros((0, size, size)) if correction is None else correction.matrices
    found = _taken(these, adjoint, seeds, (by_q, by_v, matrices), None)
    total = dict(these.accelerations.contracted(found.efforts, names))
    _add_corrections(these, found.ends, names, total)
    return found.now, total


def _add_corrections(
    these: ExplicitSteps, ends: Floats, names: Sequence[str], total: dict[str, Floats]
) -> None:
    """Add the effects of inputs through the corrections at the ends of steps, by their adjoints."""
    if these.correction is not None:
        ends = ends * moving(these.steps.system)
        for name, part in these.correction.contracted(ends, names).items():
            total[name] = total[name] + part


def _by_one_pass(
    these: ExplicitSteps, adjoint: Floats, seeds: Floats, names: Sequence[str], rows: list[int]
) -> _Found:
    """By one pass over the bodies at each stage, which takes along these rows of the forces."""
    system, size = these.steps.system, these.steps.size
    by_q, by_v = _other_forces(these, rows)
    sums = PassSums(system, names, rows)
    with sums.in_use():
        found = _taken(these, adjoint, seeds, (by_q, by_v, np.zeros((0, size, size))), sums)
    total = dict(sums.found())
    others = [name for name in names if name not in total]
    beside = [name for name in others if changes_no_loops(system, [name])]
    total |= contracted(_point(these), found.efforts, found.loops.rows, beside)
    others = [name for name in others if name not in beside]
    if others and system.num_velocity_constraints:
        point = these.accelerations.point
        total |= contracted(point, found.efforts, found.loops.rows, others)
        _add_corrections(these, found.ends, others, total)
    elif others:
        total |= contracted(_point(these), found.efforts, found.loops.rows, others)
    return found.now, total


def _other_forces(these: ExplicitSteps, called: list[int]) -> tuple[Floats, Floats]:
    """Return derivatives of the efforts by q and v of the forces that the pass leaves."""
    system, states = these.steps.system, these.states
    others = other_forces(system, called)
    if others is None:
        return np.zeros((0, system.nv, system.ndx)), np.zeros((0, system.nv, system.nv))
    by_q, by_v = others.force_derivatives(states.q, states.v, states.t)
    return -by_q, -by_v


def _point(these: ExplicitSteps) -> Point:
    """Return all stages, for changes by inputs that change no rows of constraints."""
    (t, q, v, vdot, tau), system = these.states, these.steps.system
    multipliers = these.history.multipliers.reshape((len(t), -1))
    rank = np.full(len(t), multipliers.shape[1])
    given = np.zeros(system.nv, dtype=bool)
    return Point(system, q, v, vdot, tau, t, multipliers, rank, given, False)


def _taken(
    these: ExplicitSteps,
    end: Floats,
    seeds: Floats,
    matrices: tuple[Floats, Floats, Floats],
    sums: PassSums | None,
) -> Any:
    """Return the arrays of the adjoint, taken from the end to the beginning."""
    from mbkit.kernels.sensitivities.munthe_kaas_adjoint import Linear, Method, reverse

    steps, history = these.steps, these.history
    tableau, stages = steps.method.tableau, history.q.shape[1]
    A, b, c = tableau.A[:stages, :stages], tableau.b[:stages], tableau.c[:stages]
    method = Method(A.copy(), b.copy(), c.copy(), moving(steps.system))
    found, _kept = _memory(these, end, seeds, sums)
    evaluator = steps.system.evaluator
    workspace = steps.run.workspace.let_joints_change(evaluator).let_steps_change(evaluator)
    status = reverse(workspace.address, method, history, Linear(*matrices), found)
    if status != 0:
        if sums is not None:
            sums.raise_errors()
        state = {"q": these.q[0], "v": these.v[0]}
        raise failure(steps.system.evaluator, status, workspace, state)
    return found


def _memory(these: ExplicitSteps, end: Floats, seeds: Floats, sums: PassSums | None) -> Any:
    """Return the arrays of the adjoint, and the arrays they point to; `sums` of a pass, if any."""
    from mbkit.kernels.sensitivities.munthe_kaas_adjoint import Adjoint

    system, charts = these.steps.system, these.steps.charts
    count, stages = these.history.q.shape[:2]
    nv, ndx = system.nv, system.ndx
    found = Adjoint(
        now=np.array(end, dtype=np.float64),
        seeds=np.ascontiguousarray(seeds),
        ends=np.empty((count, ndx + nv)),
        efforts=np.empty((count * stages, nv)),
        rates=np.empty((stages, ndx)),
        accelerations=np.empty((stages, nv)),
        memory=np.empty((4, ndx + nv)),
        sums=no_sums() if sums is None else sums.sums,
        loops=_loops(these, sums),
        maps=np.empty(charts.numbers(rates=True)),
        chart=charts.memory,
    )
    return found, sums


def _loops(these: ExplicitSteps, sums: PassSums | None) -> Any:
    """Return the loops that the pass takes along; none of a tree.

    Strategies that reduce do so on demand; those that do not give multipliers of least norm.
    """
    from mbkit.kernels.sensitivities.closed_steps import Loops

    steps, system = these.steps, these.steps.system
    m = system.num_velocity_constraints
    if sums is None or not m:
        none = np.empty((0, 0))
        return Loops(still=0, memory=0, closes=0, least=0, rows=none, motions=none)
    count, stages = these.history.q.shape[:2]
    return Loops(
        still=steps.still.address,
        memory=sums.memory.address,
        closes=int(steps.projects),
        least=int(system.arrays.closure.solver_kernels().reduce is None),
        rows=np.empty((count * stages, m)),
        motions=np.zeros((5, system.nv)),
    )
