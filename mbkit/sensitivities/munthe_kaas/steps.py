"""Explicit Runge-Kutta-Munthe-Kaas steps, linear about a run.

Stage i of a step from (q, v), with x_i = h sum_j a_ij k_j, q_i = retract(q, x_i),
v_i = v + h sum_j a_ij l_j, k_i = dexp_inv(x_i, w(q_i, v_i)) and l_i = vdot(t_i, q_i, v_i), moves by

    dx_i = h sum_j a_ij dk_j,    dq_i = C_i dq + E_i dx_i,    dv_i = dv + h sum_j a_ij dl_j,
    dk_i = K_i dx_i + Q_i dq_i + V_i dv_i,    dl_i = F_i dq_i + G_i dv_i + P_i dp,

and its end likewise, by the weights b. Where coordinates add C = E = V = 1 and K = Q = 0.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from mbkit.integrators import RungeKuttaMuntheKaas
from mbkit.sensitivities.accelerations import Accelerations, States
from mbkit.sensitivities.accepted_steps import AcceptedSteps, recorded
from mbkit.sensitivities.charts import Charts, Differentials
from mbkit.sensitivities.corrections import Corrections, back_to_start
from mbkit.sensitivities.linear_steps import (
    STATE_INPUTS,
    Linearisation,
    LinearSteps,
    moving,
    refuse,
    shape_of_input,
    size_of,
)
from mbkit.sensitivities.munthe_kaas.reversal import reversal
from mbkit.sensitivities.passes.called_constraints import numbers_moved
from mbkit.sensitivities.passes.called_loops import loop_joints_moved
from mbkit.sensitivities.passes.forces import (
    called_forces,
    known_forces,
    other_forces,
    owner_of,
)
from mbkit.sensitivities.passes.joint_numbers import joints_moved
from mbkit.sensitivities.passes.loops import still_workspace, takes_one_pass
from mbkit.sensitivities.passes.places import places_moved
from mbkit.simulation.preparation import Prepared
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.inertia_changes import field_of_inertia
from mbkit.systems.memory.workspace import Workspace

__all__ = ["Steps"]


@final
class Steps(Linearisation):
    """The steps of a run by `RungeKuttaMuntheKaas`."""

    def __init__(self, run: Prepared) -> None:
        from mbkit.integrators.explicit_records import scheme_of, stages_of, state_of

        super().__init__(run)
        assert isinstance(run.integrator, RungeKuttaMuntheKaas)
        self.method = run.integrator
        _check(run)
        tableau, problem = self.method.tableau, self.problem
        if self.method.adaptive:
            prepared: Any = self.method.prepare(problem)
            (self.pair,) = prepared.records  # which chooses the steps
        self._scheme = scheme_of(problem, tableau, None, tableau.num_stages)
        self._stages = stages_of(problem, tableau.b.size)
        self._state = state_of(problem)
        self.charts = Charts.of(self.system)

    @property
    def projects(self) -> bool:
        """Whether steps are brought back to the constraints at their ends."""
        return bool(self.run.workspace.record[0]["project"])

    @functools.cached_property
    def still(self) -> Workspace:
        """Memory of the mechanism without gravity and without forces."""
        return still_workspace(self.system)

    def numbers(self, *, matrices: bool, evaluations: float) -> int:
        """See `Linearisation`; one pass needs no matrices to go back."""
        system, n = self.system, self.system.nv + self.system.ndx
        dense = other_forces(system, called_forces(system)) or not takes_one_pass(system)
        stages = max(self.method.tableau.num_stages, evaluations)
        return int(stages * n * (8 + 4 * n if dense or matrices else 8))

    def are_by_pass(self, names: Iterable[str]) -> bool:
        """See `Linearisation`; one pass has forces, constraints and joints, too.

        By gravity there are three columns of efforts at each stage.
        """
        system, known = self.system, known_forces(self.system)
        names = list(names)
        moved = {*places_moved(system, names), *joints_moved(system, names)}
        if takes_one_pass(system):
            moved.update(*numbers_moved(system, names).values(), loop_joints_moved(system, names))
        return all(
            name in (*STATE_INPUTS, "gravity")
            or name in moved
            or owner_of(name) in known
            or field_of_inertia(system, name, with_fields=True) is not None
            for name in names
        )

    def start(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """See `Linearisation`; prescribed joints start as they are prescribed to."""
        system, ndx = self.system, self.system.ndx
        found = {
            name: np.zeros((self.size, size_of(shape_of_input(system, name)))) for name in names
        }
        correction = Corrections.at_start(self.run)
        unit = np.diag(moving(system)) if correction is None else correction.matrices[0]
        found |= {"q": unit[:, :ndx], "v": unit[:, ndx:]}
        if correction is not None:
            found |= {name: each[0] for name, each in correction.by_inputs(names).items()}
        free = moving(system)
        return {name: free[:, None] * found[name] for name in names}

    def back_to_start(self, adjoint: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """See `Linearisation`."""
        return back_to_start(self.run, adjoint, names)

    def take(self, first: int, count: int) -> LinearSteps:
        """See `Linearisation`."""
        from mbkit.kernels.sensitivities.recorded_steps import record
        from mbkit.kernels.time_loops.records import Grid

        problem = self.problem
        start = problem.t0 + first * problem.h, problem.q.copy(), problem.v.copy()
        if self.method.adaptive:
            history, ends, tau = recorded(self, self._record, self.history, first, count)
            return AcceptedSteps(self.kept(history, start, tau), ends, history.span[:, 1])
        history = self.history(count)
        tau = np.empty((count, problem.nv))
        for begin, size in self.with_constant_efforts(first, count):
            tau[begin : begin + size] = self.run.workspace.tau
            part = type(history)(*(x[begin : begin + size] for x in history))
            grid = Grid(problem.t0, problem.h, first + begin, size, problem.save_every)
            status = record(problem.space, self._scheme, self._state, self._stages, grid, part)
            assert status == 0, "the steps of a run that was completed"
        return self.kept(history, start, tau)

    def _record(self, grid: Any, history: Any, reached: Any) -> int:
        """Take the steps of a grid that the method chooses, and keep them."""
        from mbkit.kernels.sensitivities.recorded_adaptive import Accepted, record_adaptive

        accepted = Accepted(history, reached)
        return int(record_adaptive(self.problem.space, self.pair, grid, accepted))

    def kept(self, history: Any, start: tuple[float, Floats, Floats], tau: Floats) -> ExplicitSteps:
        """Return steps that were kept, from t, q and v at the start on."""
        ends = history.t, history.end_q, history.end_v
        t, q, v = (np.concatenate([[a], b]) for a, b in zip(start, ends, strict=True))
        return ExplicitSteps(self, history, t, q, v, tau)

    def history(self, count: int) -> Any:
        """Return memory for so many steps, with their stages."""
        from mbkit.kernels.sensitivities.recorded_steps import History

        problem, stages = self.problem, self.method.tableau.num_stages
        nq, nv, d = problem.nq, problem.nv, problem.ndx
        m = self.system.num_velocity_constraints
        sizes = [
            (2,), (stages + 1, d), (stages, nq), (stages, nv), (stages, nv), (stages, m), (m,),
            (nq,), (nv,), (), (nq,), (nv,),
        ]  # fmt: skip
        return History(*(np.empty((count, *size)) for size in sizes))


def _check(run: Prepared) -> None:
    """Raise UsageError for runs whose steps have no derivatives."""
    method = run.integrator
    assert isinstance(method, RungeKuttaMuntheKaas)
    baumgarte = run.options.get("stabilisation", {}).get("kind") == "Baumgarte"
    rolling = bool(run.system.arrays.closure) and run.system.ndx != run.system.nv
    series = method.truncation is not None
    refuse(
        {
            "its equations are Hamilton's: simulate the system itself": run.momenta is not None,
            "its inverse differentials are a series: leave out truncation": series,
            "its loops are closed by mbkit.Baumgarte: leave out stabilisation": baumgarte,
            "it has loops, and joints with fewer velocities than directions": rolling,
        },
    )


@final
@attrs.frozen(eq=False, slots=False)
class ExplicitSteps(LinearSteps):
    """Steps that were taken, with their stages."""

    steps: Steps
    history: Any
    t: Floats
    q: Floats
    v: Floats
    tau: Floats  # (N, nv)

    @functools.cached_property
    def states(self) -> States:
        """All stages."""
        history, steps = self.history, self.steps
        q, v, vdot = (x.reshape((-1, x.shape[-1])) for x in (history.q, history.v, history.vdot))
        times = (
            history.span[:, :1] + steps.method.tableau.c[: history.q.shape[1]] * history.span[:, 1:]
        )
        tau = np.repeat(self.tau, history.q.shape[1], axis=0)
        return States(times.ravel(), q, v, vdot, tau)

    @functools.cached_property
    def accelerations(self) -> Accelerations:
        """Of all stages."""
        kept = np.repeat(self.kept, self.history.q.shape[1], axis=0)
        return Accelerations.at(self.steps.system, self.states, kept)

    @property
    def kept(self) -> Floats:
        """Not zero for the rows of constraints that count in each step, (N, m)."""
        return np.asarray(self.history.kept)

    @functools.cached_property
    def correction(self) -> Corrections | None:
        """The corrections at the ends of the steps, where there are some."""
        if not self.steps.projects:
            return None
        opened, t = (self.history.open_q, self.history.open_v), self.t[1:]
        closed = self.q[1:], self.v[1:]
        return Corrections.at(self.steps.system, t, opened, closed, self.kept)

    @functools.cached_property
    def differentials(self) -> tuple[list[Differentials], list[Differentials]]:
        """Of the charts at all stages, (N, s, ...), and at the ends, (N, ...)."""
        charts, history = self.steps.charts, self.history
        at_stages = charts.differentials(history.x[:, :-1], history.q, history.v)
        return at_stages, charts.differentials(history.x[:, -1], None, None)

    def matrices(self) -> Floats:
        """See `LinearSteps`."""
        n = self.steps.size
        return self._carried(np.broadcast_to(np.eye(n), (len(self.history.t), n, n)), 0.0)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """See `LinearSteps`."""
        count, system = len(self.history.t), self.steps.system
        stages = (count, self.history.q.shape[1])
        driven = self.accelerations.by_inputs(names)
        closed = {} if self.correction is None else self.correction.by_inputs(names)
        free = moving(system)[:, None]
        found = {}
        for name in names:
            width = size_of(shape_of_input(system, name))
            none = np.zeros((count, self.steps.size, width))
            P = driven.get(name)
            found[name] = (
                none if P is None else self._carried(none, P.reshape((*stages, system.nv, width)))
            )
            if name in closed:
                found[name] = found[name] + closed[name] * free
        return found

    def reverse(
        self, adjoint: Floats, seeds: Floats, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """See `LinearSteps.reverse`; by one pass of a compiled loop."""
        return reversal(self, adjoint, seeds, names)

    def _carried(self, start: Floats, driven: Any) -> Floats:
        """Return where columns `start` (N, size, k) lead to, P dp being driven (N, s, nv, k)."""
        ndx, tableau = self.steps.system.ndx, self.steps.method.tableau
        count, stages = self.history.q.shape[:2]
        h = self.history.span[:, 1, None, None]
        F, G = (x.reshape((count, stages, *x.shape[1:])) for x in self.accelerations.by_state)
        driven = np.broadcast_to(driven, (count, stages, F.shape[2], start.shape[-1]))
        dq, dv = start[:, :ndx], start[:, ndx:]
        dk: list[Floats] = []
        dl: list[Floats] = []

        def combined(weights: Floats, rates: list[Floats], zero: Floats) -> Floats:
            terms = (h * w * k for w, k in zip(weights, rates, strict=False) if w != 0.0)
            return np.asarray(sum(terms, np.zeros(zero.shape)))

        at_stages, at_end = self.differentials
        for i in range(stages):
            here = [Differentials(*(x[:, i] for x in each)) for each in at_stages]
            x, v = combined(tableau.A[i], dk, dq), dv + combined(tableau.A[i], dl, dv)
            q = self._moved(here, dq, x)
            dk.append(self._rates(here, x, q, v))
            dl.append(F[:, i] @ q + G[:, i] @ v + driven[:, i])
        x, v = combined(tableau.b, dk, dq), dv + combined(tableau.b, dl, dv)
        end = np.concatenate([self._moved(at_end, dq, x), v], axis=1)
        free = moving(self.steps.system)[:, None]
        if self.correction is not None:
            end = self.correction.matrices @ (end * free)
        return np.asarray(end * free)

    def _moved(self, maps: list[Differentials], dq: Floats, dx: Floats) -> Floats:
        """Return how retract(q, x) moves."""
        found = dq + dx
        for block, each in zip(self.steps.charts.blocks, maps, strict=True):
            found[:, block.steps] = each.start @ dq[:, block.steps] + each.step @ dx[:, block.steps]
        return found

    def _rates(self, maps: list[Differentials], dx: Floats, dq: Floats, dv: Floats) -> Floats:
        """Return how the rate of x moves."""
        system, blocks = self.steps.system, self.steps.charts.blocks
        found = np.empty(dq.shape)
        steps, velocities = np.ones(system.ndx, dtype=bool), np.ones(system.nv, dtype=bool)
        for block, each in zip(blocks, maps, strict=True):
            steps[block.steps] = velocities[block.velocities] = False
            found[:, block.steps] = (
                each.by_x @ dx[:, block.steps] + each.by_q @ dq[:, block.steps]
                + each.by_v @ dv[:, block.velocities]
            )  # fmt: skip
        found[:, steps] = dv[:, velocities]
        return found
