"""The plane in which a mechanism moves, if it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import MbkitError
from mbkit.representations import Hybrid
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import null_space

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["plane_of_motion"]

#: Configurations and velocities that are looked at; velocities up to which that is affordable.
_POSTURES, _VELOCITIES, _MOST = 3, 8, 500
#: Part of the largest velocity that counts as none.
_NONE = 1e-6


def plane_of_motion(system: System, q: ArrayLike | None) -> FloatArray | None:
    """Return the normal (3,) of the plane in which all bodies move; None where there is none.

    Bodies turn about one direction, at the least one of them, and their points move across it, for
    random velocities that the constraints allow, at some of the configurations q (..., nq).

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> np.abs(plane_of_motion(mech.assemble(), None)).round(9)
    array([0., 1., 0.])
    """
    if not 0 < system.nv <= _MOST:
        return None
    every = np.atleast_2d(system.reference_configuration() if q is None else np.asarray(q))
    every = every.reshape(-1, system.nq)
    every = every[np.isfinite(every).all(axis=1)]
    rng = np.random.default_rng(0)
    turning, moving = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for place in np.unique(np.linspace(0, len(every) - 1, _POSTURES).round().astype(int)):
        try:
            free = np.eye(system.nv)
            if system.num_velocity_constraints:
                free = null_space(system.constraint_jacobian(every[place]))
            v = rng.normal(size=(_VELOCITIES, free.shape[1])) @ free.T
            V = system.twists(every[place], v, representation=Hybrid()).reshape(-1, 6)
        except MbkitError:
            return None
        turning.append(V[:, :3])
        moving.append(V[:, 3:])
    spins, speeds = np.concatenate(turning), np.concatenate(moving)
    sizes = np.linalg.norm(spins, axis=1)
    if not sizes.any():
        return None
    normal = spins[int(np.argmax(sizes))] / sizes.max()
    turns_across = np.abs(spins - np.outer(spins @ normal, normal)).max() > _NONE * sizes.max()
    leaves = np.abs(speeds @ normal).max() > _NONE * np.abs(speeds).max()
    return None if turns_across or leaves else np.asarray(normal)
