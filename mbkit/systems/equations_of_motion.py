"""Protocols: the interface of a system for integrators and solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["EquationsOfMotion"]


@runtime_checkable
class EquationsOfMotion(Protocol):
    """Equations of motion of a mechanism on its configuration group, closed by constraints.

        ``qdot = rates(q, v)``,  ``M(q) vdot + b(q, v) = f(t, q, v) + tau + A(q)^T multipliers``,

        ``g(q, t) = 0``,  ``A(q) v + g_t = 0``,  ``A(q) vdot + bias(q, v, t) = 0``.

    `System` satisfies it. Integrators and solvers use these methods only, and accept any object
    that has them. docs/protocol.md has them in one table.

    A derivative with respect to q is along steps: column k of ``D_q f`` is the derivative of
    ``f(retract(q, e e_k))`` by e at e = 0, so that it has `ndx` columns. For holonomic joints
    these are nv, and steps are in the coordinates of the velocities.

    Attributes
    ----------
    nq, nv, ndx : int
        Numbers of positions, of velocities, and the tangent dimension: nv, or more if a joint is
        nonholonomic.
    num_position_constraints, num_velocity_constraints : int
        Rows of `constraint_residual` and of `constraint_jacobian`: there may be more rows of
        velocity level. Zero for trees.

    Examples
    --------
    A rod of 1 kg that hangs by a ball joint 1 m above its centre of mass, the joint as a
    constraint of a free body. How stiff gravity holds it: m g l about x and y, and not about z.

    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("hanging", gravity=(0, 0, -9.81))
    >>> inertia = mb.SpatialInertia.from_com(1.0, (0, 0, -1.0), 0.1 * np.eye(3))
    >>> rod = mech.add_body(mb.Body("rod", inertia))
    >>> free = mech.add_joint(mb.FreeJoint("free"), mech.world, rod)
    >>> ball = mech.add_joint(mb.SphericalJoint("ball"), mech.world, rod)
    >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["ball"]))
    >>> isinstance(system, mb.EquationsOfMotion)
    True
    >>> q, rest = system.reference_configuration(), np.zeros(6)
    >>> vdot, multipliers = system.solve_dynamics(q, rest)
    >>> multipliers.round(9) + 0.0
    array([0.  , 0.  , 9.81])
    >>> stiffness = system.inverse_dynamics_derivatives(q, rest, vdot)[0]
    >>> stiffness = stiffness - system.constraint_force_derivative(q, multipliers)
    >>> stiffness[:3, :3].round(9) + 0.0
    array([[9.81, 0.  , 0.  ],
           [0.  , 9.81, 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    @property
    def nq(self) -> int:
        """Number of positions."""

    @property
    def nv(self) -> int:
        """Number of velocities."""

    @property
    def ndx(self) -> int:
        """Dimension of the tangent space of the group of configurations."""

    @property
    def num_position_constraints(self) -> int:
        """Number of rows of the residual."""

    @property
    def num_velocity_constraints(self) -> int:
        """Number of rows of the Jacobian."""

    # ------------------------------------------------------------------- configuration group

    def retract(self, q: ArrayLike, dx: ArrayLike) -> Floats:
        """Return the configuration (nq,) at the end of the step dx (ndx,) from q."""

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Floats:
        """Return the step (ndx,) from q0 to q1, the inverse of `retract`."""

    def rates(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return the rate (ndx,) of a step from q: v, unless a joint is nonholonomic."""

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Indices in q at which unit quaternions of four entries begin."""

    def position_rates(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return the rate (nq,) of the entries of q; JointError if a joint does not define it."""

    def time_to_lock(self, q: ArrayLike, v: ArrayLike) -> tuple[float, str]:
        """Return the time until that rate may be infinite, and the joint; infinity if never."""

    def dexp(self, x: ArrayLike, rate: ArrayLike) -> Floats:
        """Return the rate of retract(q, x) for a rate of x."""

    def dexp_inv(self, x: ArrayLike, rate: ArrayLike) -> Floats:
        """Return the rate of x for a `rate` of retract(q, x), the inverse of `dexp`."""

    # ------------------------------------------------------------------------------ dynamics

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """Return M (nv, nv), of the tree."""

    def mass_action(self, q: ArrayLike, x: ArrayLike) -> Floats:
        """Return M x (nv,), without M."""

    def bias_force(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return b (nv,): Coriolis, centrifugal and gravity forces."""

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, t: ArrayLike = 0.0
    ) -> Floats:
        """Return M vdot + b - f (nv,)."""

    def generalized_forces(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return f (nv,), the sum of the forces of the mechanism."""

    # --------------------------------------------------------------------------- constraints

    def constraint_residual(self, q: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return g (num_position_constraints,)."""

    def constraint_jacobian(self, q: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return A (num_velocity_constraints, nv)."""

    def constraint_velocity(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return A v + g_t (num_velocity_constraints,)."""

    def constraint_bias(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return the acceleration of the constraints (num_velocity_constraints,) without vdot."""

    # --------------------------------------------------------------------------- derivatives

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, t: ArrayLike = 0.0
    ) -> tuple[Floats, Floats]:
        """Return those of M vdot + b - f by q, (nv, ndx), and by v, (nv, nv)."""

    def force_derivatives(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0
    ) -> tuple[Floats, Floats]:
        """Return those of f by q, (nv, ndx), and by v, (nv, nv)."""

    def constraint_jacobian_velocity_derivative(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0
    ) -> Floats:
        """Return D_q(A v), (num_velocity_constraints, ndx)."""

    def constraint_force_derivative(
        self, q: ArrayLike, multipliers: ArrayLike, t: ArrayLike = 0.0
    ) -> Floats:
        """Return D_q(A^T multipliers), (nv, ndx)."""


if TYPE_CHECKING:

    def _system_satisfies_it(system: System) -> EquationsOfMotion:
        return system
