"""The state of a system with the poses and twists of the bodies of another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, NameUnknownError, UsageError, suggestion
from mbkit.representations import BodyFixed
from mbkit.spatial.arrays import frozen_number
from mbkit.systems.calls.arguments import common_axes

if TYPE_CHECKING:
    from mbkit.systems.calls.arguments import Floats
    from mbkit.systems.system import System

__all__ = ["state_of"]


def state_of(
    system: System, other: System, q: ArrayLike, v: ArrayLike | None, tolerance: float
) -> tuple[Floats, Floats]:
    """Return a state of a system; see `System.state_of`.

    Parameters
    ----------
    system, other : System
        Systems of one mechanism.
    q, v : array_like, shape (..., other.nq), (..., other.nv)
        State of the other; v may be left out.
    tolerance : float
        Largest error of the poses, in parts of the length of the system.

    Returns
    -------
    tuple of ndarray, shape (..., nq), (..., nv)
        q and v.
    """
    limit = frozen_number(tolerance)
    if not (isinstance(limit, float) and limit > 0.0):
        raise UsageError(f"state_of: tolerance must be a positive number, got {tolerance!r}.")
    if not all(hasattr(other, name) for name in ("poses", "twists", "joint_names")):
        raise UsageError(f"state_of: the other system must be an mbkit.System, got {other!r}.")
    checked = other.evaluator.arguments.with_leading_axes
    given_q, given_v = checked("q", q), checked("v", other.evaluator.zero if v is None else v)
    leading = common_axes({"q": given_q.shape[:-1], "v": given_v.shape[:-1]})
    samples = math.prod(leading)  # also where the state has no entries
    given_q = np.broadcast_to(given_q, (*leading, other.nq)).reshape(samples, other.nq)
    given_v = np.broadcast_to(given_v, (*leading, other.nv)).reshape(samples, other.nv)
    target = _Target.of(system, other, given_q, given_v)
    found_q = _positions(system, other, given_q, target)
    found_v = _velocities(system, other, found_q, given_v, target)
    _check(system, found_q, found_v, target, limit)
    return found_q.reshape(*leading, system.nq), found_v.reshape(*leading, system.nv)


@final
@attrs.frozen(eq=False)
class _Target:
    """Poses (samples, bodies + 1, 4, 4) and body-fixed twists that the bodies should have."""

    poses: Floats
    twists: Floats

    @classmethod
    def of(cls, system: System, other: System, q: Floats, v: Floats) -> _Target:
        known = {name: row for row, name in enumerate(other.body_names)}
        rows = []
        for name in system.body_names:
            whole = system.split_bodies[name].whole if name in system.split_bodies else name
            if whole not in known:
                raise NameUnknownError(
                    f"System '{system.name}' has a body '{whole}', and the system '{other.name}' "
                    f"whose state is given has none; {suggestion(whole, known)} state_of is for "
                    f"two systems of one mechanism."
                )
            rows.append(known[whole])
        V = other.twists(q, v, representation=BodyFixed())
        return cls(other.poses(q)[:, rows], V[:, rows])


def _shared(system: System, other: System, joint: str) -> bool:
    """Return whether both systems have the same coordinates of a joint."""
    if joint not in other.joint_names:
        return False
    mine, theirs = system.joint_places[joint], other.joint_places[joint]
    same: bool = system.arrays.tree_joints.get(joint) == other.arrays.tree_joints.get(joint)
    places = ((mine.near, theirs.near), (mine.far, theirs.far))
    return same and all(np.array_equal(*pair) for pair in places)


def _positions(system: System, other: System, q: Floats, target: _Target) -> Floats:
    number = {name: row for row, name in enumerate(system.body_names)}
    found = np.zeros((len(q), system.nq))
    for name, joint in system.arrays.tree_joints.items():
        edge, place = system.joint_places[name], system.position_slice(name)
        if _shared(system, other, name):
            found[:, place] = q[:, other.position_slice(name)]
            continue
        near = target.poses[:, number[edge.predecessor]] @ edge.near
        far = target.poses[:, number[edge.successor]] @ edge.far
        T = _inverse(near) @ far
        for sample, each in enumerate(T):
            found[sample, place] = joint.configuration_from_pose(each)
    return found


def _velocities(system: System, other: System, q: Floats, v: Floats, target: _Target) -> Floats:
    S = system.motion_subspaces(q)
    weights = np.array([system.arrays.closure.length] * 3 + [1.0] * 3)
    found = np.zeros((len(q), system.nv))
    tree = system.tree
    for body, name in enumerate(tree.joints):
        first, count = int(tree.first_velocity[body]), int(tree.num_velocities[body])
        place = slice(first, first + count)
        if count == 0:
            continue
        if _shared(system, other, name):
            found[:, place] = v[:, other.velocity_slice(name)]
            continue
        parent = int(tree.parents[body])
        C = _inverse(target.poses[:, body]) @ target.poses[:, parent]
        relative = (target.twists[:, body] - _moved(C, target.twists[:, parent])) * weights
        columns = np.swapaxes(S[:, place] * weights, -1, -2)
        found[:, place] = np.einsum("sij,sj->si", np.linalg.pinv(columns), relative)
    return found


def _inverse(C: Floats) -> Floats:
    found = np.zeros(C.shape)
    Rt = np.swapaxes(C[..., :3, :3], -1, -2)
    found[..., :3, :3] = Rt
    found[..., :3, 3] = -np.einsum("...ij,...j->...i", Rt, C[..., :3, 3])
    found[..., 3, 3] = 1.0
    return found


def _moved(C: Floats, V: Floats) -> Floats:
    """Return twists (s, 6) in outer frames, Ad_C V."""
    w = np.einsum("sij,sj->si", C[:, :3, :3], V[:, :3])
    u = np.einsum("sij,sj->si", C[:, :3, :3], V[:, 3:])
    return np.concatenate([w, u + np.cross(C[:, :3, 3], w)], axis=-1)


def _check(system: System, q: Floats, v: Floats, target: _Target, limit: float) -> None:
    """Raise ConstraintError where the joints of the system do not let its bodies be there."""
    length = system.arrays.closure.length
    scales: Any = np.array([1.0] * 3 + [1.0 / length])
    gaps = np.abs((system.poses(q) - target.poses)[..., :3, :] * scales).max(axis=(-2, -1))
    if gaps.size and not gaps.max() <= limit:
        sample, body = np.unravel_index(int(np.argmax(np.nan_to_num(gaps, nan=np.inf))), gaps.shape)
        raise ConstraintError(
            f"System '{system.name}': body '{system.body_names[body]}' cannot stand as in the "
            f"state that is given, its joint '{system.tree.joints[body]}' does not lead there: it "
            f"is {gaps[sample, body]:.3g} off, in radians and parts of {length:.3g} m (sample "
            f"{int(sample)}), by more than tolerance = {limit:.3g}. Close the loops of that state, "
            f"by System.close_loops, or allow a larger tolerance."
        )
    ways = np.array([1.0] * 3 + [1.0 / length] * 3)
    V = system.twists(q, v, representation=BodyFixed())
    rates = np.abs((V - target.twists) * ways).max(axis=-1)
    largest = np.abs(target.twists * ways).max(axis=(-2, -1))
    off = rates > limit * largest[:, None]
    if off.any():
        sample, body = np.unravel_index(int(np.argmax(np.where(off, rates, 0.0))), rates.shape)
        raise ConstraintError(
            f"System '{system.name}': body '{system.body_names[body]}' cannot move as in the "
            f"state that is given, its joint '{system.tree.joints[body]}' does not let it: it is "
            f"{rates[sample, body]:.3g} rad/s or 1/s off (sample {int(sample)}). Make that "
            f"velocity consistent, by System.close_loops(q, v), or allow a larger tolerance."
        )
