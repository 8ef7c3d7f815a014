"""Newton's and Euler's equations of all bodies at once, to be projected by the Jacobian."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError
from mbkit.lie import SE3, SO3
from mbkit.lie.arrays import as_floats
from mbkit.representations import BodyFixed, Representation
from mbkit.representations.arguments import times, transposed
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.jacobians.jacobian_factors import sparse_blocks
from mbkit.systems.jacobians.system_jacobian import SystemJacobian, system_jacobian

if TYPE_CHECKING:
    from mbkit.systems.system import System


@final
@attrs.frozen(eq=False, repr=False, slots=False)
class NewtonEulerEquations:
    """The equations of Newton and Euler of all bodies at q and v, with the Jacobian J = A X.

        ``M Vdot + C V = W + reactions``,    ``J^T (M Vdot + C V - W) = f + tau``,

    with the twists ``V = J v`` of all bodies, one below the other, ``Vdot = J vdot + Jdot v``, the
    weights W, the forces f of the system and the efforts tau. The reactions of joints have no power
    along J. M and C are block-diagonal, a block of 6 x 6 a body, symmetric in M.

    C is the one of many matrices with the same C V for which dM/dt - 2 C is skew: then
    ``J^T M J`` is the mass matrix, and ``J^T (M Jdot + C J)`` is `System.coriolis_matrix`.

    Attributes
    ----------
    jacobian : SystemJacobian
        J, with its factors A and X, as sparse matrices and as operators that cost O(bodies).
    V, W : ndarray, shape (6 bodies,)
        Twists and weights of the bodies, in the representation of the Jacobian, without the world.
    M, C : scipy.sparse.csr_array, shape (6 bodies, 6 bodies)
        Inertias, and the matrix that takes V to the rest of the rate of momentum.

    Notes
    -----
    Made by `System.newton_euler`. Source: Mueller 2018, (77) and (78), where body-fixed C is
    -ad_V^T M; here it is (M ad_V - ad_V^T M + h) / 2 with h n = -ad_n^T M V, and in a
    representation with V = T V_b it is T^-T (C_b - M_b T^-1 dT/dt) T^-1.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("arm", gravity=(0, -9.81, 0))
    >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    >>> upper, lower = mech.add_body(mb.Body("upper", rod)), mech.add_body(mb.Body("lower", rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    >>> joint = mech.add_joint(mb.RevoluteJoint("elbow", point=(1, 0, 0)), upper, lower)
    >>> arm, q, v, vdot = mech.assemble(), [0.0, 0.5], [1.0, 2.0], [3.0, 0.0]
    >>> bodies = arm.newton_euler(q, v)
    >>> Vdot = bodies.jacobian.apply(vdot) + bodies.J_rate @ v
    >>> bool(abs(bodies.project(Vdot) - arm.inverse_dynamics(q, v, vdot)).max() < 1e-13)
    True
    >>> bool(abs(bodies.mass_matrix - arm.mass_matrix(q)).max() < 1e-13)
    True
    """

    jacobian: SystemJacobian
    V: FloatArray
    W: FloatArray
    M: Any
    C: Any
    _body_fixed_rate: Any  # of J of body-fixed twists
    _turning: FloatArray  # dT/dt T^-1, (n, 6, 6)
    _maps: FloatArray  # T

    def __repr__(self) -> str:
        return (
            f"<NewtonEulerEquations of {len(self.V) // 6} bodies, "
            f"{self.jacobian.representation.name}>"
        )

    @functools.cached_property
    def J_rate(self) -> Any:
        """Jdot as a sparse matrix (scipy.sparse.csr_array): T Jdot_b + dT/dt T^-1 J."""
        return _diagonal(self._maps) @ self._body_fixed_rate() + (
            _diagonal(self._turning) @ self.jacobian.J
        )

    @property
    def mass_matrix(self) -> Any:
        """J^T M J as a sparse matrix (nv, nv)."""
        J = self.jacobian.J
        return J.T @ self.M @ J

    @property
    def coriolis_matrix(self) -> Any:
        """J^T (M Jdot + C J) as a sparse matrix (nv, nv)."""
        J = self.jacobian.J
        return J.T @ (self.M @ self.J_rate + self.C @ J)

    def project(self, Vdot: ArrayLike) -> FloatArray:
        """Return J^T (M Vdot + C V - W) for the rates of the twists, (nv,), in O(bodies).

        ShapeError if `Vdot`, shape (6 bodies,), is something else.
        """
        rates = as_floats(Vdot, "NewtonEulerEquations.project")
        if rates.shape != self.V.shape:
            raise ShapeError(
                f"NewtonEulerEquations.project takes the rates of all twists, an array of shape "
                f"{self.V.shape}, got shape {rates.shape}."
            )
        return self.jacobian.apply_transpose(self.M @ rates + self.C @ self.V - self.W)


def _diagonal(blocks: FloatArray) -> Any:
    """Return a block-diagonal sparse matrix."""
    corners = 6 * np.arange(len(blocks))
    return sparse_blocks(blocks, corners, corners, (6 * len(blocks),) * 2)


def _crossed(h: FloatArray) -> FloatArray:
    """Return the matrices (n, 6, 6) of u -> -ad_u^T h for momenta h: (w x t + v x f, w x f)."""
    result = np.zeros((len(h), 6, 6))
    result[:, :3, :3] = -SO3.ad(h[:, :3])
    result[:, :3, 3:] = result[:, 3:, :3] = -SO3.ad(h[:, 3:])
    return result


def _inertias(system: System) -> FloatArray:
    """Return the inertia matrices of the bodies in their frames, (n, 6, 6), without the world."""
    own = system.inertias
    bodies = zip(own.masses[1:], own.coms[1:], own.moments_about_com[1:], strict=True)
    matrices = [SpatialInertia(*each, unphysical=True).matrix() for each in bodies]
    return np.reshape(matrices, (-1, 6, 6))


def newton_euler(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    representation: Representation | None = None,
    screws: str | None = None,
) -> NewtonEulerEquations:
    """See `System.newton_euler`."""
    J = system_jacobian(system, q, representation, screws)
    v = system.checked("v", v)
    V = J.apply(v)
    C = system.poses(q)[1:]
    maps, back = J.representation.twist_map(C), J.representation.inverse_twist_map(C)
    V_b = times(back, V.reshape(-1, 6))
    turning = J.representation.twist_map_rate(C, V_b)
    M_b, ad = _inertias(system), SE3.ad(V_b)
    C_b = 0.5 * (M_b @ ad - transposed(ad) @ M_b + _crossed(times(M_b, V_b)))
    weight = np.zeros_like(V_b)
    weight[:, 3:] = times(transposed(C[:, :3, :3]), np.broadcast_to(system.gravity, (len(C), 3)))
    W = times(transposed(back), times(M_b, weight))
    return NewtonEulerEquations(
        jacobian=J,
        V=V,
        W=W.ravel(),
        M=_diagonal(transposed(back) @ M_b @ back),
        C=_diagonal(transposed(back) @ (C_b - M_b @ back @ turning) @ back),
        body_fixed_rate=lambda: system_jacobian(system, q, BodyFixed()).rates(v).J_rate,
        turning=turning @ back,
        maps=maps,
    )
