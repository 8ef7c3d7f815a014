"""Derivatives of the dynamics of a system with respect to configuration, velocity and force."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.memory import check_memory
from mbkit.representations import BodyFixed
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.evaluations import FORCE_DERIVATIVES, INVERSE_DYNAMICS_DERIVATIVES
from mbkit.systems.calls.wrenches import Wrenches, wrench_rows
from mbkit.systems.constraint_derivatives import ConstraintDerivatives

__all__ = ["Derivatives"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Derivatives(ConstraintDerivatives):
    """Derivatives of forces and accelerations; see `System`.

    A derivative with respect to the configuration is one along steps on its group: column k of
    ``d_q`` is the derivative of ``f(retract(q, e e_k))`` by e at e = 0.
    """

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return the derivatives of `inverse_dynamics` with respect to configuration and velocity.

        That with respect to the acceleration is `mass_matrix`.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            Configuration, velocity, acceleration.
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            As in `inverse_dynamics`. They are taken along with the bodies: what does not change is
            their components in the axes of the body, in whatever representation they are given.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        d_q : ndarray, shape (..., nv, num_steps)
            Column k is the derivative of ``inverse_dynamics(retract(q, e e_k), v, vdot)`` by e at
            e = 0, e_k a unit step. [N m/rad] and so on
        d_v : ndarray, shape (..., nv, nv)
            The derivatives with respect to v.

        Notes
        -----
        Exact but for rounding, for joints whose motion subspace is the same everywhere, seen from
        the successor (`Joint.constant_subspace`): screws, and joints in group coordinates. For the
        others the change of the subspace is taken by differences of sixth order of the joint's
        functions, which leave about 1e-12 of what it is. The rest is exact.

        Cost: O(nv depth). Source: derived in `mbkit.kernels.derivatives.inverse_dynamics`; for
        joints of one velocity as Carpentier and Mansard 2018 (Analytical derivatives of rigid body
        dynamics algorithms), and Singh, Russo and Wensing 2022 (Efficient analytical derivatives
        of rigid-body dynamics using spatial vector algebra).

        Examples
        --------
        A pendulum of 1 kg and 1 m needs m g l cos(q) more torque for each radian:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> d_q, d_v = mech.assemble().inverse_dynamics_derivatives([0.0], [2.0], [0.0])
        >>> d_q.round(9), d_v.round(9)
        (array([[9.81]]), array([[0.]]))
        """
        if wrenches is None:
            both = self._inverse_dynamics_derivatives(q, v, vdot, None, on_error)
        else:
            both = self.evaluator.compute_loaded(
                INVERSE_DYNAMICS_DERIVATIVES, q, v, vdot,
                wrenches=self._in_body_axes(q, wrenches, on_error),
                out=None, on_error=on_error, representation=BodyFixed(),
            )  # fmt: skip
        return self._split(both)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats, Floats]:
        """Return the derivatives of `forward_dynamics` by configuration, velocity and force.

        Parameters
        ----------
        q, v, tau, wrenches, t
            As in `forward_dynamics`. Wrenches are taken along with the bodies, as in
            `inverse_dynamics_derivatives`.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        d_q : ndarray, shape (..., nv, num_steps)
            Along steps, as in `inverse_dynamics_derivatives`.
        d_v : ndarray, shape (..., nv, nv)
            With respect to v.
        d_tau : ndarray, shape (..., nv, nv)
            With respect to tau: the inverse of the mass matrix. Rows and columns of prescribed
            joints, which no force moves, are zero in all three.

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named.
        UsageError
            If the system has loops.

        Notes
        -----
        ``d_q = -M^-1 D_q(M vdot + b)``, likewise by v. Cost: O(nv^2 depth), sample by sample.

        Examples
        --------
        A pendulum of 1 kg and 1 m, hanging: a spring of m g l that acts on m l^2.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> d_q, d_v, d_tau = mech.assemble().forward_dynamics_derivatives([0.0], [0.0])
        >>> d_q.round(9), d_tau.round(9)
        (array([[-9.81]]), array([[1.]]))
        """
        if self.arrays.closure:
            raise UsageError(
                f"System '{self.name}' has loops: forward_dynamics_derivatives is of trees. What "
                f"derivatives of the closed motion are made of is in mbkit.EquationsOfMotion."
            )
        system: Any = self
        moving, steps = np.ones(self.nv, dtype=bool), np.ones(self.num_steps, dtype=bool)
        if self.motions:
            q, v, _ = self.prescribed_rows(t, q, v, on_error)
            for joint in self.motions:
                moving[self.velocity_slice(joint)] = False
                steps[self.step_slice(joint)] = False
        vdot = system.forward_dynamics(q, v, tau, wrenches, t=t, on_error=on_error)
        leading = vdot.shape[:-1]
        check_memory(
            math.prod(leading) * self.nv * (2.0 * self.num_steps + 3.0 * self.nv)
            + 4.0 * self.nv**2,
            f"Derivatives of {self.nv} accelerations, of {math.prod(leading)} states,",
            "ask for fewer samples at once, or take differences along single directions",
        )
        given = self.inverse_dynamics_derivatives(q, v, vdot, wrenches, on_error=on_error)
        configurations = np.broadcast_to(
            self.evaluator.arguments.with_leading_axes("q", q), (*leading, self.nq)
        )
        found = tuple(np.zeros((*leading, self.nv, n)) for n in (self.num_steps, self.nv, self.nv))
        for sample in np.ndindex(leading):
            if not np.isfinite(vdot[sample]).all():
                for each in found:
                    each[sample] = np.nan
                continue
            solve = _solver(system, configurations[sample], moving)
            parts = -given[0][sample], -given[1][sample], np.eye(self.nv)
            for each, part, columns in zip(found, parts, (steps, moving, moving), strict=True):
                each[sample][np.ix_(moving, columns)] = solve(part[np.ix_(moving, columns)])
        return found  # type: ignore[return-value]

    def force_derivatives(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> tuple[Floats, Floats]:
        """Return the derivatives of `generalized_forces` by configuration and velocity.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        d_q : ndarray, shape (..., nv, num_steps)
            Along steps, as in `inverse_dynamics_derivatives`.
        d_v : ndarray, shape (..., nv, nv)
            With respect to v.

        Notes
        -----
        Exact for `JointSpring` and `JointDamper`. All other forces are differentiated by central
        differences of fourth order with steps of 1e-5: rounding leaves 1e-11 of the greatest force
        by rad or m, and a force that changes over a width w adds (1e-5/w)^4. Within 2e-5 of a kink
        it is a mean of both sides.

        Cost: O(forces) for springs and dampers in joints; where there are others, four force
        passes for each velocity and each entry of a step.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
        >>> mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
        >>> spring = mech.add_force(mb.JointSpring("spring", "slide", stiffness=100.0))
        >>> damper = mech.add_force(mb.JointDamper("damper", "slide", damping=3.0))
        >>> mech.assemble().force_derivatives([0.3], [0.0])
        (array([[-100.]]), array([[-3.]]))
        """
        times = times_of(t, on_error)[..., None]
        compute = self.evaluator.compute
        return self._split(compute(FORCE_DERIVATIVES, q, v, times, on_error=on_error))

    @functools.cached_property
    def _inverse_dynamics_derivatives(self) -> Callable[..., Floats]:
        return self.evaluator.bind_dynamics(INVERSE_DYNAMICS_DERIVATIVES)

    def _split(self, both: Floats) -> tuple[Floats, Floats]:
        """Return the parts (..., nv, num_steps) and (..., nv, nv) of what a kernel wrote."""
        nv = self.nv
        if both.ndim == 1 and len(both) == 2 * nv * nv:
            d_q, d_v = both.reshape((2, nv, nv))
            return d_q, d_v
        leading, end = both.shape[:-1], nv * self.num_steps
        return (
            both[..., :end].reshape((*leading, nv, self.num_steps)),
            both[..., end:].reshape((*leading, nv, nv)),
        )

    def _in_body_axes(self, q: ArrayLike, wrenches: Wrenches, on_error: str) -> Floats:
        """Return body-fixed wrenches, W_b = T^T W where V = T V_b."""
        checked = self.evaluator.arguments.with_leading_axes
        rows = checked("wrenches", wrench_rows(self, q, wrenches))
        common_axes({"q": checked("q", q).shape[:-1], "wrenches": rows.shape[:-2]})
        T = self.representation.twist_map(self.poses(q, on_error=on_error))
        fixed: Floats = (np.swapaxes(T, -1, -2) @ rows[..., None])[..., 0]
        return fixed


def _solver(system: Any, q: Floats, moving: Any) -> Any:
    """Return ``solve(b)`` for the block of the mass matrix of the velocities that are free."""
    if moving.all():
        return system.mass_factor(q).solve
    M = system.mass_matrix(q)[np.ix_(moving, moving)]
    return lambda b: np.linalg.solve(M, b)
