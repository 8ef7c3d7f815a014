"""Dry friction in a joint, smooth."""

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
class DryFriction(JointForce):
    """Dry friction in a joint, without its jump: tau = -f tanh(v / w); it dissipates -tau v.

    It never sticks: under a load below f the joint creeps, slower than w. A step of the integrator
    much longer than inertia times w / f sees the jump all the same.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    joint : str
        Name of the joint.
    friction : float
        f, not negative; reached to three quarters at the velocity w. [N m], [N]
    smoothing : float, default 1e-3
        w, positive. [rad/s], [m/s]

    Raises
    ------
    ForceError, GeometryError
        If a number is out of its range.

    Notes
    -----
    Source: Andersson, Soderberg, Bjorklund, "Friction models for sliding dry, boundary and mixed
    lubricated contacts", Tribology International 40 (2007), section 3.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("wheel")
    >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    >>> brake = mech.add_force(mb.DryFriction("brake", "axle", friction=2.0))
    >>> mech.assemble().generalized_forces([0.0], [1.0])
    array([-2.])
    """

    friction: float = number(least=0.0)
    smoothing: float = number(1e-3, above=0.0)

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import dry_friction

        return ForceKernels(dry_friction.evaluate, reads_time=False)

    def parameters(self) -> FloatArray:
        """Return friction, smoothing."""
        return np.array([self.friction, self.smoothing])
