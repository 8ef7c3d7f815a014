"""Coordinates of the second kind: a product of exponentials of constant screws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from mbkit.joints.charts import Chart
from mbkit.joints.complement import complement
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motion import Motion, header
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray

__all__ = ["ScrewProduct"]

#: A screw that turns by less for a unit of q does not turn at all. [rad]
_NO_TURN = 1e-150


@final
@attrs.frozen(eq=False)
class ScrewProduct(Motion):
    """T = exp(X_1 q_1) ... exp(X_n q_n); v is dq/dt.

    Column a of S is X_a as seen from behind all later factors, S_a = Ad^-1 X_a of their product,
    and S-dot_a = sum over b > a of [S_a, S_b] v_b.

    Attributes
    ----------
    screws : ndarray, shape (n, 6)
        X_k, angular first.
    position_units : tuple of str
        A unit for each position.
    wrenches : ndarray, shape (6, 6 - n), optional
        A basis of the wrenches that do no work along S, where it is constant.
    measure : (function, int), optional
        Where S may lose rank: its volume is abs(function(q[k])), function numpy's sine or cosine.
    chart : Chart, optional
        A closed form of `configuration_from_pose`.

    Notes
    -----
    Sources: Mueller 2018 (Screw and Lie group theory in multibody kinematics), remark 4.
    """

    screws: FloatArray
    position_units: tuple[str, ...]
    wrenches: FloatArray | None = None
    measure: tuple[Callable[[Any], Any], int] | None = None
    chart: Chart | None = None

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """The number of screws."""
        return len(self.screws)

    @property
    def num_velocities(self) -> int:  # type: ignore[override]
        """The number of screws."""
        return len(self.screws)

    @property
    def constant_subspace(self) -> bool:  # type: ignore[override]
        """Whether all screws commute, so that each looks the same from behind the others."""
        pairs = itertools.combinations(self.screws, 2)
        return not any((SE3.ad(X) @ Y).any() for X, Y in pairs)

    def pose(self, q: FloatArray) -> FloatArray:
        """Return the product of the exponentials."""
        T = np.eye(4)
        for X, x in zip(self.screws, q, strict=True):
            T = T @ SE3.exp(X * x)
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return each screw as seen from behind all later factors."""
        S = np.empty((6, len(self.screws)))
        Ad = np.eye(6)  # of the inverse of the later factors
        for k in reversed(range(len(self.screws))):
            S[:, k] = Ad @ self.screws[k]
            Ad = Ad @ SE3.Ad(SE3.exp(-self.screws[k] * q[k]))
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the sum of [S_a, S_b] v_a v_b over a < b."""
        twists = self.motion_subspace(q).T * np.asarray(v)[:, None]
        before, bias = np.zeros(6), np.zeros(6)
        for twist in twists:
            bias += SE3.ad(before) @ twist
            before += twist
        return bias

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return the constant basis, or an orthonormal one at q."""
        return complement(self.motion_subspace(q)) if self.wrenches is None else self.wrenches

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the configuration whose pose is nearest to T."""
        return (
            super().configuration_from_pose(T)
            if self.chart is None
            else self.chart.positions(self.screws, T)
        )

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return the volume of S, infinite where there is no measure."""
        if self.measure is None:
            return super().singularities(q)
        function, k = self.measure
        volume: FloatArray = np.abs(function(q[:, k]))
        return volume

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import header, screw_product

        return JointKernels(
            motion=screw_product.motion,
            constraint_wrenches=(
                screw_product.constraint_wrenches
                if self.wrenches is None
                else header.stored_wrenches
            ),
            configuration_from_pose=None if self.chart is None else self.chart.kernel,
        )

    def parameters(self) -> FloatArray:
        """Return the header and, of each X = (r e, a + r b), r, e, a and b."""
        rows = [_parts(X) for X in self.screws]
        return np.concatenate([header(self.num_velocities, self.wrenches), *rows])


def _parts(X: FloatArray) -> FloatArray:
    w, u = X[:3], X[3:]
    r = math.hypot(*w)
    if r < _NO_TURN:
        return np.concatenate([np.zeros(4), u, np.zeros(3)])
    e = w / r
    along = (e @ u) * e
    return np.concatenate([[r], e, along, (u - along) / r])
