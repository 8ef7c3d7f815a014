"""A uniform field of acceleration, such as gravity."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from mbkit.forces.fields import vector
from mbkit.forces.force import Force
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray

__all__ = ["UniformField"]


@final
@attrs.frozen
class UniformField(Force):
    """A force m g on every body, in its centre of mass, with the potential -sum m g.c.

    The gravity of a mechanism costs less, since recursions have it for nothing; give it there, and
    not here as well. A field is of use where gravity is to be added, or switched, for one run.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    acceleration : ndarray, shape (3,)
        g, in the world. [m/s^2]

    Raises
    ------
    ShapeError, GeometryError
        If the acceleration is not a finite vector of three.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    >>> body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    >>> moon = mech.add_force(mb.UniformField("moon", acceleration=(0, 0, -1.625)))
    >>> mech.assemble().generalized_forces([0.0], [0.0])
    array([-3.25])
    """

    acts_on: ClassVar[str] = "bodies"

    name: str
    acceleration: FloatArray = vector(3)

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces import uniform_field

        return ForceKernels(uniform_field.evaluate, uniform_field.potential)

    def parameters(self) -> FloatArray:
        """Return the acceleration."""
        return np.array(self.acceleration)
