"""Names, numbers and positions of a system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NameUnknownError, NotFiniteError, check_switch, suggestion
from mbkit.joints import Joint
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "body_index",
    "checked",
    "joint_slice",
    "own_rates",
    "position_rates",
    "quaternions",
    "time_to_lock",
]


def body_index(system: System, name: str) -> int:
    """See `System.body_index`."""
    try:
        return system._body_rows[name]
    except (KeyError, TypeError):
        raise NameUnknownError(
            f"System '{system.name}' has no body '{name}'; {suggestion(name, system.body_names)}"
        ) from None


def joint_slice(system: System, slices: dict[str, slice], joint: str) -> slice:
    """Return where a joint's entries stand; NameUnknownError if it has none."""
    if not isinstance(joint, str):
        raise NameUnknownError(f"A joint must be given by its name, got {joint!r}.")
    if joint not in slices:
        if joint in system._blueprint.loop_joints:
            raise NameUnknownError(
                f"Joint '{joint}' closes a loop of system '{system.name}': it has no entries in "
                f"q and v. Name a joint of the tree, or {system.remedy}."
            )
        raise NameUnknownError(
            f"System '{system.name}' has no joint '{joint}'; {suggestion(joint, slices)}"
        )
    return slices[joint]


def checked(system: System, name: str, value: ArrayLike, *, finite: bool = False) -> Floats:
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
        count = math.prod(out.shape[:-1])  # numpy cannot tell where samples have no numbers
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
    places = [
        (joint, system._position_slices[name], system._step_slices[name])
        for name, joint in system.arrays.tree_joints.items()
    ]
    none = np.zeros(0, dtype=np.intp)
    adding = [each for each in places if each[0].positions_add]
    added = [none, *(np.arange(system.nq)[positions] for _, positions, _ in adding)]
    taken = [none, *(np.arange(system.ndx)[steps] for _, _, steps in adding)]
    others = [each for each in places if not each[0].positions_add]
    return np.concatenate(added), np.concatenate(taken), others
