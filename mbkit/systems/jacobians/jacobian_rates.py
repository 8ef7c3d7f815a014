"""The rate of the Jacobian of all bodies, and its factors."""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np

from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.jacobians.jacobian_factors import sparse_blocks
from mbkit.systems.memory.body_tree import BodyTree


@final
@attrs.frozen(eq=False, repr=False, slots=False)
class JacobianRates:
    """Factors of accelerations in closed form, of body-fixed twists and screws, at q and v.

    With J = A X of `SystemJacobian`, x_i = X_i v_i the twist of body i relative to its parent,
    a = diag(ad_x_i) and b = diag(ad_V_i),

        Jdot = A (Xdot + a (X - J)),    Vdot = J vdot + A (Xdot v - a V),
        b J  = A (b X + a (J - X)).

    For joints of one velocity a X and Xdot are zero: Jdot = -A a J.

    Attributes
    ----------
    a, b : scipy.sparse.csr_array, shape (6 bodies, 6 bodies)
        The brackets with the twists x_i, and with the twists of the bodies.
    X_rate : scipy.sparse.csr_array, shape (6 bodies, nv)
        Xdot: the rates of the motion subspaces.

    Notes
    -----
    Made by `SystemJacobian.rates`. Source: Mueller 2018 (Screw and Lie group theory in multibody
    dynamics), (8), (10), for joints of one velocity; extended to joints of several.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("arm")
    >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    >>> upper, lower = mech.add_body(mb.Body("upper", rod)), mech.add_body(mb.Body("lower", rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    >>> joint = mech.add_joint(mb.RevoluteJoint("elbow", point=(1, 0, 0)), upper, lower)
    >>> arm, q, v, vdot = mech.assemble(), [0.0, 0.5], [1.0, 2.0], [3.0, 0.0]
    >>> J = arm.system_jacobian(q)
    >>> A = J.J @ vdot - J.A @ J.rates(v).a @ J.apply(v)
    >>> bool(abs(A - arm.accelerations(q, v, vdot)[1:].ravel()).max() < 1e-13)
    True
    """

    a: Any
    b: Any
    X_rate: Any
    _A: Any
    _X: Any
    _J: Any

    @classmethod
    def _of(
        cls,
        tree: BodyTree,
        twists: tuple[FloatArray, FloatArray],
        subspace_rates: FloatArray,
        factors: tuple[Any, Any, Any],
    ) -> JacobianRates:
        """Return the rates for x and V (6 bodies,), Xdot as rows (nv, 6), and A, X, J."""
        size = len(twists[0])
        corners = np.arange(0, size, 6)
        a, b = (
            sparse_blocks(SE3.ad(each.reshape(-1, 6)), corners, corners, (size, size))
            for each in twists
        )
        blocks = 6 * (tree.body_of_velocity - 1), np.arange(len(subspace_rates))
        shape = size, len(subspace_rates)
        X_rate = sparse_blocks(subspace_rates[:, :, None], *blocks, shape)
        return cls(a, b, X_rate, *factors)

    def __repr__(self) -> str:
        return f"<JacobianRates: {self.X_rate.shape[0]} x {self.X_rate.shape[1]}>"

    @functools.cached_property
    def J_rate(self) -> Any:
        """Jdot as a sparse matrix (scipy.sparse.csr_array)."""
        return self._A @ (self.X_rate + self.a @ (self._X - self._J))
