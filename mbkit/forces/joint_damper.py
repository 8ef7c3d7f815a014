"""Viscous friction in a joint."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.forces.bases.fields import number
from mbkit.forces.bases.joint_force import JointForce
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class JointDamper(JointForce):
    """Linear damping in a joint: tau = -d v, which dissipates d v^2.

    In a joint with several velocities each is damped so.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    joint : str
        Name of the joint.
    damping : float
        d, not negative. [N m s/rad], [N s/m]

    Raises
    ------
    ForceError, GeometryError
        If the damping is negative or not finite.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("wheel")
    >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    >>> damper = mech.add_force(mb.JointDamper("damper", "axle", damping=0.5))
    >>> system = mech.assemble()
    >>> system.generalized_forces([0.0], [4.0])
    array([-2.])
    >>> dissipated, supplied = system.force_powers([0.0], [4.0])[0]
    >>> float(dissipated)
    8.0
    """

    damping: float = number(least=0.0)

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import joint_damper

        return ForceKernels(
            joint_damper.evaluate, linear=(0.0, 0.0, self.damping), reads_time=False
        )

    def parameters(self) -> FloatArray:
        """Return the damping."""
        return np.array([self.damping])
