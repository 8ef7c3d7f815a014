"""Derivatives of the constraints of a system with respect to the configuration."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import (
    CONSTRAINT_FORCE_DERIVATIVE,
    CONSTRAINT_VELOCITY_DERIVATIVE,
)
from mbkit.systems.closing import Closing

__all__ = ["ConstraintDerivatives"]

#: Central differences of fourth order: steps, and what they weigh. Short ones: a cam is a spline.
_STEPS = np.array([-2.0, -1.0, 1.0, 2.0]) / 4096.0
_WEIGHTS = np.array([1.0, -8.0, 8.0, -1.0]) * 4096.0 / 12.0


@attrs.frozen(eq=False, slots=False, repr=False)
class ConstraintDerivatives(Closing):
    """What implicit schemes need of constraints; see `System`."""

    def constraint_jacobian_velocity_derivative(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the derivative of ``A(q) v`` along steps of the configuration.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        t : array_like, shape (...), default 0
            Time, of which a constraint may be a function. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints, num_steps)
            Column k is the derivative of ``constraint_jacobian(retract(q, e e_k)) @ v`` by e at
            e = 0. ``D @ rates(q, v)`` is `constraint_bias`, where loops are closed.

        Notes
        -----
        Exact but for rounding, for loop joints with a constant motion subspace
        (`Joint.constant_subspace`) in trees of such joints; for other joints within 1e-12, as in
        `System.inverse_dynamics_derivatives`. Where there are other constraints than loop joints,
        the whole Jacobian is differentiated by central differences of fourth order with steps of
        1/4096, which leave 1e-12 of it.

        Examples
        --------
        See `mbkit.EquationsOfMotion`.
        """
        if not self.arrays.closure:
            leading = self.evaluator.arguments.leading(t, on_error, q=q, v=v)
            return np.zeros((*leading, 0, self.num_steps))
        if not self._loops_alone:
            self.evaluator.arguments.leading(t, on_error, q=q, v=v)
            rates = self._jacobian_differences(q, t, on_error)
            speed = self.evaluator.arguments.with_leading_axes("v", v)[..., None, :, None]
            return np.moveaxis((rates @ speed)[..., 0], -2, -1)
        times = times_of(t, on_error)[..., None]
        return self.evaluator.compute(
            CONSTRAINT_VELOCITY_DERIVATIVE, q, v, times, on_error=on_error
        )

    def constraint_force_derivative(
        self, q: ArrayLike, multipliers: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the derivative of ``A(q)^T multipliers`` along steps of the configuration.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        multipliers : array_like, shape (..., num_velocity_constraints)
            Multipliers, as `System.solve_dynamics` returns them. [N]
        t : array_like, shape (...), default 0
            Time, of which a constraint may be a function. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv, num_steps)
            Column k is the derivative of ``constraint_jacobian(retract(q, e e_k)).T @ multipliers``
            by e at e = 0: the geometric stiffness of the constraints.

        Notes
        -----
        As accurate as `constraint_jacobian_velocity_derivative`. Cost: the square of the number of
        velocities in each loop.

        Examples
        --------
        See `mbkit.EquationsOfMotion`.
        """
        if not self.arrays.closure:
            leading = self.evaluator.arguments.leading(t, on_error, q=q, multipliers=multipliers)
            return np.zeros((*leading, self.nv, self.num_steps))
        if not self._loops_alone:
            self.evaluator.arguments.leading(t, on_error, q=q, multipliers=multipliers)
            rates = self._jacobian_differences(q, t, on_error)
            checked = self.evaluator.arguments.with_leading_axes
            given = checked("multipliers", multipliers)[..., None, None, :]
            return np.moveaxis((given @ rates)[..., 0, :], -2, -1)
        times = times_of(t, on_error)[..., None]
        return self.evaluator.compute(
            CONSTRAINT_FORCE_DERIVATIVE, q, multipliers, times, on_error=on_error
        )

    @property
    def _loops_alone(self) -> bool:
        """Whether all constraints are joints that close loops."""
        from mbkit.kernels.constraints.layout import LOOP_JOINT

        return bool((self.arrays.closure.constraints["kind"] == LOOP_JOINT).all())

    def _jacobian_differences(self, q: ArrayLike, t: ArrayLike, on_error: str) -> Floats:
        """Return the derivative of A by each entry of a step, (..., num_steps, rows, nv)."""
        n = self.num_steps
        steps = np.multiply.outer(np.eye(n), _STEPS).swapaxes(1, 2)  # (n, 4, n)
        start = self.evaluator.arguments.with_leading_axes("q", q)[..., None, None, :]
        near = self.retract(start, steps, on_error=on_error)
        times = times_of(t, on_error)[..., None, None]
        A = self.constraint_jacobian(near, times, on_error=on_error)
        rates: Floats = np.einsum("s,...srv->...rv", _WEIGHTS, A)
        return rates
