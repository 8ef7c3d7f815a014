"""Stops at both ends of a joint's range."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import ForceError
from mbkit.forces.bases.fields import number
from mbkit.forces.bases.joint_force import PositionForce
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class LimitStop(PositionForce):
    """Elastic stops with damping at both ends of a joint's range.

    At a depth x beyond the upper stop, growing at the rate u, tau = -k x max(0, 1 + a u), and
    likewise at the lower one: a spring, with the potential k x^2 / 2, and a damper that begins at
    zero with the contact, so that the force is continuous, and never pulls. In a joint with several
    positions each has such stops.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    joint : str
        Name of the joint; it must have as many positions as velocities.
    lower, upper : float
        Where the stops begin, lower below upper. [rad], [m]
    stiffness : float
        k, not negative. [N m/rad], [N/m]
    damping : float, default 0
        a, not negative. For small a u0, with u0 the velocity of impact, the coefficient of
        restitution is about 1 - 2 a u0 / 3. [s/rad], [s/m]

    Raises
    ------
    ForceError, GeometryError
        If a number is out of its range.

    Notes
    -----
    Source: Hunt, Crossley, "Coefficient of restitution interpreted as damping in vibroimpact",
    J. Appl. Mech. 42 (1975) 440-445, with the exponent 1.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider")
    >>> body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    >>> stops = mech.add_force(
    ...     mb.LimitStop("stops", "slide", lower=-1.0, upper=1.0, stiffness=1000.0, damping=0.5)
    ... )
    >>> mech.assemble().generalized_forces([[0.5], [1.125]], [[0.0], [0.4]]).ravel()
    array([   0., -150.])
    """

    lower: float = number()
    upper: float = number()
    stiffness: float = number(least=0.0)
    damping: float = number(0.0, least=0.0)

    def __attrs_post_init__(self) -> None:
        if self.lower > self.upper:
            raise ForceError(
                f"Force {self.name!r}: lower must not be above upper, got {self.lower!r} and "
                f"{self.upper!r}."
            ).about("lower")

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import limit_stop

        return ForceKernels(limit_stop.evaluate, limit_stop.potential, reads_time=False)

    def parameters(self) -> FloatArray:
        """Return lower, upper, stiffness, damping."""
        return np.array([self.lower, self.upper, self.stiffness, self.damping])
