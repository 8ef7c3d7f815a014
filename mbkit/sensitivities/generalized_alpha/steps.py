"""Derivatives of runs by the generalized-alpha method, as if its steps were solved exactly.

The state that is differentiated is (q, v, a, vdot), 4 nv entries. After a start a and vdot follow
from q and v, which is a part of the first step.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import ConvergenceError
from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.sensitivities.accepted_steps import AcceptedSteps, recorded
from mbkit.sensitivities.corrections import Corrections, back_to_start
from mbkit.sensitivities.generalized_alpha.equations import Ends, Equations, Gains, Weights
from mbkit.sensitivities.generalized_alpha.parameters import changes_by_inputs, contracted
from mbkit.sensitivities.generalized_alpha.start import Start
from mbkit.sensitivities.generalized_alpha.step_sizes import Resized
from mbkit.sensitivities.linear_steps import (
    Linearisation,
    LinearSteps,
    shape_of_input,
    size_of,
)
from mbkit.simulation.preparation import Prepared
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.calls.failures import failure

__all__ = ["AlphaSteps", "Steps"]


class Steps(Linearisation):
    """A run by the generalized-alpha method, linear about itself.

    Newton's method leaves residuals of its tolerance, which are not differentiated: derivatives are
    off by as much as the run is from one whose steps are solved exactly.
    """

    def __init__(self, run: Prepared) -> None:
        super().__init__(run)
        assert isinstance(run.integrator, GeneralizedAlpha)
        self.method = run.integrator
        self.stabilised = self.method.formulation == "stabilized_index2"
        advance: Any = self.method.prepare(self.problem)
        self._records = advance.records  # known by address, and kept for as long as this
        self.begins_open = False

    def of_part(self, run: Prepared) -> Steps:
        """See `Linearisation`; in index 3 velocities where steps begin are off the constraints."""
        part = Steps(run)
        part.begins_open = not self.stabilised and self.system.num_velocity_constraints > 0
        return part

    @property
    def size(self) -> int:
        """Entries of (q, v, a, vdot)."""
        return 4 * self.system.nv

    def numbers(self, *, matrices: bool, evaluations: float) -> int:
        """Numbers of a step: its matrices, and as many again while they are made.

        Without them derivatives of forces and of constraints, where there are some.
        """
        nv, m = self.system.nv, self.system.num_velocity_constraints
        steps = max(1.0, evaluations) if self.method.adaptive else 1.0
        if matrices:
            return int(steps * (2 * (nv + 2 * m) * (nv + 2 * m) + 10 * nv * (nv + 2 * m)))
        of_forces = 8 * nv * (nv + m) if m or self.system.forces else 0
        return int(steps * (20 * (nv + m) + of_forces))

    def start(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return S (size, k) by the name of the input."""
        system, nv = self.system, self.system.nv
        state = {"q": slice(0, nv), "v": slice(nv, 2 * nv)}
        free = np.tile(~prescribed_velocities(system), 2)[:, None] * 1.0
        correction = Corrections.at_start(self.run)
        moves = (np.eye(2 * nv) if correction is None else correction.matrices[0]) * free
        by_inputs = {} if correction is None else correction.by_inputs(names)
        found = {}
        for name in names:
            S = np.zeros((self.size, size_of(shape_of_input(system, name))))
            if name in state:
                S[: 2 * nv] = moves[:, state[name]]
            elif name in by_inputs:
                S[: 2 * nv] = by_inputs[name][0] * free
            found[name] = S
        return found

    def back_to_start(self, adjoint: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """See `Linearisation`."""
        return back_to_start(self.run, adjoint[: 2 * self.system.nv], names)

    def take(self, first: int, count: int) -> LinearSteps:
        """Take steps as the run does, and linearise them."""
        problem, memory = self.problem, self.problem.memory
        started = bool(memory["started"][0])
        if not self.method.adaptive:
            return AlphaSteps(self, self._of_one_size(first, count, started))
        from mbkit.kernels.time_loops.generalized_alpha_adaptive import MEANT

        before = float(memory["step_size"][MEANT]) if started else 0.0
        t0, q0, v0 = problem.t0 + first * problem.h, problem.q.copy(), problem.v.copy()
        history, ends, tau = recorded(self, self._record, self._history, first, count)
        t, q, v = (
            np.concatenate([[a], b])
            for a, b in zip((t0, q0, v0), (history.t, history.q, history.v), strict=True)
        )
        h = history.span[:, 1]
        following = np.append(h[1:], self._size_after(first + count, h[-1]))
        ended = history.vdot, history.multipliers, history.eta
        taken = Taken(t, q, v, *ended, h, following, before, tau[0])
        return AcceptedSteps(AlphaSteps(self, taken), ends, h)

    def _of_one_size(self, first: int, count: int, started: bool) -> Taken:
        from mbkit.kernels.sensitivities.generalized_alpha_steps import History, record
        from mbkit.kernels.time_loops.records import Grid

        problem, m = self.problem, self.problem.multipliers.size
        nv = problem.nv
        history: Any = History(*(np.empty((count + 1, n)) for n in (problem.nq, nv, nv, m, m)))
        tau = None
        for begin, size in self.with_constant_efforts(first, count):
            tau = self.run.workspace.tau.copy() if tau is None else tau
            part: Any = History(*(x[begin : begin + size + 1] for x in history))
            grid = Grid(problem.t0, problem.h, first + begin, size, problem.save_every)
            status = record(problem.space, *(each.address for each in self._records), grid, part)
            assert status == 0, "the steps of a run that was completed"
        t = problem.t0 + problem.h * np.arange(first, first + count + 1.0)
        h, before = np.full(count, problem.h), problem.h * started
        ended = history.vdot[1:], history.multipliers[1:], history.eta[1:]
        return Taken(t, history.q, history.v, *ended, h, h, before, tau)

    def _history(self, count: int) -> Any:
        """Return memory for so many steps of adaptive size."""
        from mbkit.kernels.sensitivities.generalized_alpha_accepted_steps import History

        nq, nv, m = self.problem.nq, self.problem.nv, self.problem.multipliers.size
        return History(
            *(np.zeros((count, *n)) for n in ((2,), (), (nq,), (nv,), (nv,), (m,), (m,)))
        )

    def _record(self, grid: Any, history: Any, reached: Any) -> int:
        """Take the steps of a grid that the method chooses, and keep them."""
        from mbkit.kernels.sensitivities.generalized_alpha_accepted_steps import (
            Accepted,
            record_adaptive,
        )

        accepted = Accepted(history, reached)
        return int(record_adaptive(self.problem.space, *self._by_address, grid, accepted))

    @property
    def _by_address(self) -> tuple[Any, ...]:
        """Addresses and options of a method with adaptive steps, for kernels."""
        step, method, choice = self._records
        return step.address, method.address, choice

    def _size_after(self, step: int, last: float) -> float:
        """Return the size of the first step from a grid point on; `last` where there is none.

        That step is taken, and the state put back.
        """
        from mbkit.kernels.time_loops.records import Grid

        problem = self.problem
        if step >= self.run.steps:
            return last
        state = {name: array.copy() for name, array in problem.state.items()}
        if self.run.held is not None:
            self.run.held.set(step)
        history, reached = self._history(1), np.zeros(1, dtype=np.int64)
        self._record(Grid(problem.t0, problem.h, step, 1, problem.save_every), history, reached)
        for name, array in state.items():
            problem.state[name][:] = array
        return float(history.span[0, 1]) or last  # an event may have stopped it

    def go_through(self, part: Prepared, fractions: Floats) -> int:
        """See `Linearisation`: steps of adaptive size remember the ones before."""
        if not self.method.adaptive:
            return super().go_through(part, fractions)
        from mbkit.kernels.sensitivities.generalized_alpha_accepted_steps import take_given

        steps, problem = Steps(part), part.problem
        sizes = problem.h * fractions
        return int(take_given(problem.space, *steps._by_address, problem.t0, sizes))


class Taken(NamedTuple):
    """N consecutive steps.

    Attributes
    ----------
    t, q, v : ndarray, shape (N + 1,), (N + 1, nq), (N + 1, nv)
        Where they begin and end.
    vdot, multipliers, eta : ndarray, shape (N, nv), (N, m), (N, m)
        Where they end.
    h, following : ndarray, shape (N,)
        Their sizes, and those of the steps that follow them. [s]
    before : float
        The size of the step before the first; 0: that is the first after a start. [s]
    tau : ndarray, shape (nv,)
        Efforts in the first.
    """

    t: Floats
    q: Floats
    v: Floats
    vdot: Floats
    multipliers: Floats
    eta: Floats
    h: Floats
    following: Floats
    before: float
    tau: Any


class AlphaSteps(LinearSteps):
    """Some consecutive steps, of which the first may be the first after a start."""

    def __init__(self, run: Steps, taken: Taken) -> None:
        self.run, self.tau, self.started = run, taken.tau, taken.before > 0.0
        self.t, self.q, self.v = t, q, v = taken[:3]
        self.gains = Gains.of(run.method.numbers, taken.h, taken.following)
        x = run.system.difference(q[:-1], q[1:])
        end = t[1:], q[1:], v[1:], taken.vdot, taken.multipliers
        self.ends = Ends(*end, x, t[:-1], q[:-1], taken.eta)
        self.resized: Resized | None = None
        if run.method.adaptive and not run.stabilised and run.system.num_velocity_constraints:
            before = np.append(taken.before or taken.h[0], taken.h[:-1])
            self.resized = Resized.of(run.system, t[:-1], q[:-1], v[:-1], taken.h / before)

    @functools.cached_property
    def equations(self) -> Equations:
        """The steps, linear about their ends."""
        run = self.run
        return Equations.of(run.system, self.gains, self.ends, stabilised=run.stabilised)

    def matrices(self) -> Floats:
        """Return A (N, 4 nv, 4 nv)."""
        A, nv = self._from_starts(), self.run.system.nv
        if self.resized is not None:
            before = A[:, :, nv : 2 * nv] @ self.resized.matrices
            A[:, :, nv : 2 * nv] = 0.0
            A[:, :, : 2 * nv] += before
        if not self.started:
            start = A[0] @ self._start().by_state
            A[0] = 0.0
            A[0, :, : 2 * nv] = start
        return A

    def _from_starts(self) -> Floats:
        """Return the same, but that steps begin with the velocity and a of their size."""
        nv, e, (_, G) = self.run.system.nv, self.equations, self.equations.retraction
        known, gain = self.gains.known[..., None, None], self.gains.w[..., None, None]
        W = np.split(e.matrices[1], 3, axis=-1)
        by_state = [W[0], *(known[:, 1, b] * W[1] + known[:, 3, b] * W[2] for b in (1, 2, 3))]
        found = self._ends(np.concatenate(by_state, axis=-1))
        A = found.reshape((len(found), 4, nv, 4, nv))
        A[:, 0, :, 0] += np.eye(nv) if G is None else G
        for row in (1, 2, 3):
            if e.E is not None:
                A[:, row, :, 0] += gain[:, row] * e.E
            for column in (1, 2, 3):
                A[:, row, :, column] += known[:, row, column] * np.eye(nv)
        return found

    def _start(self) -> Start:
        run, state = self.run, (self.q[0], self.v[0], self.tau)
        t = float(self.t[0])
        make = Start.of_open if run.begins_open else Start.of
        return make(run.system, run.method, float(self.gains.h[0]), t, state)

    def _ends(self, residuals: Floats, eta_forces: Any = 0.0) -> Floats:
        """Return the changes of the ends, (N, 4 nv, k), by those of residuals and of A_n^T eta."""
        h, gain = (x[..., None, None] for x in (self.gains.h, self.gains.w))
        T, _ = self.equations.retraction
        D, w = self.equations.solved(residuals)
        w = w + eta_forces
        parts = [h * (D if T is None else T @ D), *(gain[:, row] * w for row in (1, 2, 3))]
        return np.concatenate(parts, axis=1)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return B (N, 4 nv, k) by the name of the input."""
        e, found = self.equations, {}
        changes = changes_by_inputs(self.run.system, self.ends, names, eta=e.E is not None)
        for name, (efforts, rows) in changes.items():
            eta_forces = 0.0 if rows is None else rows.eta_forces
            found[name] = self._ends(e.residuals(efforts, rows), eta_forces)
        if self.started and self.resized is None:
            return found
        A, nv = self._from_starts(), self.run.system.nv
        if not self.started:
            for name, S in self._start().by_inputs(names).items():
                found[name][0] += A[0] @ S
        if self.resized is not None:
            for name, S in self.resized.by_inputs(names).items():
                found[name] += A[:, :, nv : 2 * nv] @ S
        return found

    def reverse(
        self, adjoint: Floats, seeds: Floats, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """See `LinearSteps.reverse`: by products with the factors, without the matrices A and B."""
        run, nv = self.run, self.run.system.nv
        X, by_v, weights = self._back(adjoint.reshape((4, nv)), seeds.reshape((-1, 4, nv)))
        eta = self.equations.E is not None
        found = dict(contracted(run.system, self.ends, names, weights, eta=eta))
        if self.resized is not None:
            for name, part in self.resized.contracted(by_v, names).items():
                found[name] = found.get(name, 0.0) + part
        if not self.started:
            start = self._start()
            for name, part in start.contracted(X.reshape(-1), names).items():
                if name == "tau":
                    found[name][0] += part.sum(axis=0)
                else:
                    found[name] = found.get(name, 0.0) + part
            X = np.concatenate([start.by_state.T @ X.reshape(-1), np.zeros(2 * nv)])
        return X.reshape(-1) + seeds[0], found

    def _back(self, end: Floats, seeds: Floats) -> tuple[Floats, Floats, Weights]:
        """Return the adjoint (4, nv) where steps begin, less its seed, of v, and of equations."""
        from mbkit.kernels.sensitivities.generalized_alpha_adjoint import (
            Adjoint,
            GainsOfSteps,
            reverse,
        )
        from mbkit.kernels.status import SINGULAR_STEP, unpack

        e, system = self.equations, self.run.system
        count, n, nv = len(e.x), e.size, system.nv
        V = np.zeros((0, 0, 0)) if self.resized is None else self.resized.matrices
        gains = map(np.ascontiguousarray, (self.gains.known, self.gains.w, V))
        later = np.array(seeds)
        later[0] = 0.0
        found = Adjoint(
            np.array(end), later, np.empty((count, n)), np.empty((count, nv)),
            np.empty((count, nv)), np.empty(n, dtype=np.int64), np.empty((5, max(n, 2 * nv))),
        )  # fmt: skip
        workspace = system.evaluator.take()
        status = reverse(workspace.address, GainsOfSteps(*gains), e.given, e.memory, found)
        if unpack(status)[0] == SINGULAR_STEP:
            raise ConvergenceError(
                f"System '{system.name}': a step of the run has a singular matrix, and no "
                f"derivatives."
            )
        if status != 0:
            raise failure(system.evaluator, status, workspace, {"q": self.q[0], "v": self.v[0]})
        system.evaluator.give_back(workspace)
        return found.end, found.v, e.weights(found.residuals, found.w)
