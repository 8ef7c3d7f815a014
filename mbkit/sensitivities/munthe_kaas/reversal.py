"""The adjoint of Runge-Kutta-Munthe-Kaas steps, by one compiled loop from the last to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.sensitivities.accelerations import contracted
from mbkit.sensitivities.linear_steps import moving
from mbkit.sensitivities.munthe_kaas.called_constraints import CalledConstraints
from mbkit.sensitivities.munthe_kaas.called_forces import CalledForces
from mbkit.sensitivities.munthe_kaas.forces import (
    by_closed_forms,
    called_forces,
    closed_form_parameters,
    other_forces,
    table_of_bushings,
    table_of_drags,
)
from mbkit.sensitivities.munthe_kaas.loops import changes_no_loops, loops_of, takes_one_pass
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.failures import failure
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.inertia_changes import field_of_inertia

if TYPE_CHECKING:
    from mbkit.sensitivities.munthe_kaas.steps import ExplicitSteps

__all__ = ["reversal"]

#: The adjoint at the beginning, and sums by the name of the input.
_Found = tuple[Floats, Mapping[str, Floats]]


def reversal(these: ExplicitSteps, adjoint: Floats, seeds: Floats, names: Sequence[str]) -> _Found:
    """Return what `LinearSteps.reverse` does."""
    system = these.steps.system
    one_pass = takes_one_pass(system) and (
        not system.num_velocity_constraints or changes_no_loops(system, names)
    )
    if not one_pass:
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
    found = _taken(these, adjoint, seeds, (by_q, by_v, matrices), _Wanted())
    total = dict(these.accelerations.contracted(found.efforts, names))
    if correction is not None:
        ends = found.ends * moving(these.steps.system)
        for name, part in correction.contracted(ends, names).items():
            total[name] = total[name] + part
    return found.now, total


def _by_one_pass(
    these: ExplicitSteps, adjoint: Floats, seeds: Floats, names: Sequence[str], rows: list[int]
) -> _Found:
    """By one pass over the bodies at each stage, which takes along these rows of the forces."""
    system, size = these.steps.system, these.steps.size
    own = closed_form_parameters(system, names)
    called = CalledForces(system, rows, [name for name in names if name not in own])
    by_q, by_v = _other_forces(these, rows)
    constraints = CalledConstraints(system)
    wanted = _Wanted(
        one_pass=True,
        inertial=any(field_of_inertia(system, name, with_fields=True) for name in names),
        springs=any(each.kind == "springs" for each in own.values()),
        called=called.address,
        constraints=constraints,
    )
    with called.lock, constraints.lock:
        found = _taken(these, adjoint, seeds, (by_q, by_v, np.zeros((0, size, size))), wanted)
    total = by_closed_forms(system, found.sums, own) | called.by_parameters
    others = [name for name in names if name not in total]
    regressor = found.sums.regressor[1:] if wanted.inertial else None
    total |= contracted(_point(these), found.efforts, found.loops.rows, others, regressor)
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


class _Wanted(NamedTuple):
    """Whether one pass takes the place of matrices; what it is to sum; the forces it calls."""

    one_pass: bool = False
    inertial: bool = False
    springs: bool = False
    called: int = 0
    constraints: CalledConstraints | None = None


def _taken(
    these: ExplicitSteps,
    end: Floats,
    seeds: Floats,
    matrices: tuple[Floats, Floats, Floats],
    wanted: _Wanted,
) -> Any:
    """Return the arrays of the adjoint, taken from the end to the beginning."""
    from mbkit.kernels.sensitivities.munthe_kaas_adjoint import Linear, Method, reverse

    steps, history = these.steps, these.history
    tableau, stages = steps.method.tableau, history.q.shape[1]
    A, b, c = tableau.A[:stages, :stages], tableau.b[:stages], tableau.c[:stages]
    method = Method(A.copy(), b.copy(), c.copy(), moving(steps.system))
    found, _kept = _memory(these, end, seeds, wanted)
    workspace = steps.run.workspace
    status = reverse(workspace.address, method, history, Linear(*matrices), found)
    if status != 0:
        state = {"q": these.q[0], "v": these.v[0]}
        raise failure(steps.system.evaluator, status, workspace, state)
    return found


def _memory(these: ExplicitSteps, end: Floats, seeds: Floats, wanted: _Wanted) -> Any:
    """Return the arrays of the adjoint, and what they point to."""
    from mbkit.kernels.sensitivities.munthe_kaas_adjoint import Adjoint
    from mbkit.kernels.sensitivities.weighted_dynamics import Sums

    steps, system, charts = these.steps, these.steps.system, these.steps.charts
    count, stages = these.history.q.shape[:2]
    nv, ndx = system.nv, system.ndx
    rows = len(system.arrays.bodies) if wanted.one_pass else 0
    sums = Sums(
        twists=np.zeros((rows, 6)),
        momenta=np.zeros((rows, 6)),
        turns=np.zeros((rows, 6)),
        pushes=np.zeros((rows, 6)),
        origins=np.zeros((rows, 3)),
        regressor=np.zeros((len(system.arrays.frames) if wanted.inertial else 0, 10)),
        springs=np.zeros((len(system.arrays.forces.springs) if wanted.springs else 0, 9)),
        bushings=table_of_bushings(system) if wanted.one_pass else np.zeros((0, 0)),
        drags=table_of_drags(system) if wanted.one_pass else np.zeros((0, 0)),
        called=wanted.called,
    )
    still = steps.still if wanted.one_pass and system.num_velocity_constraints else None
    loops, kept = loops_of(system, still, wanted.constraints, steps.projects, sums, count * stages)
    found = Adjoint(
        now=np.array(end, dtype=np.float64),
        seeds=np.ascontiguousarray(seeds),
        ends=np.empty((count, ndx + nv)),
        efforts=np.empty((count * stages, nv)),
        rates=np.empty((stages, ndx)),
        accelerations=np.empty((stages, nv)),
        memory=np.empty((4, ndx + nv)),
        sums=sums,
        loops=loops,
        maps=np.empty(charts.numbers(rates=True)),
        chart=charts.memory,
    )
    return found, kept
