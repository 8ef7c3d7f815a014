"""What may move, and how far: joint limits, locked joints, random starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.joints import Joint
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.body_tree import Integers

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["Freedom", "checked_freedom", "free_velocities"]


@final
@attrs.frozen(eq=False)
class Freedom:
    """The velocities that may move, and the limits of their positions.

    Attributes
    ----------
    system : System
        Of which.
    limits : ndarray, shape (nq, 2)
        Lower and upper limit of each position; infinite where there is none.
    velocities : ndarray of int, shape (free,)
        The entries of v that may move.
    positions : ndarray of int, shape (free,)
        The position that each of them adds to; -1 where positions are not simply added.
    """

    system: System
    limits: FloatArray
    velocities: Integers
    positions: Integers

    def moved(self, q: FloatArray, x: FloatArray) -> FloatArray:
        """Return the configuration that a step (free,) leads to, within the limits."""
        step = np.zeros(self.system.nv)
        step[self.velocities] = x
        return self.clipped(self.system.retract(q, step))

    def clipped(self, q: FloatArray) -> FloatArray:
        """Return the configuration with what may move put within the limits."""
        added = self.positions[self.positions >= 0]
        q[added] = np.clip(q[added], self.limits[added, 0], self.limits[added, 1])
        return q

    def room(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far each free velocity may step down and up, (free,) each."""
        lower = np.full(len(self.velocities), -np.inf)
        upper = np.full(len(self.velocities), np.inf)
        added = self.positions >= 0
        positions = self.positions[added]
        lower[added] = np.minimum(self.limits[positions, 0] - q[positions], 0.0)
        upper[added] = np.maximum(self.limits[positions, 1] - q[positions], 0.0)
        return lower, upper

    def active(self, q: FloatArray, gradient: FloatArray) -> tuple[str, ...]:
        """Return the names of the positions that a limit holds against a gradient (free,)."""
        lower, upper = self.room(q)
        held = ((lower >= 0.0) & (gradient > 0.0)) | ((upper <= 0.0) & (gradient < 0.0))
        return tuple(self.system.position_names[k] for k in self.positions[held])

    def at_limits(self, q: FloatArray) -> tuple[str, ...]:
        """Return the names of the positions that stand at a limit."""
        lower, upper = self.room(q)
        touched = (lower >= 0.0) | (upper <= 0.0)
        return tuple(self.system.position_names[k] for k in self.positions[touched])

    def without_limits(self) -> Freedom:
        """Return the same with no limits."""
        wide = np.broadcast_to([-np.inf, np.inf], self.limits.shape)
        return attrs.evolve(self, limits=wide)

    def random(self, rng: np.random.Generator, q: FloatArray) -> FloatArray:
        """Return a random configuration: what may not move is as in q.

        Positions between two limits are uniform there. Else a step from q: rotations by up to pi,
        translations by up to the size of the mechanism.
        """
        turns = np.abs(self.system.motion_subspaces(q)[self.velocities, :3]).max(axis=1) > 1e-9
        origins = self.system.poses(q)[:, :3, 3]
        size = max(float(np.linalg.norm(origins - origins.mean(axis=0), axis=1).max()), 1e-3)
        x = rng.uniform(-1.0, 1.0, len(turns)) * np.where(turns, np.pi, size)
        step = np.zeros(self.system.nv)
        step[self.velocities] = x
        start = self.system.retract(q, step)
        added = self.positions[self.positions >= 0]
        between = added[np.isfinite(self.limits[added]).all(axis=1)]
        start[between] = rng.uniform(self.limits[between, 0], self.limits[between, 1])
        return self.clipped(start)


def checked_freedom(system: System, limits: Any, locked: Any, who: str) -> Freedom:
    """Return what may move, or say what is wrong with limits or locked joints.

    Parameters
    ----------
    system : System
        Of which.
    limits : array_like (nq, 2), dict or None
        Limits of all positions, or of joints by their names; the system's if None.
    locked : iterable of str
        Joints that must not move.
    who : str
        The beginning of messages.

    Returns
    -------
    Freedom
        The rest.
    """
    wide = np.tile([-np.inf, np.inf], (system.nq, 1))
    if limits is None:
        limits = getattr(system, "position_limits", None)
    found = wide if limits is None else _limits(system, limits, wide, who)
    positions = np.full(system.nv, -1)
    joints = {joint.name: joint for joint in system.arrays.joints if joint is not None}
    for name, joint in joints.items():
        here = system.position_slice(name)
        if type(joint).retract is Joint.retract:
            positions[system.velocity_slice(name)] = np.arange(here.start, here.stop)
        elif np.isfinite(found[here]).any():
            raise UsageError(
                f"{who}: the positions of joint '{name}' are not added but composed, so that "
                f"limits of single positions have no meaning; leave them infinite."
            )
    velocities = free_velocities(system, locked, who)
    return Freedom(system, found, velocities, positions[velocities])


def free_velocities(system: System, locked: Any, who: str) -> Integers:
    """Return the entries of v that are not of locked joints, which are given by name."""
    if isinstance(locked, str) or not isinstance(locked, Iterable):
        raise UsageError(f"{who}: locked must be a list of names of joints, got {locked!r}.")
    may_move = np.ones(system.nv, dtype=bool)
    for joint in locked:
        may_move[system.velocity_slice(joint)] = False
    return np.flatnonzero(may_move)


def _limits(system: System, limits: Any, wide: FloatArray, who: str) -> FloatArray:
    """Return limits (nq, 2) that make sense."""
    found = wide
    if isinstance(limits, Mapping):
        for joint, pair in limits.items():
            entries = system.position_slice(joint)
            array = frozen_array(pair)
            count = entries.stop - entries.start
            shape = (2,) if array.ndim < 2 else (count, 2)
            check_array(_bounded(array), shape, f"{who}: limits of joint '{joint}'")
            found[entries] = array
    else:
        array = frozen_array(limits)
        check_array(_bounded(array), found.shape, f"{who}: limits")
        found = np.array(array)
    wrong = np.flatnonzero(~(found[:, 0] <= found[:, 1]))
    if len(wrong):
        k = int(wrong[0])
        raise UsageError(
            f"{who}: the lower limit of '{system.position_names[k]}' is {found[k, 0]:g} and its "
            f"upper {found[k, 1]:g}; lower must not exceed upper."
        )
    return found


def _bounded(array: FloatArray) -> FloatArray:
    """Return the array with infinity replaced, which a limit may be."""
    return np.where(np.isinf(array), 0.0, array) if array.dtype.kind == "f" else array
