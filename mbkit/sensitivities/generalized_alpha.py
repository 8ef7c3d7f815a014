"""Derivatives of runs by the generalized-alpha method, as if its steps were solved exactly.

The state that is differentiated is (q, v, a, vdot), 4 nv entries. After a start a and vdot follow
from q and v, which is a part of the first step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbkit.errors import ConvergenceError
from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.sensitivities.accelerations import prescribed
from mbkit.sensitivities.alpha_equations import Ends, Equations, Gains
from mbkit.sensitivities.alpha_parameters import Change, changes_by_inputs, contracted
from mbkit.sensitivities.alpha_start import Start
from mbkit.sensitivities.corrections import Corrections
from mbkit.sensitivities.linear_steps import (
    Linearisation,
    LinearSteps,
    refuse,
    shape_of_input,
    size_of,
)
from mbkit.simulation.preparation import Prepared
from mbkit.systems.calls.arguments import Floats

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
        _check(run, self.method)
        self.stabilised = self.method.formulation == "stabilized_index2"
        self.gains = Gains.of(self.method.numbers, self.problem.h)
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
        """Numbers of a step: its matrices, and as many again while they are made."""
        nv, m = self.system.nv, self.system.num_velocity_constraints
        return 2 * (nv + 2 * m) * (nv + 2 * m) + 10 * nv * (nv + 2 * m)

    def start(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return S (size, k) by the name of the input."""
        system, nv = self.system, self.system.nv
        state = {"q": slice(0, nv), "v": slice(nv, 2 * nv)}
        free = np.tile(~prescribed(system), 2)[:, None] * 1.0
        closing = Corrections.at_start(self.run)
        moves = (np.eye(2 * nv) if closing is None else closing.matrices[0]) * free
        by_inputs = {} if closing is None else closing.by_inputs(names)
        found = {}
        for name in names:
            S = np.zeros((self.size, size_of(shape_of_input(system, name))))
            if name in state:
                S[: 2 * nv] = moves[:, state[name]]
            elif name in by_inputs:
                S[: 2 * nv] = by_inputs[name][0] * free
            found[name] = S
        return found

    def take(self, first: int, count: int) -> AlphaSteps:
        """Take steps as the run does, and linearise them."""
        from mbkit.kernels.sensitivities.alpha_steps import History, record
        from mbkit.kernels.time_loops.records import Grid

        problem, m = self.problem, self.problem.multipliers.size
        started = bool(problem.memory["started"][0])
        nv = problem.nv
        history: Any = History(*(np.empty((count + 1, n)) for n in (problem.nq, nv, nv, m, m)))
        tau = None
        for begin, size in self.with_constant_efforts(first, count):
            tau = self.run.workspace.tau.copy() if tau is None else tau
            part: Any = History(*(x[begin : begin + size + 1] for x in history))
            grid = Grid(problem.t0, problem.h, first + begin, size, problem.save_every)
            status = record(problem.space, *(each.address for each in self._records), grid, part)
            assert status == 0, "the steps of a run that was completed"
        return AlphaSteps(self, first, history, started, tau)


def _check(run: Prepared, method: GeneralizedAlpha) -> None:
    """Raise UsageError for runs whose steps have no derivatives."""
    perturbed = method.formulation == "index3" and method.start == "second order"
    closed = run.system.num_velocity_constraints > 0
    refuse(
        {
            "its steps are of adaptive size: leave out rtol and atol": method.adaptive,
            "its first velocity is perturbed: take start='plain', or "
            "formulation='stabilized_index2'": perturbed and closed,
        },
    )


