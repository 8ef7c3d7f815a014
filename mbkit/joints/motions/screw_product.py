"""Coordinates of the second kind: a product of exponentials of constant screws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import chart_form, header, wrenches_form
from mbkit.joints.motions.screw_coordinates import ScrewCoordinates
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray

#: A screw that turns by less for a unit of q does not turn at all. [rad]
_NO_TURN = 1e-150


@final
@attrs.frozen(eq=False)
class ScrewProduct(ScrewCoordinates):
    """T = exp(X_1 q_1) ... exp(X_n q_n); v is dq/dt.

    Column a of S is X_a as seen from behind all later factors, S_a = Ad^-1 X_a of their product,
    and S-dot_a = sum over b > a of [S_a, S_b] v_b.

    Notes
    -----
    Sources: Mueller 2018 (Screw and Lie group theory in multibody kinematics), remark 4.
    """

    # (6, 6 - n): a basis of the wrenches that do no work along S, where it is constant; or the name
    # of the function of `mbkit.kernels.joints.crossed_axes` that gives one. Else an orthonormal
    # one.
    wrenches: FloatArray | str | None = None
    # where S may lose rank: its volume is abs(function(q[k])), function numpy's sine or cosine
    measure: tuple[Callable[[Any], Any], int] | None = None
    # the function of `mbkit.kernels.joints.charts` that is `configuration_from_pose` in closed form
    chart: str | None = None

    @property
    def constant_subspace(self) -> bool:  # type: ignore[override]
        """Whether all screws commute, so that each looks the same from behind the others."""
        pairs = itertools.combinations(self.screws, 2)
        return not any((SE3.ad(X) @ Y).any() for X, Y in pairs)

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return the volume of S, infinite where there is no measure."""
        if self.measure is None:
            return super().singularities(q)
        function, k = self.measure
        volume: FloatArray = np.abs(function(q[:, k]))
        return volume

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import screw_product

        wrenches = wrenches_form(self.wrenches) or screw_product.constraint_wrenches
        return JointKernels(
            motion=screw_product.motion,
            constraint_wrenches=wrenches,
            configuration_from_pose=chart_form(self.chart),
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
