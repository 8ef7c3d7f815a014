"""A fixed distance between points of two bodies."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.constraints.fields import number, point
from mbkit.constraints.pairs import BodyPairConstraint
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class Distance(BodyPairConstraint):
    """A fixed distance between points of two bodies: a massless rod with ball joints at its ends.

    g = (d.d - l^2) / (2 l), with d from one point to the other: next to zero it is how much too far
    they are apart, and it is smooth everywhere. Its multiplier is the force of the rod on body b
    away from a: positive where it pushes. [N]

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body_a, body_b : str
        Names of the bodies; one may be the world.
    length : float
        l, above zero; points that coincide are a `SphericalJoint`. [m]
    point_a, point_b : ndarray, shape (3,), default the origin
        The points, each in the frame of its body. [m]

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If the length is not above zero, or both bodies are the same.

    Examples
    --------
    A pendulum on a rod:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.05)))
    >>> planar = mech.add_joint(mb.TranslationalJoint("anywhere"), mech.world, ball)
    >>> rod = mech.add_constraint(mb.Distance("rod", "world", "ball", length=0.5))
    >>> system = mech.assemble()
    >>> vdot, force = system.solve_dynamics([0.0, 0.0, -0.5], [1.0, 0.0, 0.0])
    >>> vdot, force
    (array([0., 0., 2.]), array([-11.81]))
    """

    length: float = number(above=0.0)
    point_a: FloatArray = point()
    point_b: FloatArray = point()

    num_rows = 1

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import distance

        return distance.evaluate

    def parameters(self) -> FloatArray:
        """Return length, point_a, point_b."""
        return np.concatenate([[self.length], self.point_a, self.point_b])
