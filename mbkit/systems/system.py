"""The equations of motion of a mechanism, ready to be evaluated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import final

import attrs
import numpy as np
from numpy import empty
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError
from mbkit.systems.evaluator import FORWARD_DYNAMICS, INVERSE_DYNAMICS
from mbkit.systems.kinematics import Floats, Kinematics

__all__ = ["System"]


@final
@attrs.frozen(eq=False, slots=False, repr=False)
class System(Kinematics):
    """Equations of motion ``M(q) vdot + b(q, v) = tau`` on the configuration group.

    Made by `Mechanism.assemble`; immutable, and safe to share between threads. Methods take and
    return plain arrays. ``out=`` receives the result where it is offered; it must be contiguous,
    of float64, and share no memory with the other arguments.

    Attributes
    ----------
    name : str
        The mechanism's name.
    representation : Representation
        Of twists, wrenches, Jacobians and accelerations of bodies.
    nq, nv : int
        Numbers of positions and of velocities.
    body_names : tuple of str
        The world first, then the bodies in the order in which they were added; the order of the
        rows of `poses` and `twists`.
    joint_names : tuple of str
        In the order in which they were added; ``q`` and ``v`` are in this order too.
    position_names, velocity_names : tuple of str
        ``"joint"`` where a joint has one, ``"joint[k]"`` where it has more.
    position_units : tuple of str
        Unit of each position, "rad", "m" or "".
    mass : float
        Of all bodies. [kg]
    gravity : ndarray, shape (3,)
        In the world. [m/s^2]
    model_text : str
        The model document it was assembled from.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> rod = mb.SpatialInertia.from_com(
    ...     mass=2.0, com=(0, 0, -1.0), moment_about_com=[[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    ... )
    >>> rod = mech.add_body(mb.Body("rod", inertia=rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> system = mech.assemble()
    >>> system.mass_matrix([0.3])
    array([[3.]])
    """

    def __repr__(self) -> str:
        return (
            f"<System '{self.name}': {len(self.body_names) - 1} bodies, nq={self.nq}, "
            f"nv={self.nv}, {self.representation.name}>"
        )

    # ----------------------------------------------------------------------------- dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        wrenches: ArrayLike | None = None,
        *,
        out: Floats | None = None,
    ) -> Floats:
        """Return the generalized forces that produce an acceleration (recursive Newton-Euler).

        Parameters
        ----------
        q, v, vdot : array_like, shape (nq,), (nv,), (nv,)
            Configuration, velocity, acceleration.
        wrenches : array_like, shape (bodies + 1, 6), optional
            Applied to the bodies at their frames, (moment, force), in the system's
            representation; row 0 is ignored. [N m], [N]
        out : ndarray, shape (nv,), optional
            Where to write.

        Returns
        -------
        ndarray, shape (nv,)
            ``tau = M vdot + b - J^T W``. Cost: O(bodies).
        """
        tau = empty(self.nv) if out is None else out
        if wrenches is None:
            return self._inverse_dynamics(q, v, vdot, False, tau)
        evaluator = self.evaluator
        evaluator.run(
            evaluator.inverse_dynamics_kernel,
            INVERSE_DYNAMICS, q, v, vdot, True, tau, wrenches=wrenches,
        )  # fmt: skip
        return tau

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        *,
        out: Floats | None = None,
    ) -> Floats:
        """Return the acceleration under generalized forces (articulated-body algorithm).

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            Configuration and velocity.
        tau : array_like, shape (nv,), optional
            Generalized forces; zero if left out. [N m], [N]
        wrenches : array_like, shape (bodies + 1, 6), optional
            As in `inverse_dynamics`.
        out : ndarray, shape (nv,), optional
            Where to write.

        Returns
        -------
        ndarray, shape (nv,)
            ``vdot`` with ``M vdot + b - J^T W = tau``. Cost: O(bodies).

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named. An inertia below 1e-13 of
            the others at the joint counts as none.
        """
        vdot = empty(self.nv) if out is None else out
        if tau is None:
            tau = self.evaluator.zero
        if wrenches is None:
            return self._forward_dynamics(q, v, tau, False, vdot)
        evaluator = self.evaluator
        evaluator.run(
            evaluator.forward_dynamics_kernel,
            FORWARD_DYNAMICS, q, v, tau, True, vdot, wrenches=wrenches,
        )  # fmt: skip
        return vdot

    def mass_matrix(self, q: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return the mass matrix (composite-rigid-body algorithm).

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.
        out : ndarray, shape (nv, nv), optional
            Where to write.

        Returns
        -------
        ndarray, shape (nv, nv)
            Symmetric; both halves are written. Cost: O(nv depth).
        """
        M = empty((self.nv, self.nv)) if out is None else out
        return self._mass_matrix(q, M)

    def bias_force(self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return ``b(q, v)``: Coriolis, centrifugal and gravity forces.

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            Configuration and velocity.
        out : ndarray, shape (nv,), optional
            Where to write.

        Returns
        -------
        ndarray, shape (nv,)
            The forces that keep ``vdot`` at zero.
        """
        return self.inverse_dynamics(q, v, self.evaluator.zero, out=out)

    # What is called most is one look-up away.

    @functools.cached_property
    def _inverse_dynamics(self) -> Callable[..., Floats]:
        return self.evaluator.inverse_dynamics

    @functools.cached_property
    def _forward_dynamics(self) -> Callable[..., Floats]:
        return self.evaluator.forward_dynamics

    @functools.cached_property
    def _mass_matrix(self) -> Callable[..., Floats]:
        return self.evaluator.mass_matrix

    # --------------------------------------------------------------- energy, momentum, mass

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Return ``1/2 v^T M v`` [J] at q (nq,), v (nv,)."""
        return self._energies(q, v)[0]

    def potential_energy(self, q: ArrayLike) -> float:
        """Return ``-sum m g.c`` [J] at q (nq,), c the centres of mass in the world."""
        return self._energies(q, self.evaluator.zero)[1]

    def _energies(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        kinetic, potential = self.energies(self.checked("q", q)[None], self.checked("v", v)[None])
        return float(kinetic[0]), float(potential[0])

    def energies(self, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
        """Return kinetic and potential energy of many states.

        Parameters
        ----------
        q, v : array_like, shape (k, nq), (k, nv)
            The states, one a row.

        Returns
        -------
        tuple of two ndarrays, shape (k,)
            Kinetic and potential energy. [J]
        """
        names = ("rows:q", "rows:v", "", "")
        rows_q, rows_v, *_ = self.evaluator.arguments.normalised(names, (q, v, None, None))
        if len(rows_q) != len(rows_v):
            raise ShapeError(
                f"There must be as many rows of q as of v; got {len(rows_q)} and {len(rows_v)}."
            )
        kinetic, potential = np.empty(len(rows_q)), np.empty(len(rows_q))
        self.evaluator.run(self.evaluator.energies, names, rows_q, rows_v, kinetic, potential)
        return kinetic, potential

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return the momentum of all bodies about the world's origin.

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            Configuration and velocity.

        Returns
        -------
        ndarray, shape (6,)
            (angular, linear), in the world. [kg m^2/s], [kg m/s]
        """
        return self._momentum(q, v)[0]

    def centre_of_mass(self, q: ArrayLike) -> Floats:
        """Return the centre of mass of all bodies in the world, shape (3,) [m], at q (nq,).

        A mechanism without mass has none: the result is then not a number.
        """
        moment_of_mass = self._momentum(q, self.evaluator.zero)[1]
        with np.errstate(invalid="ignore"):
            return moment_of_mass / np.float64(self.mass)

    def _momentum(self, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
        momentum, moment_of_mass = np.empty(6), np.empty(3)
        names = ("q", "v", "", "")
        self.evaluator.run(self.evaluator.momentum, names, q, v, momentum, moment_of_mass)
        return momentum, moment_of_mass
