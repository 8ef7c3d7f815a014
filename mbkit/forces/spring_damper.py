"""A spring and a damper between points of two bodies."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.forces.bases.body_force import PairForce
from mbkit.forces.bases.fields import number, point
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class SpringDamper(PairForce):
    """A spring with a damper between points of two bodies.

    It pulls the points together by k (l - l0) + d ldot, with l their distance; its potential is
    k (l - l0)^2 / 2, and it dissipates d ldot^2. Where the points meet it has no direction, and no
    force.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    body_a, body_b : str
        Names of the bodies; one may be the world.
    stiffness : float
        k. [N/m]
    rest_length : float, default 0
        l0, not negative. [m]
    damping : float, default 0
        d, not negative. [N s/m]
    point_a, point_b : ndarray, shape (3,), default the origin
        The points, each in the frame of its body. [m]

    Raises
    ------
    ForceError, ShapeError, GeometryError
        If a number is out of its range, or both bodies are the same.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider")
    >>> body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    >>> spring = mech.add_force(
    ...     mb.SpringDamper("spring", "world", "body", stiffness=100.0, point_a=(0.3, 0, 0))
    ... )
    >>> mech.assemble().generalized_forces([0.4], [0.0])
    array([-40.])
    """

    stiffness: float = number()
    rest_length: float = number(0.0, least=0.0)
    damping: float = number(0.0, least=0.0)
    point_a: FloatArray = point()
    point_b: FloatArray = point()

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import spring_damper

        return ForceKernels(
            spring_damper.evaluate, spring_damper.potential, spring=True, reads_time=False
        )

    def parameters(self) -> FloatArray:
        """Return stiffness, rest length, damping, point_a, point_b."""
        numbers = [self.stiffness, self.rest_length, self.damping]
        return np.concatenate([numbers, self.point_a, self.point_b])
