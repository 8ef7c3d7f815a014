"""The equations of motion of a mechanism, ready to be evaluated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import INVERSE_DYNAMICS
from mbkit.systems.calls.wrenches import Wrenches, wrench_rows
from mbkit.systems.mass_factor import MassFactor, factorise
from mbkit.systems.reactions import Reactions

__all__ = ["System"]


@final
@attrs.frozen(eq=False, slots=False, repr=False)
class System(Reactions):
    """Equations of motion ``M(q) vdot + b(q, v) = tau`` on the configuration group.

    The forces of the mechanism are not among them: `generalized_forces` is their part of tau, which
    a simulation adds.

    Made by `Mechanism.assemble`; immutable, and safe to share between threads. Methods take and
    return plain arrays. They take many samples at once, by leading axes of their arguments, which
    broadcast: the samples are computed on all cores, and one that fails is named by its index.
    ``out=`` receives the result where it is offered; it must be contiguous, of float64, and share
    no memory with the other arguments.

    Attributes
    ----------
    name : str
        The mechanism's name.
    representation : Representation
        Of twists, wrenches, Jacobians and accelerations of bodies.
    nq, nv, num_steps : int
        Numbers of positions, of velocities, and of entries of a step on the configuration group:
        nv, or more where a joint is nonholonomic.
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
        The model document, with the values of all parameters.
    parameters : mapping of str to float or ndarray
        Masses, places and axes of joints, gravity: what `with_parameters` changes, by name.

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
        wrenches: Wrenches | None = None,
        *,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the generalized forces that produce an acceleration (recursive Newton-Euler).

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            Configuration, velocity, acceleration.
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            Applied to the bodies at their frames, (moment, force), in the system's
            representation; row 0 is ignored. Or by name of the body: ``{"hand": W}``, W a vector
            (..., 6) or a `Wrench` of any representation. [N m], [N]
        out : ndarray, shape (..., nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            ``tau = M vdot + b - J^T W``. Cost: O(bodies).
        """
        if wrenches is not None:
            return self.evaluator.compute_loaded(
                INVERSE_DYNAMICS,
                q,
                v,
                vdot,
                wrenches=wrench_rows(self, q, wrenches),
                out=out,
                on_error=on_error,
            )
        return self._inverse_dynamics(q, v, vdot, out, on_error)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the acceleration under generalized forces (articulated-body algorithm).

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        tau : array_like, shape (..., nv), optional
            Generalized forces; zero if left out. [N m], [N]
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            As in `inverse_dynamics`.
        t : array_like, shape (...), default 0
            Time, of which prescribed joints are functions, whose q and v are ignored, and
            constraints may be. [s]
        out : ndarray, shape (..., nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            ``vdot`` with ``M vdot + b - J^T W = tau``, that of prescribed joints as it must be.
            Cost: O(bodies).

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named. An inertia below 1e-13 of
            the others at the joint counts as none.
        """
        if t.__class__ is not float:
            t = times_of(t, on_error)
        timed = self.num_velocity_constraints > 0 and (np.shape(t) != () or np.any(t))
        if self.motions or timed:
            vdot = self._timed_acceleration(q, v, tau, wrenches, t, on_error)
            if out is None:
                return vdot
            self.evaluator.arguments.output("vdot", vdot.shape[:-1], out)[...] = vdot
            return out
        if tau is None:
            tau = self.evaluator.zero
        if wrenches is not None:
            return self.evaluator.compute_loaded(
                self.equations,
                q,
                v,
                tau,
                wrenches=wrench_rows(self, q, wrenches),
                out=out,
                on_error=on_error,
            )
        return self._forward_dynamics(q, v, tau, out, on_error)

    def _timed_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None,
        wrenches: Wrenches | None,
        t: ArrayLike,
        on_error: str,
    ) -> Floats:
        """Return the acceleration where joints or constraints depend on time."""
        if self.arrays.closure:
            return self.solved(q, v, tau, wrenches, t=t, on_error=on_error)[0]
        q, v, vdot = self.prescribed_rows(t, q, v, on_error)
        return self.hybrid_dynamics(
            q, v, tau=tau, vdot=vdot, prescribed=self.prescribed_joints, wrenches=wrenches, t=t,
            on_error=on_error,
        )[0]  # fmt: skip

    def mass_matrix(
        self, q: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the mass matrix (composite-rigid-body algorithm).

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        out : ndarray, shape (..., nv, nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv, nv)
            Symmetric; both halves are written. Cost: O(nv depth).
        """
        return self._mass_matrix(q, out, on_error)

    def mass_factor(self, q: ArrayLike) -> MassFactor:
        """Return the mass matrix as ``L^T D L`` with the sparsity of the tree.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.

        Returns
        -------
        MassFactor
            The factors, and solutions with them. Cost: O(nv depth^2).

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named. An inertia below 1e-13 of
            that of all bodies beyond the joint counts as none.
        """
        return factorise(self, q)

    def bias_force(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return ``b(q, v)``: Coriolis, centrifugal and gravity forces.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        out : ndarray, shape (..., nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            The forces that keep ``vdot`` at zero.
        """
        return self.inverse_dynamics(q, v, self.evaluator.zero, out=out, on_error=on_error)

    # What is called most is one look-up away.

    @functools.cached_property
    def _inverse_dynamics(self) -> Callable[..., Floats]:
        return self.evaluator.bind_dynamics(INVERSE_DYNAMICS)

    @functools.cached_property
    def _forward_dynamics(self) -> Callable[..., Floats]:
        return self.evaluator.bind_dynamics(self.equations)

    @functools.cached_property
    def _mass_matrix(self) -> Callable[..., Floats]:
        return self.evaluator.bind_mass_matrix()
