"""Freedom of a search: joint limits, locked joints, closed loops, random starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.closed_loops.closing import Closing, close
from mbkit.closed_loops.loop_equations import Loops
from mbkit.errors import UsageError, several
from mbkit.kinematics.bounded_step import along, held, null_space
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.calls.entries import turning_positions, velocities_of
from mbkit.systems.memory.body_tree import Integers

if TYPE_CHECKING:
    from mbkit.systems import System

_TURN = 2.0 * np.pi

#: How often loops are closed again with further joints held at their limits, and by how many steps
#: of a descent each time.
_MOST_HELD, _CLOSING_STEPS = 6, 60


@final
@attrs.frozen(eq=False)
class Freedom:
    """The velocities that may move, and the limits of their positions."""

    system: System  # of which
    # (nq, 2): lower and upper limit of each position; infinite where there is none
    limits: FloatArray
    velocities: Integers  # (free,): the entries of v that may move
    steps: Integers  # (free,): their tangent entries
    # (free,): the position that each of them adds to; -1 where positions are not simply added
    positions: Integers
    turning: Any  # (free,): where a whole turn of that position leads to the same pose
    loops: Loops | None  # to be kept closed by them; None of trees

    def moved(self, q: FloatArray, x: FloatArray) -> FloatArray | None:
        """Return the configuration that a step (free,) leads to, within the limits.

        With loops closed again; None if that fails.
        """
        found, closing = self.closed(self.stepped(q, x))
        return found if closing is None or closing.is_closed else None

    def stepped(self, q: FloatArray, x: FloatArray) -> FloatArray:
        """Return the configuration at the end of a step (free,), whatever stops it."""
        step = np.zeros(self.system.ndx)
        step[self.steps] = x
        return self.system.retract(q, step)

    def closed(self, q: FloatArray) -> tuple[FloatArray, Closing | None]:
        """Return a configuration near q within the limits with loops closed, and how that ended.

        Joints that closing the loops takes beyond a limit are held there. None for trees.
        """
        q = self.clipped(q)
        if self.loops is None:
            return q, None
        loops = self.loops
        for _ in range(_MOST_HELD):
            found = close(loops, q, most=_CLOSING_STEPS)
            within = self.clipped(found.q)
            if np.array_equal(within, found.q):
                return found.q, found
            added = np.maximum(self.positions, 0)
            beyond = (self.positions >= 0) & (within != found.q)[added]
            loops = attrs.evolve(loops, free=np.setdiff1d(loops.free, self.velocities[beyond]))
            q = within
        return q, Closing(q, loops.residual(q))

    def gap(self, q: FloatArray) -> float:
        """Return by how much the loops are open at most, in metres."""
        if self.loops is None:
            return 0.0
        return self.loops.length * float(np.abs(self.loops.residual(q)).max(initial=0.0))

    def across(self, q: FloatArray) -> FloatArray:
        """Return the matrix (rows, free) that steps which keep the loops closed take to zero."""
        if self.loops is None:
            return np.zeros((0, len(self.velocities)))
        length = self.loops.length
        A = self.system.constraint_jacobian(q, self.loops.t)[:, self.velocities]
        return np.asarray(A[self.loops.rows] / length)

    def clipped(self, q: FloatArray) -> FloatArray:
        """Return the configuration with free positions put within the limits."""
        added = self.positions[self.positions >= 0]
        within = q.copy()
        within[added] = np.clip(q[added], self.limits[added, 0], self.limits[added, 1])
        return within

    def room(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far each free velocity may step down and up, (free,) each."""
        lower = np.full(len(self.velocities), -np.inf)
        upper = np.full(len(self.velocities), np.inf)
        added = self.positions >= 0
        positions = self.positions[added]
        lower[added] = np.minimum(self.limits[positions, 0] - q[positions], 0.0)
        upper[added] = np.maximum(self.limits[positions, 1] - q[positions], 0.0)
        return lower, upper

    def active(self, q: FloatArray, gradient: FloatArray, across: FloatArray) -> tuple[str, ...]:
        """Return the names of the positions that a limit holds against a gradient (free,).

        In the space of steps that `across` takes to zero.
        """
        room = self.room(q)
        against = held(along(gradient, across, *room), *room) & (self.positions >= 0)
        return tuple(self.system.position_names[k] for k in self.positions[against])

    def at_limits(self, q: FloatArray) -> tuple[str, ...]:
        """Return the names of the positions that stand at a limit."""
        lower, upper = self.room(q)
        touched = (lower >= 0.0) | (upper <= 0.0)
        return tuple(self.system.position_names[k] for k in self.positions[touched])

    def without_limits(self) -> Freedom:
        """Return the same with no limits."""
        wide = np.broadcast_to([-np.inf, np.inf], self.limits.shape)
        return attrs.evolve(self, limits=wide)

    def whole_turns(self, q: FloatArray) -> FloatArray:
        """Return the configuration with turning joints put within their limits by whole turns.

        Positions that no turns put there, or whose pose they change, stay.
        """
        turned = q.copy()
        for k in self.positions[self.turning]:
            lower, upper = self.limits[k]
            fewest, most = np.ceil((lower - q[k]) / _TURN), np.floor((upper - q[k]) / _TURN)
            if fewest <= most:
                turned[k] += _TURN * np.clip(0.0, fewest, most)
        return turned

    def random(self, rng: np.random.Generator, q: FloatArray) -> FloatArray:
        """Return a random configuration: fixed joints are as in q.

        Positions between two limits are uniform there. Else a step from q: rotations by up to pi,
        translations by up to the size of the mechanism. Where loops are to be closed, each second
        one is a step along the motions that keep them so to first order.
        """
        turns = np.abs(self.system.motion_subspaces(q)[self.velocities, :3]).max(axis=1) > 1e-9
        origins = self.system.poses(q)[:, :3, 3]
        size = max(float(np.linalg.norm(origins - origins.mean(axis=0), axis=1).max()), 1e-3)
        x = rng.uniform(-1.0, 1.0, len(turns)) * np.where(turns, np.pi, size)
        if self.loops is not None and rng.random() < 0.5:
            Z = null_space(self.across(q))
            return self.clipped(self.stepped(q, Z @ (Z.T @ x)))
        start = self.stepped(q, x)
        added = self.positions[self.positions >= 0]
        between = added[np.isfinite(self.limits[added]).all(axis=1)]
        start[between] = rng.uniform(self.limits[between, 0], self.limits[between, 1])
        return self.clipped(start)


