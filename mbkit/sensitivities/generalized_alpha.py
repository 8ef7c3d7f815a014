"""Derivatives of runs by the generalized-alpha method, as if its steps were solved exactly.

The state that is differentiated is (q, v, a, vdot), 4 nv entries. After a start a and vdot follow
from q and v, which is a part of the first step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.generalized_alpha import GeneralizedAlpha
from mbkit.integrators.integrator import Rows
from mbkit.sensitivities.alpha_equations import Ends, Equations, Gains
from mbkit.sensitivities.alpha_parameters import Change, changes_by_inputs
from mbkit.sensitivities.alpha_start import Start, start_of
from mbkit.sensitivities.closing import Closing
from mbkit.sensitivities.constraint_rows import free_entries
from mbkit.sensitivities.linear_steps import Linearisation, LinearSteps, shape_of_input, size_of
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
        self.tau = run.workspace.tau.copy()
        self.stabilised = self.method.formulation == "stabilized_index2"
        self.gains = Gains.of(self.method.numbers, self.problem.h)
        self._advance = self.method.prepare(self.problem)

    @property
    def size(self) -> int:
        """Entries of (q, v, a, vdot)."""
        return 4 * self.system.nv

    @property
    def numbers(self) -> int:
        """Numbers of a step: its matrices, and as many again while they are made."""
        nv, m = self.system.nv, self.system.num_velocity_constraints
        return 2 * (nv + 2 * m) * (nv + 2 * m) + 10 * nv * (nv + 2 * m)

    def start(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return S (size, k) by the name of the input."""
        system, problem = self.system, self.problem
        nv, free = system.nv, free_entries(system)[:, None]
        loops = None
        if system.num_velocity_constraints:
            state = np.array([problem.t0]), problem.q[None], problem.v[None]
            parameters = [name for name in names if name in system.parameters]
            loops = Closing.of(system, parameters, *state)
        found = {}
        for name in names:
            dq, dv = np.zeros((2, 1, nv, size_of(shape_of_input(system, name))))
            if name in ("q", "v"):
                (dq if name == "q" else dv)[:] = np.eye(nv) * free
            if loops is not None:
                dq, dv = loops.close(dq, dv, name)
            found[name] = np.concatenate([dq[0], dv[0], np.zeros((2 * nv, dq.shape[-1]))])
        return found

    def take(self, first: int, count: int) -> AlphaSteps:
        """Take steps as the run does, and linearise them."""
        problem, memory = self.problem, self.problem.memory
        started = bool(memory["started"][0])
        read = {
            "q": problem.q, "v": problem.v, "vdot": memory["vdot"], "eta": memory["eta"],
            "multipliers": memory["multipliers"],
        }  # fmt: skip
        kept = {name: np.empty((count + 1, array.size)) for name, array in read.items()}
        for name, array in read.items():
            kept[name][0] = array
        rows = Rows.empty(1, problem.nq, problem.nv, problem.multipliers.size)
        for k in range(count):
            status = self._advance(first + k, 1, rows)[0]
            assert status == 0, "the steps of a run that was completed"
            for name, array in read.items():
                kept[name][k + 1] = array
        return AlphaSteps(self, first, kept, started)

    def begun(self, t: float, q: Floats, v: Floats, names: Sequence[str]) -> Start:
        """Return the derivatives of (q, v, a, vdot) after a start."""
        wanted = [name for name in names if name not in ("q", "v")]
        return start_of(self.system, self.method, self.problem.h, t, (q, v, self.tau), wanted)


def _check(run: Prepared, method: GeneralizedAlpha) -> None:
    """Raise UsageError for runs whose steps have no derivatives."""
    perturbed = method.formulation == "index3" and method.start == "second order"
    refused = {
        "its efforts are a function: let a force of the mechanism do it": callable(run.tau),
        "its states are saved within steps: use save_every": run.course.times is not None,
        "its steps are of adaptive size: leave out rtol and atol": method.adaptive,
        "its first velocity is perturbed: take start='plain', or formulation='stabilized_index2'": (
            perturbed and run.system.num_velocity_constraints > 0
        ),
        "its events reset the state": any(event.stops for event in run.course.events),
    }
    for reason, holds in refused.items():
        if holds:
            raise UsageError(f"There are no derivatives of this run, since {reason}.")


