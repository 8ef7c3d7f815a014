"""One way in which a program writes the twists, wrenches and accelerations of bodies."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError, check_choice
from mbkit.lie.arrays import FloatArray, checked
from mbkit.representations import Representation
from mbkit.representations.arguments import check_broadcast, rigid_poses, times

#: Kinds of accelerations: T A_b, with T the twist map, ...
SPATIAL = "spatial"
#: ... and T A_b + (0; w x v), which is the acceleration of the point whose velocity is v.
CLASSICAL = "classical"


@final
@attrs.frozen
class Form:
    """A named form of twists in a program.

    Attributes
    ----------
    representation : Representation
        The name in mbkit.
    linear_first : bool
        Whether linear parts and forces stand before angular parts and moments.
    kinds : tuple of str
        Kinds of accelerations that the program gives in this form, the usual one first:
        "spatial", T(C) A_b with the body-fixed A_b, or "classical", the same with w x v added to
        the linear part; empty for forms of wrenches alone. The rate of the twist is of the spatial
        kind in the body-fixed and the spatial representation, and classical in the hybrid one.
    holds_gravity : bool
        Whether accelerations have that of gravity subtracted.
    about : str
        Empty, or the name of the point that takes the place of the world's origin, where the
        program refers to another.
    """

    representation: Representation
    linear_first: bool
    kinds: tuple[str, ...]
    holds_gravity: bool = False
    about: str = ""

    def pose(self, C: ArrayLike, centre: ArrayLike | None, who: str) -> FloatArray:
        """Return the pose of the body frame, as seen from the form's point of reference."""
        C = rigid_poses(C, f"{who}: C")
        if (centre is None) != (not self.about):
            raise UsageError(
                f"{who}: centre must be {self.about}, got none; give it in the world."
                if self.about
                else f"{who}: this form does not depend on a centre; leave it out."
            )
        if centre is None:
            return C
        seen = C.copy()
        seen[..., :3, 3] = C[..., :3, 3] - checked(centre, (3,), f"{who}: centre")
        return seen

    def ordered(self, vector: FloatArray, axis: int = -1) -> FloatArray:
        """Return angular-first vectors in the form's order, or the other way round."""
        return reordered(vector, axis) if self.linear_first else vector

    def kind(self, kind: str | None, who: str) -> str:
        """Return the kind of accelerations that is meant."""
        if not self.kinds:
            raise UsageError(f"{who}: this form has no accelerations, wrenches alone.")
        if kind is None:
            return self.kinds[0]
        check_choice(f"{who}: kind", kind, self.kinds)
        return kind

    def offset(
        self, C: FloatArray, V: FloatArray, kind: str, gravity: ArrayLike | None, who: str
    ) -> FloatArray:
        """Return the terms of accelerations besides T A_b; V is the form's twist, angular first.

        That is w x v for the classical kind, and minus gravity where the program counts it so: an
        acceleration -g of all points of the body, in the axes of the linear part.
        """
        extra = np.zeros(np.broadcast_shapes(V.shape, (*C.shape[:-2], 6)))
        if kind == CLASSICAL:
            extra[..., 3:] += np.cross(V[..., :3], V[..., 3:])
        if (gravity is None) == self.holds_gravity:
            raise UsageError(
                f"{who}: gravity must be given, since these accelerations hold minus gravity; "
                "give the system's, system.gravity."
                if self.holds_gravity
                else f"{who}: gravity is not in these accelerations; leave it out."
            )
        if gravity is not None:
            g = checked(gravity, (3,), f"{who}: gravity")
            check_broadcast(who, (g, 1), (C, 2))
            fall = np.zeros((*np.broadcast_shapes(g.shape[:-1], C.shape[:-2]), 6))
            fall[..., 3:] = times(np.swapaxes(C[..., :3, :3], -1, -2), g)
            extra = extra - times(self.representation.twist_map(C), fall)
        return extra


def reordered(vector: FloatArray, axis: int = -1) -> FloatArray:
    """Return vectors with the first three entries of an axis and the last three exchanged."""
    return np.roll(vector, 3, axis=axis)
