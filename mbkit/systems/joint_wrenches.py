"""Joint wrenches, by the balance of momentum of the bodies beyond.

The bodies beyond joint i of the tree need the wrench
    W_i = sum over these of (rate of momentum - gravity - wrenches applied and of constraints),
which is the sum of the recursive Newton-Euler algorithm. A loop joint has the wrench of its
multipliers. Wrenches are in world axes, moments about one point. Source: Featherstone 2008, section
5.3, and (8.8) for loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.representations import Hybrid, convert_wrench
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import CONSTRAINT_WRENCHES, FORCE_WRENCHES
from mbkit.systems.calls.wrenches import Wrenches, wrench_rows

if TYPE_CHECKING:
    from mbkit.systems.system import System


@final
@attrs.frozen(eq=False)
class BodyLoads:
    """Wrenches on some bodies, in world axes, about points of their own.

    Attributes
    ----------
    moments, forces, points : ndarray, shape (..., n, 3)
        [N m], [N], [m]
    bodies : ndarray of int, shape (n,)
        Index of the body of each wrench, as in `System.body_names`.
    """

    moments: Floats
    forces: Floats
    points: Floats
    bodies: Any

    def total(self, chosen: Any, about: Floats) -> Floats:
        """Return the sum (..., 6) of the chosen wrenches about points (..., 3) of the world [m]."""
        forces = self.forces[..., chosen, :]
        arms = self.points[..., chosen, :] - about[..., None, :]
        moments = self.moments[..., chosen, :] + np.cross(arms, forces)
        return np.concatenate([moments.sum(axis=-2), forces.sum(axis=-2)], axis=-1)


def bodies_beyond(system: System, body: int) -> Any:
    """Return which bodies a body of the tree carries, itself included, bool, (bodies + 1,)."""
    carried = np.zeros(len(system.body_names), dtype=bool)
    carried[body] = True
    for level in system.tree.levels[1:]:
        carried[level] |= carried[system.tree.parents[level]]
    return carried


def body_loads(
    system: System,
    q: Floats,
    v: Floats,
    vdot: Floats,
    t: Floats,
    wrenches: Wrenches | None,
    *,
    on_error: str,
) -> BodyLoads:
    """Return the wrench that each body needs for its motion, minus the known wrenches on it.

    That is rate of momentum minus gravity, forces of the system and `wrenches`, about the origin of
    the body's frame.
    """
    world = Hybrid()
    C = system.poses(q, on_error=on_error)
    V = system.twists(q, v, representation=world, on_error=on_error)
    rate = system.accelerations(q, v, vdot, representation=world, on_error=on_error)
    R = C[..., :3, :3]
    w, alpha = V[..., :3], rate[..., :3]
    arms = np.einsum("...ij,...j->...i", R, system.inertias.coms)
    turning = np.cross(alpha, arms) + np.cross(w, np.cross(w, arms))
    forces = system.inertias.masses[:, None] * (rate[..., 3:] + turning - system.gravity)
    J = R @ system.inertias.moments_about_com @ np.swapaxes(R, -1, -2)
    spin = np.einsum("...ij,...j->...i", J, w)
    moments = np.einsum("...ij,...j->...i", J, alpha) + np.cross(w, spin) + np.cross(arms, forces)
    acting = np.zeros((*forces.shape[:-1], 6))
    if system.forces:
        found = system.evaluator.compute(FORCE_WRENCHES, q, v, t[..., None], on_error=on_error)
        acting = acting + found[..., system.nv :].reshape(acting.shape)
    if wrenches is not None:
        given = wrench_rows(system, q, wrenches)
        rows = system.evaluator.arguments.with_leading_axes("wrenches", given)
        acting = acting + convert_wrench(rows, C, system.representation, world)
    everything = np.arange(len(system.body_names))
    return BodyLoads(moments - acting[..., :3], forces - acting[..., 3:], C[..., :3, 3], everything)


def constraint_loads(
    system: System, q: Floats, multipliers: Floats, t: Floats, on_error: str
) -> BodyLoads:
    """Return the wrenches of constraints on the bodies, two for each loop joint."""
    times = np.broadcast_to(t[..., None], (*multipliers.shape[:-1], 1))
    given = np.concatenate([multipliers, times], axis=-1)
    found = system.evaluator.compute(
        CONSTRAINT_WRENCHES, q, system.evaluator.zero, given, on_error=on_error
    )
    bodies = np.array(system.arrays.closure.site_bodies, dtype=np.int64)
    found = found[..., : len(bodies), :]  # there is room for one where there is none
    return BodyLoads(found[..., :3], found[..., 3:6], found[..., 6:], bodies)