class AlphaSteps(LinearSteps):
    """Some consecutive steps, of which the first may be the first after a start."""

    def __init__(self, run: Steps, first: int, kept: Mapping[str, Floats], started: bool) -> None:
        self.run, self.started, self.gains = run, started, run.gains
        self.q, self.v = kept["q"], kept["v"]
        self.t = run.problem.t0 + run.problem.h * (first + np.arange(len(self.q), dtype=np.float64))
        x = run.system.difference(self.q[:-1], self.q[1:])
        vdot, multipliers, eta = (kept[name][1:] for name in ("vdot", "multipliers", "eta"))
        ends = self.t[1:], self.q[1:], self.v[1:], vdot, multipliers
        self.ends = Ends(*ends, x, self.t[:-1], self.q[:-1], eta)
        self.equations = Equations.of(run.system, run.gains, self.ends, run.stabilised)

    def matrices(self) -> Floats:
        """Return A (N, 4 nv, 4 nv)."""
        A = self._from_starts()
        if not self.started:
            nv = self.run.system.nv
            start = A[0] @ self._start(()).by_state
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

    def _start(self, names: Sequence[str]) -> Start:
        return self.run.begun(float(self.t[0]), self.q[0], self.v[0], names)

    def _changes(self, names: Sequence[str]) -> Mapping[str, Change]:
        return changes_by_inputs(self.run.system, self.gains, self.ends, self.equations, names)

    def _ends(self, change: Change) -> Floats:
        """Return what changes of residuals and of w do to the ends, (N, 4 nv, k)."""
        e, h = self.equations, self.gains.h
        D = -e.D @ change.residuals
        w = (-e.w @ change.residuals if e.split else D) + change.w
        parts = [h * (D if e.T is None else e.T @ D), *(gain * w for gain in self.gains.w[1:])]
        return np.concatenate(parts, axis=1)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return B (N, 4 nv, k) by the name of the input."""
        found = {name: self._ends(change) for name, change in self._changes(names).items()}
        if not self.started:
            A = self._from_starts()[0]
            for name, S in self._start(names).by_inputs.items():
                found[name][0] += A @ S
        return found

    def reverse(
        self, adjoint: Floats, seeds: Floats, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """See `LinearSteps.reverse`: by products with the factors, without the matrices A and B."""
        nv = self.run.system.nv
        seeds = seeds.reshape((len(seeds), 4, nv))
        X, by_residuals, by_w = _back(self.equations, self.gains, adjoint.reshape((4, nv)), seeds)
        found = {}
        for name, change in self._changes(names).items():
            found[name] = np.einsum("nik,ni->k", change.residuals, by_residuals)
            if np.ndim(change.w):
                found[name] += np.einsum("nik,ni->k", change.w, by_w)
        if not self.started:
            start = self._start(names)
            for name, S in start.by_inputs.items():
                found[name] += S.T @ X.reshape(-1)
            X = np.concatenate([start.by_state.T @ X.reshape(-1), np.zeros(2 * nv)])
        return X.reshape(-1) + seeds[0].reshape(-1), found


def _back(e: Equations, gains: Gains, X: Floats, seeds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the adjoint (4, nv) where steps begin, less its seed, of residuals (N, n) and w."""
    nv = X.shape[-1]
    both = np.empty((7, nv))  # of the end; of q_n, v_k, vdot_k by way of the residuals
    end, parts = both[:4], both[4:].reshape(-1)
    into = np.zeros((4, 7))
    into[:, :4] = gains.known.T
    into[0, 0] = into[0, 4] = 1.0
    into[:, 5:] = gains.known[[1, 3]].T
    simple = e.T is None and not e.split
    by_w = gains.w + np.array([gains.h, 0.0, 0.0, 0.0]) * simple
    found, of_w = np.empty((len(seeds), e.W.shape[1])), np.empty((len(seeds), nv))
    D_minus = np.negative(e.D)
    w_minus = np.negative(e.w) if e.split else D_minus
    end[:] = X
    for j in range(len(seeds) - 1, -1, -1):
        w = np.dot(by_w, end, out=of_w[j])
        if simple:
            np.dot(w, D_minus[j], out=found[j])
        else:
            D = gains.h * (end[0] if e.T is None else end[0] @ e.T[j])
            found[j] = D @ D_minus[j] + w @ w_minus[j]
        np.dot(found[j], e.W[j], out=parts)
        if e.G is not None:
            end[0] = end[0] @ e.G[j]
        if e.E is not None:
            end[0] += w @ e.E[j]
        X = into @ both
        if j:
            np.add(X, seeds[j], out=end)
    return X, found, of_w
