"""A uniform field of acceleration, such as gravity."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from mbkit.forces.bases.fields import names_or_all, vector
from mbkit.forces.force import Force
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class UniformField(Force):
    """A force m g on bodies, each in its centre of mass, with the potential -sum m g.c.

    On all bodies it is gravity, and adds to the mechanism's own: give it there, and not here as
    well. It is of use where gravity is added for one run, and, on chosen bodies, for buoyancy or a
    gravity compensation.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    acceleration : ndarray, shape (3,)
        g, in the world. [m/s^2]
    bodies : tuple of str, optional
        Names of the bodies; all if left out or None, which the attribute has as `EVERY_BODY`. An
        empty list is refused: a selection that found nothing would act on everything.

    Raises
    ------
    ForceError, ShapeError, GeometryError
        If the acceleration is not a finite vector of three, a body is named twice, or the
        list is empty.

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
    bodies: tuple[str, ...] = names_or_all()

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import uniform_field

        if self.bodies:
            return ForceKernels(uniform_field.evaluate, uniform_field.potential, reads_time=False)
        return ForceKernels(
            uniform_field.evaluate_everywhere,
            uniform_field.potential_everywhere,
            field=tuple(self.acceleration.tolist()),
            reads_time=False,
        )

    def parameters(self) -> FloatArray:
        """Return the acceleration."""
        return np.array(self.acceleration)
