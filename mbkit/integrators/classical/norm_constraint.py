"""Quaternions whose length is a constraint at the level of accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import ConfigurationError, UsageError
from mbkit.integrators.classical.python_steps import StepFailed, settled
from mbkit.integrators.classical.quaternions import Quaternions
from mbkit.integrators.integrator import Problem

__all__ = ["NormConstraint"]

#: By how much the square of a length may be off one: as joints accept.
DRIFT = 2e-6

#: Rounding of quaternions, of length one and their rates.
ROUNDING = 1e-12


class NormConstraint:
    """The equations of motion in y = (q, velocities that are no angular ones, Qdot, work).

    With N(Q) w the rate of a unit quaternion, linear in both, N^T N = 1/4:

        w = 4 N^T Qdot / |Q|,   Qddot = |Q| N wdot + mu Q,   mu = -|Qdot|^2 / |Q|^2,

    N taken at Q / |Q|, and mu the multiplier with which Q.Qddot + Qdot.Qdot = 0. The part of Qdot
    beside w, Q.Qdot, is the problem's memory of a step.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._quaternions = Quaternions(problem.equations.quaternions)
        self._count = len(self._quaternions.entries)
        self._columns = np.zeros((self._count, 3), dtype=np.intp)
        self._N = np.zeros((self._count, 4, 3, 4))  # rate, w, Q
        self._t = problem.t0
        self._stage = 0
        self._find()
        self._others = np.setdiff1d(np.arange(problem.nv), self._columns.ravel())
        self._driven = np.zeros(self._count, dtype=bool)  # those of prescribed joints
        if self._count:
            problem.memory["length_rates"] = np.zeros(self._count)

    def begin(self, t: float) -> None:
        """Let the next rates be those of a step from t on."""
        self._t = t
        self._stage = 0

    def _find(self) -> None:
        """Find which velocities turn which quaternion, and N, which is linear in Q."""
        problem, entries = self._problem, self._quaternions.entries
        rates = problem.equations.position_rates
        units = np.eye(problem.nv)
        q = problem.q.copy()
        self._quaternions.normalised(problem.q, q)
        here = np.array([rates(q, unit)[entries] for unit in units]).reshape(
            problem.nv, *entries.shape
        )
        for m, entry in enumerate(entries):
            columns = np.flatnonzero(np.abs(here[:, m]).max(axis=1, initial=0.0) > ROUNDING)
            if columns.size != 3:
                raise _no_unit_quaternion(entry)
            self._columns[m] = columns
            for j in range(4):
                at = q.copy()
                at[entry] = np.eye(4)[j]
                self._N[m, :, :, j] = np.array([rates(at, units[k])[entry] for k in columns]).T
            N = self._N[m] @ q[entry]
            missed = np.abs(N - here[columns, m].T).max(), np.abs(N.T @ N - np.eye(3) / 4).max()
            if max(missed) > ROUNDING:
                raise _no_unit_quaternion(entry)

    def _parts(self, y: Any) -> tuple[Any, Any, Any]:
        """Return the velocities but angular ones, Qdot (m, 4) and work of a state."""
        a = self._problem.nq + self._others.size
        b = a + 4 * self._count
        return y[self._problem.nq : a], y[a:b].reshape(-1, 4), y[b:]

    def _rate_maps(self, q: Any) -> Any:
        """Return N of each quaternion of length one, (m, 4, 3)."""
        return np.einsum("mijk,mk->mij", self._N, q[self._quaternions.entries])

    @property
    def start(self) -> Any:
        """The state at the beginning of a step, with no work done yet."""
        problem = self._problem
        unit = np.empty(problem.nq)
        lengths = self._quaternions.normalised(problem.q, unit)[:, None]
        w = problem.v[self._columns]
        Qdot = lengths * np.einsum("mij,mj->mi", self._rate_maps(unit), w)
        if self._count:
            along = problem.memory["length_rates"][:, None] / lengths
            Qdot += along * unit[self._quaternions.entries]
        work = np.zeros(problem.work.size)
        return np.concatenate([problem.q, problem.v[self._others], Qdot.ravel(), work])

    def _write(self, y: Any, q: Any, v: Any) -> tuple[Any, Any]:
        """Write q with unit quaternions, and v; return the lengths, and N."""
        others, Qdot, _ = self._parts(y)
        lengths = self._quaternions.normalised(y[: q.size], q)
        N = self._rate_maps(q)
        v[self._others] = others
        v[self._columns] = 4.0 * np.einsum("mij,mi->mj", N, Qdot) / lengths[:, None]
        return lengths, N

    def rates(self, s: float, y: Any) -> Any:
        """Return the rates of a state at t + s."""
        problem = self._problem
        q, v, out = problem.q_stage, problem.v_stage, np.empty(y.size)
        lengths, N = self._write(y, q, v)
        _, Qdot, _ = self._parts(y)
        others, Qddot, powers = self._parts(out)
        vdot, entries = np.empty(problem.nv), self._quaternions.entries
        before = q[entries]
        # which writes q and v of prescribed joints
        status = problem.accelerate(self._t + s, q, v, vdot, powers, stage=self._stage)
        self._stage += 1
        if status != 0:
            raise StepFailed(status)
        self._driven |= (q[entries] != before).any(axis=1)
        out[: problem.nq] = problem.equations.position_rates(q, v)
        out[entries] = Qdot
        others[:] = vdot[self._others]
        Qddot[:] = lengths[:, None] * np.einsum("mij,mj->mi", N, vdot[self._columns])
        Qddot -= ((Qdot * Qdot).sum(axis=1) / lengths**2)[:, None] * y[entries]
        return out

    def take_over(self, end: float, y: Any) -> None:
        """Make the end of a step the state of the problem."""
        problem = self._problem
        q, v = np.empty(problem.nq), np.empty(problem.nv)
        lengths, _ = self._write(y, q, v)
        _, Qdot, work = self._parts(y)
        self._quaternions.principal(problem, q)
        settled(problem, end, q, v)
        lengths[self._driven] = 1.0
        self._check(lengths)
        self._quaternions.scale(q, lengths)
        problem.q[:], problem.v[:] = q, v
        problem.work[:] += work
        if self._count:
            along = (y[self._quaternions.entries] * Qdot).sum(axis=1)
            problem.memory["length_rates"][:] = np.where(self._driven, 0.0, along)

    def _check(self, lengths: Any) -> None:
        """Raise ConfigurationError where a quaternion has drifted too far for joints."""
        off = np.abs(lengths**2 - 1.0)
        if off.max(initial=0.0) <= DRIFT:
            return
        m = int(np.argmax(off))
        raise ConfigurationError(
            f"QuaternionVectorSpace: the length of the quaternion in positions "
            f"{self._quaternions.entries[m].tolist()} has drifted to {lengths[m]:.9g}, as it does "
            f"where it is a constraint of accelerations alone; joints take it within 1e-6 of one. "
            f"Use a smaller h, or norm='renormalised'."
        )


def _no_unit_quaternion(entries: Any) -> UsageError:
    return UsageError(
        f"QuaternionVectorSpace: positions {entries.tolist()} are said to be a unit quaternion, "
        f"and do not change as one with three angular velocities of a length twice theirs; use "
        f"norm='renormalised'."
    )
