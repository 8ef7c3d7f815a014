"""RATTLE on the group in Python, on `mbkit.EquationsOfMotion` and nothing else: short, and slow."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb


class RattleInPython(mb.Integrator):
    """The variational method of `mbkit.RATTLie`, with Newton's matrix by differences."""

    order = 2
    keeps_constraints = True
    takes_constraints = True
    takes_prescribed_joints = False
    gives_multipliers = True

    def prepare(self, problem: Any) -> Any:
        system: mb.EquationsOfMotion = problem.equations
        n, m, h = system.nv, system.num_velocity_constraints, problem.h
        rest = np.zeros(n)

        def mass_gradient(q: Any, D: Any) -> Any:
            """The gradient of D.M(q) D / 2 along steps, by D_q (M D)."""
            moved = system.inverse_dynamics_derivatives(q, rest, D)[0]
            return 0.5 * (moved - system.inverse_dynamics_derivatives(q, rest, rest)[0]).T @ D

        def force(q: Any) -> Any:
            return -system.inverse_dynamics(q, rest, rest)

        def pulled_back(x: Any, momentum: Any) -> Any:
            """T(x)^-T momentum."""
            return np.array([momentum @ system.dexp_inv(x, e) for e in np.eye(n)])

        def residual(q: Any, p: Any, unknown: Any) -> Any:
            D, impulse = unknown[:n], unknown[n:]  # impulse: h/2 times the multipliers
            end = system.retract(q, h * D)
            momentum = 0.5 * (system.mass_action(q, D) + system.mass_action(end, D))
            r = pulled_back(-h * D, momentum) - 0.5 * h * (mass_gradient(q, D) + force(q)) - p
            r -= system.constraint_jacobian(q).T @ impulse
            return np.concatenate([r, system.constraint_residual(end) / h])

        def solved(q: Any, v: Any) -> Any:
            """The D that leads to the end of the step, and what the constraints did."""
            p, unknown = system.mass_action(q, v), np.concatenate([v, np.zeros(m)])
            for _ in range(20):
                r, matrix = residual(q, p, unknown), np.empty((n + m, n + m))
                for k, e in enumerate(1e-4 * np.eye(n + m)):
                    change = residual(q, p, unknown + e) - residual(q, p, unknown - e)
                    matrix[:, k] = change / 2e-4
                step = np.linalg.lstsq(matrix, -r, rcond=1e-9)[0]
                unknown += step
                if abs(step).max() < 1e-13 * (1.0 + abs(unknown).max()):
                    break
            return unknown[:n], unknown[n:] * 2.0 / h

        def end_of_step(q: Any, D: Any) -> Any:
            """q and v of the end, and the multipliers that end there."""
            end = system.retract(q, h * D)
            momentum = 0.5 * (system.mass_action(q, D) + system.mass_action(end, D))
            p = pulled_back(h * D, momentum) + 0.5 * h * (mass_gradient(end, D) + force(end))
            A = system.constraint_jacobian(end)
            matrix = np.block([[system.mass_matrix(end), -A.T], [A, np.zeros((m, m))]])
            found = np.linalg.lstsq(matrix, np.concatenate([p, np.zeros(m)]), rcond=1e-9)[0]
            return end, found[:n], found[n:] * 2.0 / h

        def advance(first: int, steps: int, rows: Any) -> tuple[int, int, int]:
            saved = 0
            for k in range(first, first + steps):
                D, _ = solved(problem.q, problem.v)
                problem.q[:], problem.v[:], before = end_of_step(problem.q, D)
                if (k + 1) % problem.save_every == 0:
                    if m:  # the mean of both sides
                        after = solved(problem.q, problem.v)[1]
                        problem.multipliers[:] = 0.5 * (before + after)
                    t = problem.t0 + (k + 1) * h
                    row = (t, problem.q, problem.v, problem.work, problem.multipliers)
                    for part, value in zip(rows, row, strict=True):
                        part[saved] = value
                    saved += 1
            return 0, steps, saved

        return advance
