"""The equations of statics of a system, and searches for their solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.closed_loops.loop_equations import position_rows
from mbkit.errors import NotFiniteError
from mbkit.linear_analysis.small_motions import State, unbalanced
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_scales

if TYPE_CHECKING:
    from mbkit.systems import System

#: Newton steps that end a search: they converge by squares.
_STEPS = 4

#: Forces whose squares are numbers. [N]
_LARGEST = 1e150


@final
@attrs.frozen(eq=False)
class Balance:
    """The equations of statics of a system, in the free entries of v and the multipliers.

    Forces are in parts of their size at the start, lengths in those of the system. Around a
    configuration the unknowns are a step on the group along the free entries, and multipliers:

        (b - f - tau - A^T multipliers) / size = 0, residual / length = 0,

    whose derivatives are those of inverse dynamics, forces and constraint forces, times dexp of the
    step.
    """

    system: System
    tau: FloatArray
    t: float
    free: Any
    held: list[int]
    unit: FloatArray
    force: float

    @classmethod
    def of(cls, system: System, q: FloatArray, tau: FloatArray, t: float, mask: Any) -> Balance:
        """Return the equations of a system with some velocities held, (nv,), and the size at q."""
        held = [int(k) for k in np.flatnonzero(mask)]
        unit = velocity_scales(system)
        found = cls(system, tau, t, np.flatnonzero(~mask), held, unit, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            size = unbalanced(found.state(q), held)[1]
        if not size < _LARGEST:
            raise NotFiniteError(
                f"equilibrium: the forces of '{system.name}' are of size {size:.3g} N, of which "
                f"squares are not finite numbers; give forces of ordinary size."
            )
        return attrs.evolve(found, force=size or 1.0)

    def state(self, q: FloatArray, multipliers: FloatArray | None = None) -> State:
        """Return the state at rest."""
        system, zero = self.system, np.zeros(self.system.nv)
        given = np.zeros(system.num_velocity_constraints) if multipliers is None else multipliers
        return State(system, q, zero, self.tau, self.t, zero, given)

    def moved(self, q: FloatArray, x: FloatArray) -> FloatArray:
        """Return the configuration at the end of a step of the free entries."""
        return self.system.retract(q, self._step(x))

    def _step(self, x: FloatArray) -> FloatArray:
        step = np.zeros(self.system.nv)
        step[self.free] = x * self.unit[self.free]
        return step

    def equations(self, q: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return the residual of the equations."""
        system, t = self.system, self.t
        zero = np.zeros(system.nv)
        forces = system.inverse_dynamics(q, zero, zero, t=t) - self.tau
        forces -= system.constraint_jacobian(q, t).T @ multipliers * self.force
        length = system.arrays.closure.length
        forces = (forces * self.unit)[self.free] / (self.force * length)
        return np.concatenate([forces, system.constraint_residual(q, t) / length])

    def derivatives(self, q: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return their derivatives by steps at q, and by the multipliers."""
        system, t, free = self.system, self.t, self.free
        zero, length = np.zeros(system.nv), system.arrays.closure.length
        K = system.inverse_dynamics_derivatives(q, zero, zero, t=t)[0]
        K = K - system.constraint_force_derivative(q, multipliers * self.force, t)
        A = system.constraint_jacobian(q, t)[:, free] * self.unit[free] / length
        K = (self.unit[:, None] * K * self.unit)[np.ix_(free, free)] / (self.force * length)
        g = A[position_rows(system)]
        return np.block([[K, -A.T], [g, np.zeros((len(g), len(A)))]])

    def searched(self, start: FloatArray) -> tuple[FloatArray, float]:
        """Return the configuration that a search from a start ends at, and the residual there."""
        from scipy.optimize import least_squares

        system, n = self.system, len(self.free)
        if not n:
            return start, 0.0
        given = unbalanced(self.state(start), self.held)[2] / self.force

        def at(z: FloatArray) -> tuple[FloatArray, FloatArray]:
            return self.moved(start, z[:n]), z[n:]

        def slope(z: FloatArray) -> FloatArray:
            found = self.derivatives(*at(z))
            step = np.zeros((n, system.nv))
            step[range(n), self.free] = self.unit[self.free]
            along = system.dexp(self._step(z[:n]), step)[:, self.free] / self.unit[self.free]
            found[:, :n] = found[:, :n] @ along.T
            return found

        found = least_squares(
            lambda z: self.equations(*at(z)), np.concatenate([np.zeros(n), given]), slope,
            ftol=1e-14, xtol=1e-14, gtol=1e-14, max_nfev=200,
        )  # fmt: skip
        return self.ended(*at(found.x))

    def ended(self, q: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, float]:
        """Return the end of a few whole Newton steps, and the residual there."""
        left = self.equations(q, multipliers)
        for _ in range(_STEPS):
            step: Any = np.linalg.lstsq(self.derivatives(q, multipliers), -left, rcond=1e-10)[0]
            near = self.moved(q, step[: len(self.free)])
            balanced = multipliers + step[len(self.free) :]
            change = self.equations(near, balanced)
            if not np.abs(change).max() < np.abs(left).max():
                break
            q, multipliers, left = near, balanced, change
        return q, float(np.abs(left).max(initial=0.0))
