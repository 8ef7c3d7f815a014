"""A ratio between the velocities of two joints."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.constraints.fields import number
from mbkit.constraints.pairs import JointPairConstraint
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class GearRatio(JointPairConstraint):
    """A ratio between two joints: gears, a belt, a rack and a pinion, a lead screw.

    q_driven = ratio q_driver + offset. With both joints on the same carrier and along parallel
    axes, the ratio of a pair of gears is -z_driver / z_driven with their numbers of teeth, and
    +z_driver / z_driven if one has its teeth inside; of a belt r_driver / r_driven; of a rack that
    a pinion drives the pinion's radius. The driven joint gets the effort m, the driver -ratio m,
    with m the multiplier, times the length of the system where the driven joint turns. Bearings do
    not feel the force between the teeth.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    driver, driven : str
        Names of the joints, of one position each: revolute, prismatic, helical.
    ratio : float
        Velocity of the driven joint by that of the driver. [1], [m/rad], [rad/m]
    offset : float, default 0
        Position of the driven joint where that of the driver is zero. [rad], [m]

    Raises
    ------
    ConstraintError, GeometryError
        If both joints are the same, or the ratio is no number.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("gears", gravity=(0, 0, 0))
    >>> wheel = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([1, 1, 2]) * 1e-3)
    >>> for name in ("pinion", "gear"):
    ...     _ = mech.add_body(mb.Body(name, wheel))
    ...     _ = mech.add_joint(mb.RevoluteJoint(f"{name} axle"), mech.world, name)
    >>> mesh = mb.GearRatio("mesh", "pinion axle", "gear axle", ratio=-0.5)
    >>> _ = mech.add_constraint(mesh)
    >>> mech.assemble().forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.01, 0.0])
    array([ 4., -2.])
    """

    ratio: float = number()
    offset: float = number(0.0)

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import coupling

        return coupling.gear

    def parameters(self) -> FloatArray:
        """Return ratio, offset."""
        return np.array([self.ratio, self.offset])