def checked_freedom(system: System, limits: Any, locked: Any, who: str, t: float = 0.0) -> Freedom:
    """Return the freedom of a system to move; messages of errors begin with `who`.

    Limits are (nq, 2) for all positions, or of joints by their names; the system's if None. Locked
    joints must not move. Constraints are those of the time t. [s]
    """
    wide = np.tile([-np.inf, np.inf], (system.nq, 1))
    given = system.position_limits if limits is None else limits
    found = _limits(system, given, wide, who)
    positions = np.full(system.nv, -1)
    joints = system.arrays.tree_joints
    for name, joint in joints.items():
        here = system.position_slice(name)
        if joint.positions_add:
            positions[system.velocity_slice(name)] = np.arange(here.start, here.stop)
        elif np.isfinite(found[here]).any():
            raise UsageError(
                f"{who}: the positions of joint '{name}' are not added but composed, so that "
                f"limits of single positions have no meaning; leave them infinite."
            )
    turning = np.isin(positions, turning_positions(system))
    velocities = free_velocities(system, locked, who)
    steps = step_entries(system)[velocities]
    stuck = [name for name in joints if (steps[_at(system, name, velocities)] < 0).any()]
    if stuck:
        raise UsageError(
            f"{who}: joint '{stuck[0]}' is nonholonomic: steps along its velocities do not reach "
            f"all its positions. Put it where it shall be, and lock it: locked=['{stuck[0]}']."
        )
    loops = None
    if system.num_position_constraints:
        fixed = np.ones(system.nv, dtype=bool)
        fixed[velocities] = False
        loops = Loops.of(system, fixed, t)
    entries = positions[velocities], turning[velocities]
    return Freedom(system, found, velocities, steps, *entries, loops)


def step_entries(system: System) -> Integers:
    """Return the entry of a step that each velocity is (nv,); -1 for nonholonomic joints."""
    entries = np.full(system.nv, -1)
    for name, joint in system.arrays.tree_joints.items():
        if joint.ndx == joint.num_velocities:
            steps = system.tangent_slice(name)
            entries[system.velocity_slice(name)] = np.arange(steps.start, steps.stop)
    return entries


def _at(system: System, joint: str, velocities: Integers) -> Any:
    own = system.velocity_slice(joint)
    return (velocities >= own.start) & (velocities < own.stop)


def free_velocities(system: System, locked: Any, who: str) -> Integers:
    """Return the entries of v that are of joints neither locked, by name, nor prescribed."""
    names = tuple(locked) if several(locked) and not isinstance(locked, str) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(f"{who}: locked must be a list of names of joints, got {locked!r}.")
    return np.flatnonzero(~velocities_of(system, (*names, *system.prescribed_joints)))


def _limits(system: System, limits: Any, wide: FloatArray, who: str) -> FloatArray:
    """Return limits (nq, 2) that make sense."""
    found = wide
    if isinstance(limits, Mapping):
        for joint, pair in limits.items():
            entries = system.position_slice(joint)
            array = frozen_array(pair)
            count = entries.stop - entries.start
            shape = (2,) if array.ndim < 2 else (count, 2)
            _check_limits(array, shape, f"{who}: limits of joint '{joint}'")
            found[entries] = array
    else:
        array = frozen_array(limits)
        _check_limits(array, found.shape, f"{who}: limits")
        found = np.array(array)
    lower, upper = found.T
    wrong = np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf))
    if len(wrong):
        k = int(wrong[0])
        raise UsageError(
            f"{who}: the lower limit of '{system.position_names[k]}' is {lower[k]:g} and its upper "
            f"{upper[k]:g}, which leaves no position; lower must not exceed upper, and -inf and "
            "inf stand for none."
        )
    return found


def _check_limits(array: FloatArray, shape: tuple[int, ...], what: str) -> None:
    """Raise unless these are numbers of that shape, of which infinity is one."""
    is_numeric = array.dtype.kind == "f"
    if is_numeric and np.isnan(array).any():
        raise UsageError(f"{what} must not be NaN; -inf and inf stand for none.")
    check_array(np.where(np.isinf(array), 0.0, array) if is_numeric else array, shape, what)
