"""Hybrid twists."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
from numpy.typing import ArrayLike

from mbkit.lie.arrays import FloatArray, hat
from mbkit.representations.arguments import blocks, joined, poses
from mbkit.representations.representation import Representation


@final
@attrs.frozen
class Hybrid(Representation):
    """Angular velocity and velocity of the body's origin, both resolved in the world.

    The twist is ``V = (w, dr/dt)`` with r the position of the body's origin, as it is usual
    for sensors and tasks. It depends on where that origin is. Its rate is the angular acceleration
    and the acceleration of the origin, (dw/dt, d2r/dt2). Wrenches are the moment about the body's
    origin and the force, both in the world. Source: Mueller 2018, section 3.3. Pinocchio calls it
    LOCAL_WORLD_ALIGNED; iDynTree, jaxsim and adam call it *mixed*, Drake the spatial velocity.

    Examples
    --------
    A body that is turned by a right angle about z and slides along its own x axis:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> C = mb.spatial.rotation((0, 0, 1), np.pi / 2)
    >>> (mb.Hybrid().twist_map(C) @ [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).round(12)
    array([0., 0., 0., 0., 1., 0.])
    """

    name: ClassVar[str] = "hybrid"
    kernel_package: ClassVar[str] = "mbkit.kernels.hybrid"
    kernel_number: ClassVar[int | None] = 2

    def twist_map(self, C: ArrayLike) -> FloatArray:
        """Return diag(R, R); see `Representation`."""
        R = poses(C, "Hybrid.twist_map")[..., :3, :3]
        return blocks(R, R)

    def twist_map_rate(self, C: ArrayLike, V_b: ArrayLike) -> FloatArray:
        """Return diag(R w~, R w~); see `Representation`."""
        C, V_b = joined(C, V_b, "Hybrid.twist_map_rate")
        R_rate = C[..., :3, :3] @ hat(V_b[..., :3])
        return blocks(R_rate, R_rate)
