"""A point of one body on a line of another."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.constraints.fields import direction, point
from mbkit.constraints.pairs import BodyPairConstraint, axes_of
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class PointOnLine(BodyPairConstraint):
    """A point of body b stays on a line of body a: a pin in a straight slot.

    Two rows: how far the point is off along two directions across the line. [m]

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body_a, body_b : str
        Names of the bodies; one may be the world.
    axis : ndarray, shape (3,)
        Along the line, of any length, in the frame of body a.
    point_a : ndarray, shape (3,), default the origin
        A point of the line, in the frame of body a. [m]
    point_b : ndarray, shape (3,), default the origin
        The point, in the frame of body b. [m]

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If the axis is zero, or both bodies are the same.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("wire")
    >>> bead = mech.add_body(mb.Body("bead", mb.SpatialInertia.sphere(1.0, radius=0.01)))
    >>> free = mech.add_joint(mb.TranslationalJoint("anywhere"), mech.world, bead)
    >>> wire = mech.add_constraint(mb.PointOnLine("wire", "world", "bead", axis=(1, 0, 0)))
    >>> mech.assemble().forward_dynamics([3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    array([2., 0., 0.])
    """

    axis: FloatArray = direction()
    point_a: FloatArray = point()
    point_b: FloatArray = point()

    num_rows = 2

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import point_on

        return point_on.evaluate

    def parameters(self) -> FloatArray:
        """Return point_a, point_b, two directions across the line."""
        return self.parameters_beside(self)

    def parameters_beside(self, other: PointOnLine) -> FloatArray:
        """Return them with directions chosen as those of one beside it."""
        across = axes_of(self.axis, other.axis)[1:]
        return np.concatenate([self.point_a, self.point_b, across.ravel()])
