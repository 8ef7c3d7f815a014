"""Conventions of other programs for the coordinates of a body that moves freely."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.conventions.form import reordered
from mbkit.errors import ConfigurationError
from mbkit.lie import UnitQuaternion
from mbkit.lie.arrays import FloatArray, checked, pose
from mbkit.representations import BodyFixed, Representation, convert_acceleration
from mbkit.representations.arguments import (
    check_broadcast,
    rigid_poses,
    times,
    transposed,
    vectors,
)

__all__ = ["FreeJointConvention"]

#: Bound of |q|^2 - 1 of a quaternion.
UNIT_TOLERANCE = 1e-6
#: Where the entries of mbkit's positions (w, x, y, z, px, py, pz) stand in the program's.
LAYOUTS = {
    "p, xyzw": (4, 5, 6, 1, 2, 3, 0),
    "p, wxyz": (4, 5, 6, 0, 1, 2, 3),
    "wxyz, p": (0, 1, 2, 3, 4, 5, 6),
}


@final
@attrs.frozen
class FreeJointConvention:
    """A program's coordinates of a free joint, and the way to them from those of `mbkit.FreeJoint`.

    mbkit's positions are q = (w, x, y, z, px, py, pz), its velocities v the body-fixed twist. All
    functions take leading axes. The joint frames are those of the body and the world.

    Attributes
    ----------
    layout : str
        Order of the program's positions, "p, xyzw", "p, wxyz" or "wxyz, p"; "pose" where it takes
        the pose itself, (4, 4).
    representation : Representation
        Of the program's velocities.
    linear_first : bool
        Whether the linear velocity stands first.

    Examples
    --------
    MuJoCo's velocity is linear in the world, then angular in the body:

    >>> import mbkit as mb
    >>> free = mb.conventions.MUJOCO.free_joint
    >>> q = [0.0, 0.0, 0.0, 1.0, 5.0, 6.0, 7.0]  # half a turn about z
    >>> free.positions_to(q)
    array([5., 6., 7., 0., 0., 0., 1.])
    >>> free.velocities_to(q, [1.0, 2.0, 3.0, 4.0, 0.0, 0.0])
    array([-4.,  0.,  0.,  1.,  2.,  3.])
    """

    layout: str
    representation: Representation
    linear_first: bool

    def positions_to(self, q: ArrayLike) -> FloatArray:
        """Return the program's positions, shape (..., 7), or (..., 4, 4) where it takes poses.

        Parameters
        ----------
        q : array_like, shape (..., 7)
            Of `mbkit.FreeJoint`.

        Raises
        ------
        ShapeError, ConfigurationError
            If `q` is of another shape, or its quaternion not of length one.
        """
        q, C = _pose_of(q, "positions_to")
        return C if self.layout == "pose" else q[..., list(LAYOUTS[self.layout])]

    def positions_from(self, positions: ArrayLike) -> FloatArray:
        """Return the positions of `mbkit.FreeJoint`, shape (..., 7), from the program's.

        Raises
        ------
        ShapeError, ConfigurationError, GeometryError
            If they are of another shape, or the orientation is none.
        """
        if self.layout == "pose":
            C = rigid_poses(positions, "positions_from")
            return np.concatenate(
                [UnitQuaternion.from_rotation(C[..., :3, :3]), C[..., :3, 3]], axis=-1
            )
        order = np.argsort(LAYOUTS[self.layout])
        q, _ = _pose_of(checked(positions, (7,), "positions_from")[..., order], "positions_from")
        return q

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return the matrix G(q), shape (..., 6, 6), of the program's velocities G v.

        Mass matrices and Jacobians go with it, M = G^T M' G and J = J' G.

        Raises
        ------
        ShapeError, ConfigurationError
            As `positions_to`.
        """
        G = self.representation.twist_map(_pose_of(q, "velocity_map")[1])
        return reordered(G, axis=-2) if self.linear_first else G

    def velocities_to(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the program's velocities, shape (..., 6), from mbkit's q (..., 7) and v (..., 6).

        Raises
        ------
        ShapeError, ConfigurationError
            As `positions_to`.
        """
        C, (v,) = _arguments("velocities_to", q, v)
        return self._ordered(times(self.representation.twist_map(C), v))

    def velocities_from(self, q: ArrayLike, velocities: ArrayLike) -> FloatArray:
        """Return mbkit's v from mbkit's q and the program's velocities; see `velocities_to`."""
        C, (velocities,) = _arguments("velocities_from", q, velocities)
        return times(self.representation.inverse_twist_map(C), self._ordered(velocities))

    def accelerations_to(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> FloatArray:
        """Return the rates of the program's velocities, shape (..., 6), from mbkit's q, v, vdot.

        Raises
        ------
        ShapeError, ConfigurationError
            As `positions_to`.
        """
        C, (v, vdot) = _arguments("accelerations_to", q, v, vdot)
        return self._ordered(convert_acceleration(vdot, v, C, BodyFixed(), self.representation))

    def accelerations_from(
        self, q: ArrayLike, velocities: ArrayLike, accelerations: ArrayLike
    ) -> FloatArray:
        """Return mbkit's vdot from mbkit's q, the program's velocities and their rates."""
        C, given = _arguments("accelerations_from", q, velocities, accelerations)
        V, A = (self._ordered(each) for each in given)
        return convert_acceleration(A, V, C, self.representation, BodyFixed())

    def forces_to(self, q: ArrayLike, tau: ArrayLike) -> FloatArray:
        """Return the program's generalized forces, shape (..., 6), G^-T tau.

        Raises
        ------
        ShapeError, ConfigurationError
            As `positions_to`.
        """
        C, (tau,) = _arguments("forces_to", q, tau)
        inverse = self.representation.inverse_twist_map(C)
        return self._ordered(times(transposed(inverse), tau))

    def forces_from(self, q: ArrayLike, forces: ArrayLike) -> FloatArray:
        """Return mbkit's generalized forces of the joint, G^T tau', from the program's."""
        C, (forces,) = _arguments("forces_from", q, forces)
        return times(transposed(self.representation.twist_map(C)), self._ordered(forces))

    def _ordered(self, vector: FloatArray) -> FloatArray:
        return reordered(vector) if self.linear_first else vector


def _pose_of(q: ArrayLike, name: str) -> tuple[FloatArray, FloatArray]:
    """Return positions as float64, and the poses that they are."""
    q = checked(q, (7,), name)
    length = np.linalg.norm(q[..., :4], axis=-1)
    if not (np.abs(length**2 - 1.0) <= UNIT_TOLERANCE).all():
        raise ConfigurationError(
            f"{name} takes positions with a quaternion of length one, got "
            f"{np.atleast_1d(length).ravel().tolist()}; divide it by its length."
        )
    unit = q[..., :4] / length[..., None]
    return q, pose(UnitQuaternion.Ad(unit), q[..., 4:])


def _arguments(
    name: str, q: ArrayLike, *given: ArrayLike
) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Return the poses of positions, and vectors of six."""
    _, C = _pose_of(q, name)
    found = tuple(vectors(each, name) for each in given)
    check_broadcast(name, (C, 2), *((each, 1) for each in found))
    return C, found
