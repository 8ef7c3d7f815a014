"""Velocities by name: those of a joint, or one of them; and calls for many samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import MbkitError, ShapeError, UsageError, several
from mbkit.lie.arrays import as_floats
from mbkit.parts.angles import turns
from mbkit.systems.calls.arguments import Floats, check_on_error, common_axes, times_of

if TYPE_CHECKING:
    from mbkit.systems.system import System


def entries_of(system: System, names: Iterable[str], what: str) -> list[int]:
    """Return the entries of v that are named by joint, "hinge", or one velocity of it, "ball[2]".

    UsageError if they are no names, or name a velocity twice; `what` is the argument, for messages.
    """
    if isinstance(names, str):
        names = [names]
    if not (several(names) and all(isinstance(name, str) for name in list(names))):
        raise UsageError(
            f"{what} must be names of joints, got {names!r}; for example "
            f"['{(*system.joint_names, 'hinge')[0]}']."
        )
    found: list[int] = []
    for name in names:
        entries = named_entries(name, system.velocity_names, system.velocity_slice)
        if not set(entries).isdisjoint(found):
            raise UsageError(f"{what}: '{name}' is named twice; leave it out once.")
        found += entries
    return found


def named_entries(name: str, names: Sequence[str], slice_of: Callable[[str], slice]) -> list[int]:
    """Return the place of an entry of q or v by its name, or the places of all of a joint."""
    if name in names:
        return [names.index(name)]
    place = slice_of(name)
    return list(range(place.start, place.stop))


def velocities_of(system: System, joints: Iterable[str]) -> Any:
    """Return which velocities are those of some joints, (nv,)."""
    return _marked(system.nv, map(system.velocity_slice, joints))


def prescribed_velocities(system: System) -> Any:
    """Return which velocities are those of prescribed joints, (nv,)."""
    return velocities_of(system, system.prescribed_joints)


def prescribed_steps(system: System) -> Any:
    """Return which tangent entries are those of prescribed joints, (ndx,)."""
    return _marked(system.ndx, map(system.tangent_slice, system.prescribed_joints))


def _marked(count: int, places: Iterable[slice]) -> Any:
    found = np.zeros(count, dtype=bool)
    for place in places:
        found[place] = True
    return found


def turning_positions(system: System) -> Any:
    """Return the positions, by number, of which a whole turn leads to the same pose."""
    found = [
        system.position_slice(name).start
        for name, joint in system.arrays.tree_joints.items()
        if turns(joint)
    ]
    return np.array(found, dtype=np.int64)


def vector_of(system: System, values: Any, what: str) -> tuple[list[int], Floats]:
    """Return the entries of v that a mapping names, and v with the values that it gives them.

    v (..., nv) is zero elsewhere.
    """
    if not isinstance(values, Mapping):
        example = (*system.joint_names, "hinge")[0]
        raise UsageError(f"{what} must be given by name, {{'{example}': 1.0}}; got {values!r}.")
    entries: list[int] = []
    parts: list[Floats] = []
    for name, value in values.items():
        mine = entries_of(system, [name], what)
        array = as_floats(value, f"{what} of '{name}'")
        if len(mine) == 1 and array.shape != (1,):  # which is the joint's own vector
            array = as_samples(array)
        if array.shape[-1:] != (len(mine),):
            raise ShapeError(
                f"{what} of '{name}' must have shape (..., {len(mine)}), one number a velocity; "
                f"got {array.shape}."
            )
        entries += mine
        parts.append(array)
    if len(set(entries)) < len(entries):
        raise UsageError(f"{what}: a velocity is named twice, as that of its joint and by itself.")
    try:
        leading = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    except ValueError:
        axes = ", ".join(
            f"'{name}' {part.shape[:-1]}" for name, part in zip(values, parts, strict=True)
        )
        raise ShapeError(f"The batch axes of {what} do not broadcast: {axes}.") from None
    wide = [np.broadcast_to(part, (*leading, part.shape[-1])) for part in parts]
    found = np.zeros((*leading, system.nv))
    found[..., entries] = np.concatenate([np.zeros((*leading, 0)), *wide], axis=-1)
    return entries, found


def positions_of(name: str, motion: Sequence[ArrayLike], entries: Sequence[int]) -> Any:
    """Return the positions of a joint's motion, (..., entries); ShapeError if there are others."""
    rows = as_floats(motion[0], f"The motion of '{name}'")
    rows = as_samples(rows) if len(entries) == 1 else rows
    if rows.shape[-1:] not in ((len(entries),), (1,)):
        raise ShapeError(
            f"closed_motion: positions of '{name}' must have shape (..., {len(entries)}), got "
            f"{rows.shape}."
        )
    return rows


def as_samples(array: Any) -> Any:
    """Return samples of one number with an axis for it: all axes are batch axes but that of (k, 1).

    So an array of shape (1,) is one sample, as one of shape (k,) is k.
    """
    return array if array.ndim > 1 and array.shape[-1] == 1 else array[..., None]


def names_of(system: System, entries: Iterable[int]) -> list[str]:
    """Return the names of some velocities."""
    return [system.velocity_names[k] for k in entries]


def velocity_scales(system: System) -> Floats:
    """Return 1 for velocities that turn a body, the length of the system for others, (nv,)."""
    return np.where(system.arrays.turning, 1.0, system.arrays.closure.length)


def velocity_sizes(system: System, q: ArrayLike) -> Floats:
    """Return the length for velocities that turn a body, one for others, (..., nv).

    In metres: columns that are divided by it can be compared.
    """
    sizes = np.where(system.arrays.turning, system.arrays.closure.length, 1.0)
    return np.broadcast_to(sizes, (*np.shape(q)[:-1], system.nv))


def broadcast(system: System, t: ArrayLike, **given: Any) -> tuple[Any, ...]:
    """Return arguments with the same batch axes in the order given, t last, or raise ShapeError.

    They are q, v, ... by name (`Arguments.shapes`); a name in braces is checked elsewhere.
    """
    checked = system.evaluator.arguments.with_leading_axes
    arrays = {name: checked(name, value) for name, value in given.items()}
    arrays["t"] = times_of(t, "nan")[..., None]
    leading = common_axes({name: array.shape[:-1] for name, array in arrays.items()})
    if not leading:
        return (*list(arrays.values())[:-1], arrays["t"][..., 0])
    wide = [np.broadcast_to(array, (*leading, array.shape[-1])) for array in arrays.values()]
    return (*wide[:-1], wide[-1][..., 0])


def by_sample(
    leading: tuple[int, ...], on_error: str, compute: Callable[[tuple[int, ...]], None]
) -> None:
    """Call a function for the index of each sample; a note of its error names the sample."""
    check_on_error(on_error)
    for index in np.ndindex(leading):
        try:
            compute(index)
        except MbkitError as error:
            if on_error == "raise":
                if index:
                    error.add_note(f"That is sample {list(index)}.")
                raise
