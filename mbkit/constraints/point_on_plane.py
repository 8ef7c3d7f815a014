"""A point of one body on a plane of another."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.constraints.fields import direction, point
from mbkit.constraints.pairs import BodyPairConstraint, unit
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class PointOnPlane(BodyPairConstraint):
    """A point of body b stays on a plane of body a, on which it slides without friction.

    One row: how far the point is above the plane. [m]

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body_a, body_b : str
        Names of the bodies; one may be the world.
    normal : ndarray, shape (3,), default the z axis
        Of the plane, of any length, in the frame of body a.
    point_a : ndarray, shape (3,), default the origin
        A point of the plane, in the frame of body a. [m]
    point_b : ndarray, shape (3,), default the origin
        The point, in the frame of body b. [m]

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If the normal is zero, or both bodies are the same.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("table")
    >>> top = mech.add_body(mb.Body("top", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> free = mech.add_joint(mb.FreeJoint("free"), mech.world, top)
    >>> tip = mb.PointOnPlane("tip", "world", "top", point_b=(0, 0, -0.2))
    >>> _ = mech.add_constraint(tip)
    >>> system = mech.assemble()
    >>> system.constraint_residual(system.reference_configuration())
    array([-0.2])
    """

    normal: FloatArray = direction((0.0, 0.0, 1.0))
    point_a: FloatArray = point()
    point_b: FloatArray = point()

    num_rows = 1

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import point_on

        return point_on.evaluate

    def parameters(self) -> FloatArray:
        """Return point_a, point_b, the unit normal."""
        return np.concatenate([self.point_a, self.point_b, unit(self.normal)])
