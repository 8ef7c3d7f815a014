"""Resistance of a medium to a body: at one of its points, and to its rotation."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.forces.bases.body_force import BodyForce
from mbkit.forces.bases.fields import number, point, vector
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import ORIGIN, FloatArray


@final
@attrs.frozen
class Drag(BodyForce):
    """Resistance of a medium: the force -(c1 + c2 |u|) u at a point, the moment -(a1 + a2 |w|) w.

    u is the velocity of the point relative to the medium, v - wind, and w the angular velocity of
    the body. Dissipated are (c1 + c2 |u|) u.u + (a1 + a2 |w|) w.w, and the wind supplies F.wind:
    its power on a body at rest. The coefficients are the same in all directions.

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
        Where the force acts, in the frame of the body. [m]
    wind : ndarray, shape (3,), default zero
        Velocity of the medium, in the world. [m/s]
    angular : float, default 0
        a1, not negative; 8 pi eta r^3 for a sphere in slow flow. [N m s/rad]
    angular_quadratic : float, default 0
        a2, not negative. [N m s^2/rad^2]

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
    >>> breeze = mb.Drag("breeze", "body", linear=0.5, wind=(0, 0, 2.0))
    >>> mech.assemble().with_forces([breeze]).generalized_forces([0.0], [0.0])
    array([1.])
    """

    linear: float = number(0.0, least=0.0)
    quadratic: float = number(0.0, least=0.0)
    point: FloatArray = point()
    wind: FloatArray = vector(3, ORIGIN)
    angular: float = number(0.0, least=0.0)
    angular_quadratic: float = number(0.0, least=0.0)

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import drag

        return ForceKernels(drag.evaluate, reads_time=False)

    def parameters(self) -> FloatArray:
        """Return linear, quadratic, point, wind, angular, angular_quadratic."""
        at_point = [[self.linear, self.quadratic], self.point, self.wind]
        return np.concatenate([*at_point, [self.angular, self.angular_quadratic]])
