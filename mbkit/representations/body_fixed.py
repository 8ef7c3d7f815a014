"""Body-fixed twists."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.lie.arrays import FloatArray
from mbkit.representations.arguments import joined, poses
from mbkit.representations.representation import Representation


@final
@attrs.frozen
class BodyFixed(Representation):
    """Angular velocity and velocity of the body's origin, both resolved in the body.

    It is ``V = vee(C^-1 dC/dt)`` for a body at pose C, the left-trivialised velocity of SE(3). The
    inertia of a body is constant in it, which makes its recursions the cheapest. Wrenches are the
    moment about the body's origin and the force, both in the body. Source: Mueller 2018, section
    3.1. Pinocchio calls it LOCAL, iDynTree body-fixed.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.BodyFixed().name
    'body_fixed'
    """

    name: ClassVar[str] = "body_fixed"
    kernel_package: ClassVar[str] = "mbkit.kernels.body_fixed"
    kernel_number: ClassVar[int | None] = 0

    def twist_map(self, C: ArrayLike) -> FloatArray:
        """Return the identity; see `Representation`."""
        batch = poses(C, "BodyFixed.twist_map").shape[:-2]
        identity: FloatArray = np.broadcast_to(np.eye(6), (*batch, 6, 6)).copy()
        return identity

    def twist_map_rate(self, C: ArrayLike, V_b: ArrayLike) -> FloatArray:
        """Return zero; see `Representation`."""
        C, V_b = joined(C, V_b, "BodyFixed.twist_map_rate")
        return np.zeros((*np.broadcast_shapes(C.shape[:-2], V_b.shape[:-1]), 6, 6))
