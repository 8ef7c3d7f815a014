"""Six springs and dampers between frames of two bodies."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.forces.bases.body_force import PairForce
from mbkit.forces.bases.fields import pose, vector
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class Bushing(PairForce):
    """An elastic bearing between frames of two bodies, with six stiffnesses and dampings.

    With d the position of frame b in frame a, x the rotation vector of its orientation there, and w
    its angular velocity relative to a, all in the axes of a: the force on b is -K_t d - C_t ddot,
    at the origin of its frame, and the moment -dexp_{-x}^-1 K_r x - C_r w. On a acts the opposite,
    at the same point. Potential x.K_r x / 2 + d.K_t d / 2; dissipated are w.C_r w + ddot.C_t ddot.
    Neither force nor potential has a meaning beyond half a turn, where the rotation vector jumps.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    body_a, body_b : str
        Names of the bodies; one may be the world.
    stiffness : ndarray, shape (6,)
        Diagonals of K_r and K_t, in the axes of frame a. [N m/rad], [N/m]
    damping : ndarray, shape (6,), default zero
        Diagonals of C_r and C_t, not negative. [N m s/rad], [N s/m]
    frame_a, frame_b : ndarray, shape (4, 4), default the identity
        Poses of the frames, each in the frame of its body. [m]

    Raises
    ------
    ForceError, ShapeError, GeometryError
        If a number is out of its range, or a pose is none, or both bodies are the same.

    Notes
    -----
    The moment is minus the gradient of x.K_r x / 2, since xdot = dexp_x^-1 w. Source of dexp:
    Mueller 2018 ("Screw and Lie group theory in multibody kinematics", Multibody Syst. Dyn. 43),
    (38), (39).

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("mount")
    >>> body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> free = mech.add_joint(mb.FreeJoint("free"), mech.world, body)
    >>> mount = mech.add_force(
    ...     mb.Bushing("mount", "world", "body", stiffness=[10, 10, 20, 100, 100, 400])
    ... )
    >>> system = mech.assemble()
    >>> q = system.reference_configuration()
    >>> q[-1] = 0.25
    >>> system.generalized_forces(q, [0, 0, 0, 0, 0, 0])[-1]
    np.float64(-100.0)
    """

    stiffness: FloatArray = vector(6)
    damping: FloatArray = vector(6, (0.0,) * 6, least=0.0)
    frame_a: FloatArray = pose()
    frame_b: FloatArray = pose()

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import bushing

        return ForceKernels(bushing.evaluate, bushing.potential, reads_time=False)

    def parameters(self) -> FloatArray:
        """Return stiffness, damping, and rotation and position of both frames."""
        frames = [
            part for C in (self.frame_a, self.frame_b) for part in (C[:3, :3].reshape(-1), C[:3, 3])
        ]
        return np.concatenate([self.stiffness, self.damping, *frames])
