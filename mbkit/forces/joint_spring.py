"""A spring in a joint."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.forces.bases.fields import number
from mbkit.forces.bases.joint_force import PositionForce
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class JointSpring(PositionForce):
    """A linear spring in a joint: tau = -k (q - q0), with the potential k (q - q0)^2 / 2.

    In a joint with several positions each has such a spring.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    joint : str
        Name of the joint; it must have as many positions as velocities.
    stiffness : float
        k. [N m/rad], [N/m]
    rest : float, default 0
        q0, where there is no force. [rad], [m]

    Raises
    ------
    ForceError, GeometryError
        If a number is none, or is not finite.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
    >>> mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
    >>> spring = mech.add_force(mb.JointSpring("spring", "slide", stiffness=100.0, rest=0.1))
    >>> mech.assemble().generalized_forces([0.3], [0.0])
    array([-20.])
    """

    stiffness: float = number()
    rest: float = number(0.0)

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import joint_spring

        return ForceKernels(
            joint_spring.evaluate,
            joint_spring.potential,
            linear=(self.stiffness, self.rest, 0.0),
            reads_time=False,
        )

    def parameters(self) -> FloatArray:
        """Return stiffness, rest."""
        return np.array([self.stiffness, self.rest])
