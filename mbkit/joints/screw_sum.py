"""Coordinates of the first kind: one exponential of a sum of constant screws."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from mbkit.joints.charts import Chart
from mbkit.joints.complement import complement
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motion import Motion, header
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray

__all__ = ["ScrewSum"]


@final
@attrs.frozen(eq=False)
class ScrewSum(Motion):
    """T = exp(X), X = X_1 q_1 + ... + X_n q_n; v is dq/dt.

    S_k = dexp_-X X_k, and S-dot v = (d/dt dexp_-X) Xdot. Singular where X turns by 2 pi.

    Attributes
    ----------
    screws : ndarray, shape (n, 6)
        X_k, angular first.
    position_units : tuple of str
        A unit for each position.
    wrenches : ndarray, shape (6, 6 - n), optional
        A basis of the wrenches that do no work along S, where it is constant.
    power : int
        The volume of S is abs(2 sin(x/2) / x) to this power, for a turn by x: it has one factor for
        each eigenvalue of dexp that is not one.
    chart : Chart, optional
        A closed form of `configuration_from_pose`.

    Notes
    -----
    Sources: Mueller 2018 (Screw and Lie group theory in multibody kinematics), remark 4; Mueller
    2021 (Review of the exponential and Cayley map on SE(3)), for the differential.
    """

    screws: FloatArray
    position_units: tuple[str, ...]
    wrenches: FloatArray | None = None
    power: int = 1
    chart: Chart | None = None

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """The number of screws."""
        return len(self.screws)

    @property
    def num_velocities(self) -> int:  # type: ignore[override]
        """The number of screws."""
        return len(self.screws)

    def pose(self, q: FloatArray) -> FloatArray:
        """Return exp(X)."""
        return SE3.exp(q @ self.screws)

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return dexp_-X applied to the screws."""
        S: FloatArray = SE3.dexp_body(q @ self.screws) @ self.screws.T
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate of dexp_-X = sum of (-ad_X)^k / (k + 1)!, term by term, times Xdot.

        With Y_k = (-ad_X)^k Xdot the rate of Y_k is -ad_Xdot Y_k-1 - ad_X (the rate of Y_k-1).
        """
        X, X_dot = q @ self.screws, v @ self.screws
        if not np.isfinite(X).all():
            return np.full(6, np.nan)
        ad, ad_dot = SE3.ad(X), SE3.ad(X_dot)
        Y, rate, bias = X_dot, np.zeros(6), np.zeros(6)
        factor, bound = 1.0, 1.0
        for k in range(1, 400):
            rate = -(ad_dot @ Y + ad @ rate)
            Y = -(ad @ Y)
            factor /= k + 1
            bias = bias + factor * rate
            bound *= math.hypot(*X[:3]) / (k + 1)
            if bound * k < 1e-18:
                break
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
        """Return the volume of S."""
        turns = np.linalg.norm(q @ self.screws[:, :3], axis=1)
        volume: FloatArray = np.abs(np.sinc(turns / (2.0 * np.pi))) ** self.power
        return volume

    def kernels(self) -> JointKernels:
        """Return the compiled forms; wrenches that are not constant are another's to give."""
        from mbkit.kernels.joints import header, screw_sum

        stored = None if self.wrenches is None else header.stored_wrenches
        return JointKernels(
            motion=screw_sum.motion,
            constraint_wrenches=stored,
            configuration_from_pose=None if self.chart is None else self.chart.kernel,
        )

    def parameters(self) -> FloatArray:
        """Return the header and the screws."""
        start = header(self.num_velocities, self.wrenches)
        return np.concatenate([start, self.screws.ravel()])
