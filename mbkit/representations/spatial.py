"""Spatial twists."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
from numpy.typing import ArrayLike

from mbkit.lie import SE3
from mbkit.lie.arrays import FloatArray
from mbkit.representations.arguments import joined, poses
from mbkit.representations.representation import Representation


@final
@attrs.frozen
class Spatial(Representation):
    """Angular velocity and velocity of the body point at the world's origin, both in the world.

    It is ``V = vee(dC/dt C^-1)`` for a body at pose C, the right-trivialised velocity of SE(3). It
    does not depend on where the body's frame is; bodies that are fixed together have the same
    twist, and twists of bodies are added without being transported. The linear part is not the
    velocity of any particular point of the body: it is dr/dt + r x w. Wrenches are the moment
    about the world's origin and the force, both in the world. Far from there digits are lost:
    a small inertia is the difference of large ones. Source: Mueller 2018, section 3.2.
    Pinocchio calls it WORLD, iDynTree inertial-fixed.

    Examples
    --------
    A body two metres along x that turns about the world's z axis does so about the world's origin;
    its spatial twist is a pure rotation:

    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> mb.Spatial().twist_map(C) @ [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    array([0., 0., 1., 0., 0., 0.])
    """

    name: ClassVar[str] = "spatial"
    kernel_package: ClassVar[str] = "mbkit.kernels.spatial"
    kernel_number: ClassVar[int | None] = 1

    def twist_map(self, C: ArrayLike) -> FloatArray:
        """Return Ad_C = [[R, 0], [r~ R, R]]; see `Representation`."""
        return SE3.Ad(poses(C, "Spatial.twist_map"))

    def twist_map_rate(self, C: ArrayLike, V_b: ArrayLike) -> FloatArray:
        """Return Ad_C ad_V; see `Representation`."""
        C, V_b = joined(C, V_b, "Spatial.twist_map_rate")
        rate: FloatArray = SE3.Ad(C) @ SE3.ad(V_b)
        return rate
