"""Coordinates of the first kind: one exponential of a sum of constant screws."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import chart_form, header, wrenches_form
from mbkit.joints.motions.screw_coordinates import ScrewCoordinates
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen(eq=False)
class ScrewSum(ScrewCoordinates):
    """T = exp(X), X = X_1 q_1 + ... + X_n q_n; v is dq/dt.

    S_k = dexp_-X X_k, and S-dot v = (d/dt dexp_-X) Xdot. Singular where X turns by 2 pi.

    Notes
    -----
    Sources: Mueller 2018 (Screw and Lie group theory in multibody kinematics), remark 4; Mueller
    2021 (Review of the exponential and Cayley map on SE(3)), for the differential.
    """

    # (6, 6 - n): a basis of the wrenches that do no work along S, where it is constant; or the name
    # of the function of `mbkit.kernels.joints.crossed_axes` that gives one
    wrenches: FloatArray | str
    # the volume of S is abs(2 sin(x/2) / x) to this power, for a turn by x: it has one factor for
    # each eigenvalue of dexp that is not one
    power: int = 1
    # the function of `mbkit.kernels.joints.charts` that is `configuration_from_pose` in closed form
    chart: str | None = None

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return the volume of S."""
        turns = np.linalg.norm(q @ self.screws[:, :3], axis=1)
        volume: FloatArray = np.abs(np.sinc(turns / (2.0 * np.pi))) ** self.power
        return volume

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import screw_sum

        return JointKernels(
            motion=screw_sum.motion,
            constraint_wrenches=wrenches_form(self.wrenches),
            configuration_from_pose=chart_form(self.chart),
        )

    def parameters(self) -> FloatArray:
        """Return the header and the screws."""
        start = header(self.num_velocities, self.wrenches)
        return np.concatenate([start, self.screws.ravel()])
