"""Mixed twists."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.lie.arrays import FloatArray, hat
from mbkit.representations.arguments import blocks, joined, poses
from mbkit.representations.representation import Representation


@final
@attrs.frozen
class Mixed(Representation):
    """Angular velocity resolved in the body, velocity of the body's origin in the world.

    The twist is ``V = (R^T w, dr/dt)``, the velocity of the direct product SO(3) x R^3: rigid body
    equations are commonly written so, Euler's for the rotation in the body and Newton's for the
    translation in the world. Wrenches are the moment about the body's origin, in the body, and the
    force in the world. Source: Mueller 2018, section 3.4. Pinocchio, iDynTree and Drake have no
    name for it (what iDynTree calls mixed is `Hybrid`); the velocity of MuJoCo's free joint is
    made of the same parts.

    Examples
    --------
    A body that is turned by a right angle about z, turns about its x axis and slides along it:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> C = mb.spatial.rotation((0, 0, 1), np.pi / 2)
    >>> (mb.Mixed().twist_map(C) @ [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]).round(12)
    array([1., 0., 0., 0., 1., 0.])
    """

    name: ClassVar[str] = "mixed"
    kernel_package: ClassVar[str] = "mbkit.kernels.mixed"
    kernel_number: ClassVar[int | None] = 3

    def twist_map(self, C: ArrayLike) -> FloatArray:
        """Return diag(I, R); see `Representation`."""
        R = poses(C, "Mixed.twist_map")[..., :3, :3]
        return blocks(np.eye(3), R)

    def twist_map_rate(self, C: ArrayLike, V_b: ArrayLike) -> FloatArray:
        """Return diag(0, R w~); see `Representation`."""
        C, V_b = joined(C, V_b, "Mixed.twist_map_rate")
        return blocks(np.zeros((3, 3)), C[..., :3, :3] @ hat(V_b[..., :3]))
