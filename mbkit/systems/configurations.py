"""Names, numbers and configurations of a system; its state from that of another system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    ConstraintError,
    NameUnknownError,
    NotFiniteError,
    UsageError,
    check_switch,
    no_coordinates,
    suggestion,
)
from mbkit.given_values import as_number
from mbkit.joints import Joint
from mbkit.lie import SE3
from mbkit.representations import BodyFixed
from mbkit.representations.arguments import times
from mbkit.systems.calls.arguments import Floats, common_axes

if TYPE_CHECKING:
    from mbkit.systems.calls.arguments import Configuration
    from mbkit.systems.system import System


def body_index(system: System, name: str) -> int:
    """See `System.body_index`."""
    try:
        return system._body_rows[name]
    except (KeyError, TypeError):
        if is_frame(system, name):
            raise NameUnknownError(
                f"System '{system.name}': '{name}' is a frame on body '{system.frames[name].body}' "
                f"and no body; name the body here."
            ) from None
        raise NameUnknownError(
            f"System '{system.name}' has no body '{name}'; "
            f"{suggestion(name, (*system.body_names, *system.frames))}"
        ) from None


def placed(system: System, name: str) -> tuple[int, Floats | None]:
    """Return the row of a body, named by itself or by a frame on it, and the frame's pose there.

    None for the body's own frame. NameUnknownError if there is no such body or frame.
    """
    if is_frame(system, name):
        frame = system.frames[name]
        return body_index(system, frame.body), frame.pose
    return body_index(system, name), None


def is_frame(system: System, name: Any) -> bool:
    """Whether it is the name of a frame on a body."""
    return isinstance(name, str) and name in system.frames


def joint_slice(system: System, slices: dict[str, slice], joint: str) -> slice:
    """Return where a joint's entries stand; NameUnknownError if it has none."""
    if not isinstance(joint, str):
        raise NameUnknownError(f"A joint must be given by its name, got {joint!r}.")
    if joint not in slices:
        if joint in system._blueprint.loop_joints:
            text = no_coordinates(joint, system.remedy)
            raise NameUnknownError(f"System '{system.name}': {text}")
        raise NameUnknownError(
            f"System '{system.name}' has no joint '{joint}'; {suggestion(joint, slices)}"
        )
    return slices[joint]


def checked(system: System, name: str, value: Configuration, *, finite: bool = False) -> Floats:
    """See `System.checked`."""
    check_switch("finite", finite)
    array = np.array(system.evaluator.arguments.checked(name, value))
    if finite and not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise NotFiniteError(f"Argument '{name}' has the entry {bad}; all must be finite.")
    return array


def quaternions(system: System) -> tuple[int, ...]:
    """See `System.quaternions`."""
    return tuple(
        system._position_slices[name].start + first
        for name, joint in system.arrays.tree_joints.items()
        for first in joint.quaternions
    )


def position_rates(system: System, q: ArrayLike, v: ArrayLike) -> Floats:
    """See `System.position_rates`."""
    w = system.rates(q, v)
    given = system.evaluator.arguments.with_leading_axes("q", q)
    out = np.empty((*w.shape[:-1], system.nq))
    added, taken, others = system._own_rates
    out[..., added] = w[..., taken]
    samples: Any = ((out, given, w),)
    if out.ndim > 1:
        count = math.prod(out.shape[:-1])  # numpy cannot infer it where samples have no numbers
        every = np.broadcast_to(given, out.shape).reshape(count, system.nq)
        w = w.reshape(count, system.ndx)
        samples = zip(out.reshape(count, system.nq), every, w, strict=True)
    for rate, each, step in samples:
        for joint, positions, steps in others:
            rate[positions] = joint.position_rates(each[positions], step[steps])
    return out


def time_to_lock(system: System, q: ArrayLike, v: ArrayLike) -> tuple[float, str]:
    """See `System.time_to_lock`."""
    given = system.evaluator.arguments.checked("q", q)
    w = system.rates(given, system.evaluator.arguments.checked("v", v))
    found = math.inf, ""
    for joint, positions, steps in system._own_rates[2]:
        time = joint.time_to_lock(given[positions], w[steps])
        if time < found[0]:
            found = time, joint.name
    return found


def own_rates(system: System) -> tuple[Any, Any, list[tuple[Joint, slice, slice]]]:
    """Entries of q that add, those of steps that they take; the other joints, with theirs."""
    entries = [
        (joint, system._position_slices[name], system._tangent_slices[name])
        for name, joint in system.arrays.tree_joints.items()
    ]
    none = np.zeros(0, dtype=np.intp)
    adding = [each for each in entries if _rates_are_steps(each[0])]
    added = [none, *(np.arange(system.nq)[positions] for _, positions, _ in adding)]
    taken = [none, *(np.arange(system.ndx)[steps] for _, _, steps in adding)]
    others = [each for each in entries if not _rates_are_steps(each[0])]
    return np.concatenate(added), np.concatenate(taken), others


def _rates_are_steps(joint: Joint) -> bool:
    """Return whether the rates of a joint's positions are those of steps, and never infinite.

    A user's class that defines them is asked.
    """
    kind = type(joint)
    asked = kind.position_rates, kind.time_to_lock
    return joint.positions_add and all(each.__module__.startswith("mbkit.") for each in asked)


def state_of(
    system: System,
    other: System,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    tolerance: float = 1e-6,
) -> tuple[Floats, Floats]:
    """See `System.state_of`."""
    limit = as_number(tolerance)
    if not (isinstance(limit, float) and 0.0 < limit <= 1.0):
        raise UsageError(
            f"state_of: tolerance must be a positive number up to 1, such as 1e-6, got "
            f"{tolerance!r}."
        )
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
        T = SE3.inverse(near) @ far
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
        C = SE3.inverse(target.poses[:, body]) @ target.poses[:, parent]
        relative = (target.twists[:, body] - times(SE3.Ad(C), target.twists[:, parent])) * weights
        columns = np.swapaxes(S[:, place] * weights, -1, -2)
        found[:, place] = np.einsum("sij,sj->si", np.linalg.pinv(columns), relative)
    return found


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
