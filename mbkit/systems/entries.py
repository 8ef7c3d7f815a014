"""Velocities by name: those of a joint, or one of them; and calls for many samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import MbkitError, ShapeError, UsageError
from mbkit.systems.batches import check_on_error
from mbkit.systems.kinematics import Floats

if TYPE_CHECKING:
    from mbkit.systems.constrained import Constrained

__all__ = [
    "as_samples",
    "broadcast",
    "by_sample",
    "entries_of",
    "names_of",
    "vector_of",
    "velocity_sizes",
]


def entries_of(system: Constrained, names: Iterable[str], what: str) -> list[int]:
    """Return the entries of v that are named.

    Parameters
    ----------
    system : System
        Whose velocities.
    names : iterable of str
        Of joints, "hinge", or of one velocity of a joint, "ball[2]"; see `System.velocity_names`.
    what : str
        The argument, for messages.

    Returns
    -------
    list of int
        In the order of the names.

    Raises
    ------
    UsageError
        If they are no names, or name a velocity twice.
    NameUnknownError
        If there is no such joint in the tree.
    """
    if isinstance(names, str):
        names = [names]
    if not (isinstance(names, Iterable) and all(isinstance(name, str) for name in list(names))):
        raise UsageError(
            f"{what} must be names of joints, got {names!r}; for example "
            f"['{system.joint_names[0]}']."
        )
    found: list[int] = []
    for name in names:
        entries = _entries(system, name)
        if not set(entries).isdisjoint(found):
            raise UsageError(f"{what}: '{name}' is named twice; leave it out once.")
        found += entries
    return found


def _entries(system: Constrained, name: str) -> list[int]:
    if name in system.velocity_names:
        return [system.velocity_names.index(name)]
    place = system.velocity_slice(name)
    return list(range(place.start, place.stop))


def vector_of(system: Constrained, values: Any, what: str) -> tuple[list[int], Floats]:
    """Return the entries of v that a mapping names, and what it gives them, (..., entries)."""
    if not isinstance(values, Mapping):
        raise UsageError(
            f"{what} must be given by name, {{'{system.joint_names[0]}': 1.0}}; got {values!r}."
        )
    entries: list[int] = []
    parts: list[Floats] = []
    for name, value in values.items():
        mine = entries_of(system, [name], what)
        array = np.asarray(value, dtype=np.float64)
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
    return entries, np.concatenate([np.zeros((*leading, 0)), *wide], axis=-1)


def as_samples(array: Any) -> Any:
    """Return samples of one number with an axis for it: all axes are batch axes but that of (k, 1).

    So an array of shape (1,) is one sample, as one of shape (k,) is k.
    """
    return array if array.ndim > 1 and array.shape[-1] == 1 else array[..., None]


def names_of(system: Constrained, entries: Iterable[int]) -> list[str]:
    """Return the names of some velocities."""
    return [system.velocity_names[k] for k in entries]


def velocity_sizes(system: Constrained, q: ArrayLike, on_error: str) -> Floats:
    """Return how fast a unit of each velocity moves the body of its joint, (..., nv).

    In metres: angular velocities count by the length of the system. Columns that are divided by it
    can be compared.
    """
    S = system.motion_subspaces(q, on_error=on_error)
    length = system.arrays.closure.length
    weights = np.array([length] * 3 + [1.0] * 3)
    sizes = np.linalg.norm(S * weights, axis=-1)
    return np.where(sizes > 0.0, sizes, 1.0)


def broadcast(system: Constrained, t: ArrayLike, **given: Any) -> tuple[Any, ...]:
    """Return arguments with the same batch axes, t last.

    Parameters
    ----------
    system : System
        Whose arguments they are.
    t : array_like, shape (...)
        Time. [s]
    **given : array_like
        q, v, ... by name; see `Arguments.shapes`. A name in braces is checked elsewhere.

    Returns
    -------
    tuple of ndarray
        In the order given.

    Raises
    ------
    ShapeError
        If they do not fit, or do not broadcast.
    """
    checked = system.evaluator.arguments.with_leading_axes
    arrays = {name: checked(name, value) for name, value in given.items()}
    arrays["t"] = np.asarray(t, dtype=np.float64)[..., None]
    try:
        leading = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError:
        listed = ", ".join(f"{name} {array.shape[:-1]}" for name, array in arrays.items())
        raise ShapeError(f"The batch axes of the arguments do not broadcast: {listed}.") from None
    wide = [np.broadcast_to(array, (*leading, array.shape[-1])) for array in arrays.values()]
    return (*wide[:-1], wide[-1][..., 0])


def by_sample(
    leading: tuple[int, ...], on_error: str, compute: Callable[[tuple[int, ...]], None]
) -> None:
    """Call a function for the index of each sample; it says in a note which one failed."""
    check_on_error(on_error)
    for index in np.ndindex(leading):
        try:
            compute(index)
        except MbkitError as error:
            if on_error == "raise":
                if index:
                    error.add_note(f"That is sample {list(index)}.")
                raise