class AlphaSteps(LinearSteps):
    """Some consecutive steps, of which the first may be the first after a start."""

    def __init__(self, run: Steps, first: int, history: Any, started: bool, tau: Any) -> None:
        self.run, self.started, self.gains = run, started, run.gains
        self.tau = tau  # in the first of them
        self.q, self.v = q, v = history.q, history.v
        self.t = t = run.problem.t0 + run.problem.h * np.arange(first, first + len(q) + 0.0)
        x = run.system.difference(q[:-1], q[1:])
        end = t[1:], q[1:], v[1:], history.vdot[1:], history.multipliers[1:]
        self.ends = Ends(*end, x, t[:-1], q[:-1], history.eta[1:])
        self.equations = Equations.of(run.system, run.gains, self.ends, run.stabilised)

    def matrices(self) -> Floats:
        """Return A (N, 4 nv, 4 nv)."""
        A = self._from_starts()
        if not self.started:
            nv = self.run.system.nv
            start = A[0] @ self._start().by_state
            A[0] = 0.0
            A[0, :, : 2 * nv] = start
        return A

    def _from_starts(self) -> Floats:
        """Return the same, but that the first step begins with a and vdot."""
        nv, known, e = self.run.system.nv, self.gains.known, self.equations
        W = np.split(e.W, 3, axis=-1)
        by_state = [W[0], *(known[1, b] * W[1] + known[3, b] * W[2] for b in (1, 2, 3))]
        found = self._ends(Change(np.concatenate(by_state, axis=-1)))
        A = found.reshape((len(found), 4, nv, 4, nv))
        A[:, 0, :, 0] += np.eye(nv) if e.G is None else e.G
        for row in (1, 2, 3):
            if e.E is not None:
                A[:, row, :, 0] += self.gains.w[row] * e.E
            for column in (1, 2, 3):
                A[:, row, :, column] += known[row, column] * np.eye(nv)
        return found

    def _start(self) -> Start:
        run, state = self.run, (self.q[0], self.v[0], self.tau)
        t = float(self.t[0])
        make = Start.of_open if run.begins_open else Start.of
        return make(run.system, run.method, self.gains.h, t, state)

    def _changes(self, names: Sequence[str]) -> Mapping[str, Change]:
        return changes_by_inputs(self.run.system, self.gains, self.ends, self.equations, names)

    def _ends(self, change: Change) -> Floats:
        """Return what changes of residuals and of w do to the ends, (N, 4 nv, k)."""
        e, h = self.equations, self.gains.h
        D, w = e.solved(change.residuals)
        w = w + change.w
        parts = [h * (D if e.T is None else e.T @ D), *(gain * w for gain in self.gains.w[1:])]
        return np.concatenate(parts, axis=1)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return B (N, 4 nv, k) by the name of the input."""
        found = {name: self._ends(change) for name, change in self._changes(names).items()}
        if not self.started:
            A = self._from_starts()[0]
            for name, S in self._start().by_inputs(names).items():
                found[name][0] += A @ S
        return found

    def reverse(
        self, adjoint: Floats, seeds: Floats, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """See `LinearSteps.reverse`: by products with the factors, without the matrices A and B."""
        nv = self.run.system.nv
        X, *adjoints = self._back(adjoint.reshape((4, nv)), seeds.reshape((-1, 4, nv)))
        run = self.run
        found = dict(contracted(run.system, run.gains, self.ends, self.equations, names, adjoints))
        if not self.started:
            start = self._start()
            for name, part in start.contracted(X.reshape(-1), names).items():
                if name == "tau":
                    found[name][0] += part.sum(axis=0)
                else:
                    found[name] += part
            X = np.concatenate([start.by_state.T @ X.reshape(-1), np.zeros(2 * nv)])
        return X.reshape(-1) + seeds[0], found

    def _back(self, end: Floats, seeds: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the adjoint (4, nv) where steps begin, less its seed, of residuals and of w."""
        from mbkit.kernels.sensitivities.alpha_steps import Adjoint, Linear, Weights, reverse

        e = self.equations
        count, n, nv = *e.S.shape[:2], end.shape[1]
        none = np.zeros((0, 0, 0))
        optional = [none if each is None else each for each in (e.T, e.G, e.E, e.A_n)]
        linear = Linear(*map(np.ascontiguousarray, (e.S, e.W, *optional)))
        later = np.array(seeds)
        later[0] = 0.0
        found = Adjoint(
            np.array(end), later, np.empty((count, n)), np.empty((count, nv)),
            np.empty(n, dtype=np.int64), np.empty((2, max(n, 4 * nv))),
        )  # fmt: skip
        status = reverse(Weights(*self.gains), linear, found)
        if status != 0:
            raise ConvergenceError(
                f"System '{self.run.system.name}': a step of the run has a singular matrix, and "
                f"no derivatives."
            )
        return found.end, found.residuals, found.w
