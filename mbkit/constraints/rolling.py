"""Balls and discs that roll on a plane without slip."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.constraints.fields import direction, number, point
from mbkit.constraints.pairs import BodyPairConstraint, axes_of, unit
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray


@attrs.frozen
class _Rolling(BodyPairConstraint):
    """One row of position level, three of velocity level: that the contact does not move."""

    radius: float = number(above=0.0)
    normal: FloatArray = direction((0.0, 0.0, 1.0))
    point_a: FloatArray = point()
    center: FloatArray = point()

    num_rows = 3

    @property
    def num_position_rows(self) -> int:
        """How far above the plane."""
        return 1

    def parameters(self) -> FloatArray:
        """Return radius, point_a, unit normal and two directions of the plane, centre."""
        return self.parameters_beside(self)

    def parameters_beside(self, other: _Rolling) -> FloatArray:
        """Return them with directions chosen as those of one beside it."""
        frame = axes_of(self.normal, other.normal).ravel()
        return np.concatenate([[self.radius], self.point_a, frame, self.center])


@final
@attrs.frozen
class RollingSphere(_Rolling):
    """A ball, part of body b, rolls on a plane of body a without slip.

    The ball may spin about the normal. Rows: the height above the plane, which is also one of
    position level, and the slip along two directions of the plane. Its multipliers are the normal
    force, positive where the plane pushes, and friction. [N]

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body_a, body_b : str
        Names of the bodies, the ground first, which may be the world.
    radius : float
        Of the ball. [m]
    normal : ndarray, shape (3,), default the z axis
        Of the plane, of any length, towards the ball, in the frame of body a.
    point_a : ndarray, shape (3,), default the origin
        A point of the plane, in the frame of body a. [m]
    center : ndarray, shape (3,), default the origin
        Of the ball, in the frame of body b. [m]

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If the radius is not above zero, the normal is zero, or both bodies are the same.

    Examples
    --------
    Down an incline: 5/7 of the acceleration without friction.

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("incline", gravity=(7.0, 0, -7.0))
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> _ = mech.add_joint(mb.FreeJoint("free"), mech.world, ball)
    >>> ground = mb.RollingSphere("ground", "world", "ball", radius=0.1, point_a=(0, 0, -0.1))
    >>> _ = mech.add_constraint(ground)
    >>> system = mech.assemble()
    >>> vdot = system.forward_dynamics(system.reference_configuration(), [0.0] * 6)
    >>> vdot.round(9) + 0.0
    array([ 0., 50.,  0.,  5.,  0.,  0.])
    """

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import rolling

        return rolling.sphere


@final
@attrs.frozen
class RollingDisc(_Rolling):
    """A thin disc or wheel, part of body b, rolls on a plane of body a without slip.

    It touches the plane with the lowest point of its rim, and may lean and turn. It cannot lie
    flat: then it would touch everywhere. Rows and multipliers are those of `RollingSphere`.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body_a, body_b : str
        Names of the bodies, the ground first, which may be the world.
    radius : float
        Of the disc. [m]
    normal : ndarray, shape (3,), default the z axis
        Of the plane, of any length, towards the disc, in the frame of body a.
    point_a : ndarray, shape (3,), default the origin
        A point of the plane, in the frame of body a. [m]
    center : ndarray, shape (3,), default the origin
        Of the disc, in the frame of body b. [m]
    axis : ndarray, shape (3,), default the y axis
        Of the disc, of any length, in the frame of body b.

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If the radius is not above zero, a direction is zero, or both bodies are the same.

    Examples
    --------
    >>> import mbkit as mb
    >>> wheel = mb.RollingDisc("wheel", "world", "rear wheel", radius=0.35, axis=(0, 1, 0))
    >>> wheel.num_rows, wheel.num_position_rows
    (3, 1)
    """

    axis: FloatArray = direction((0.0, 1.0, 0.0))

    without_value = "The disc lies flat on the plane."

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import rolling

        return rolling.disc

    def parameters_beside(self, other: _Rolling) -> FloatArray:
        """Return radius, point_a, unit normal and two directions, centre, unit axis."""
        return np.concatenate([_Rolling.parameters_beside(self, other), unit(self.axis)])
