"""Resistance of a medium at a point of a body."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.forces.body_force import BodyForce
from mbkit.forces.fields import number, point
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray

__all__ = ["Drag"]


@final
@attrs.frozen
class Drag(BodyForce):
    """Resistance of a medium at rest: the force -(c1 + c2 |u|) u, with u the velocity of a point.

    It dissipates (c1 + c2 |u|) u.u. The coefficients are the same in all directions.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    body : str
        Name of the body.
    linear : float, default 0
        c1, not negative; 6 pi eta r for a sphere in slow flow (Stokes). [N s/m]
    quadratic : float, default 0
        c2, not negative; rho c_d A / 2 in fast flow. [N s^2/m^2]
    point : ndarray, shape (3,), default the origin
        Where it acts, in the frame of the body. [m]

    Raises
    ------
    ForceError, ShapeError, GeometryError
        If a number is out of its range.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider")
    >>> body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    >>> air = mech.add_force(mb.Drag("air", "body", linear=0.5, quadratic=0.25))
    >>> mech.assemble().generalized_forces([0.0], [2.0])
    array([-2.])
    """

    linear: float = number(0.0, least=0.0)
    quadratic: float = number(0.0, least=0.0)
    point: FloatArray = point()

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces import drag

        return ForceKernels(drag.evaluate)

    def parameters(self) -> FloatArray:
        """Return linear, quadratic, point."""
        return np.concatenate([[self.linear, self.quadratic], self.point])
