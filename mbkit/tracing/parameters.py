"""Parameters that stay free, and the numbers of a system that kernels read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError, several, suggestion
from mbkit.kernels.layout import OWN_FRAME_SIZE
from mbkit.systems.memory.workspace import Workspace
from mbkit.tracing.memory import memory_at

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.systems.memory.closure import ClosureArrays

__all__ = ["Free", "flat", "free_parameter", "numbers_of", "read_parameters"]

_INDEX = re.compile(r"(.*)\[(\d+(?:\s*,\s*\d+)*)\]")


@final
@attrs.frozen
class Free:
    """A parameter that stays free, or entries of one.

    Attributes
    ----------
    path : str
        Its name in `System.parameters`.
    label : str
        Its name here.
    entries : tuple of tuples of int
        Indices of its numbers, () for a number; those of a symmetric matrix once.
    shape : tuple of int
        Shape of its symbol, () for an entry.
    values : tuple of float
        The values of the entries in the system.
    """

    path: str
    label: str
    entries: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def symmetric(self) -> bool:
        """Whether it stands for a whole symmetric matrix."""
        return self.shape == (3, 3) and len(self.entries) == 6


def read_parameters(
    what: str, system: System, given: Iterable[str] | Mapping[str, str]
) -> tuple[Free, ...]:
    """Return the parameters that stay free, by the names that a caller gave.

    Names are those of `System.parameters`, with an index for one entry, ``"bodies.rod.com[2]"``; a
    mapping gives them other labels.
    """
    if not several(given) or isinstance(given, str | np.ndarray):
        raise UsageError(
            f"{what}: parameters must be names of System.parameters, in a list, such as "
            f"['gravity'], or a mapping of these to labels, got {given!r}."
        )
    pairs = given.items() if isinstance(given, Mapping) else [(name, name) for name in given]
    known = system.parameters
    found: dict[str, Free] = {}
    for name, label in pairs:
        if not isinstance(name, str) or not isinstance(label, str) or not label:
            raise UsageError(
                f"{what}: parameters and labels must be text, got {name!r}: {label!r}."
            )
        match = _INDEX.fullmatch(name)
        path = match[1] if match else name
        if path not in known:
            raise NameUnknownError(
                f"{what}: system '{system.name}' has no parameter {path!r}; "
                f"{suggestion(path, known)}"
            )
        value = np.asarray(known[path], dtype=np.float64)
        index = tuple(map(int, match[2].split(","))) if match else None
        made = found[name] = _free(what, path, label, value, index)
        for other, each in found.items():
            if other != name and each.path == path and {*each.entries} & {*made.entries}:
                raise UsageError(
                    f"{what}: parameters {other!r} and {name!r} overlap, and would add up; name "
                    f"each number once."
                )
    return tuple(found.values())


def free_parameter(what: str, path: str, system: System) -> Free:
    """Return a whole parameter of a system, which stays free."""
    return _free(what, path, path, np.asarray(system.parameters[path], dtype=np.float64), None)


def _free(what: str, path: str, label: str, value: Any, index: tuple[int, ...] | None) -> Free:
    pose = value.shape == (4, 4)
    if index is not None:
        inside = len(index) == value.ndim and all(map(int.__lt__, index, value.shape))
        if not inside or (pose and not (index[0] < 3 and index[1] == 3)):
            rule = (
                "of a pose, the position [i, 3] alone, or the whole"
                if pose
                else f"its shape is {value.shape}"
            )
            raise UsageError(f"{what}: {path!r} has no entry {[*index]} that can be free; {rule}.")
        return Free(path, label, (index,), (), (float(value[index]),))
    entries: Any = tuple(np.ndindex(value.shape))
    if pose:
        entries = entries[:12]
    elif value.shape == (3, 3) and path.endswith("moment_about_com"):
        entries = tuple(itertools.combinations_with_replacement(range(3), 2))
    return Free(path, label, entries, value.shape, tuple(float(value[e]) for e in entries))


class Numbers(NamedTuple):
    """An array of doubles that kernels read: its address and content."""

    address: int
    array: Any


def numbers_of(system: System, workspace: Workspace) -> list[Numbers]:
    """Return the arrays of numbers that assembly makes for kernels, always in one order."""
    from mbkit.kernels.compile import array_address

    arrays, record = system.arrays, workspace.record[0]
    found = [
        Numbers(int(record["bodies"]), arrays.bodies),
        Numbers(int(record["frames"]), arrays.frames),
        Numbers(int(workspace.address), workspace.record),
    ]
    for row, joint in zip(arrays.bodies, arrays.joints, strict=True):
        if row["own_frame"]:
            found.append(_doubles(row["own_frame"], OWN_FRAME_SIZE))
        if joint is not None and row["parameters"] and joint.kernels() is not None:
            found.append(_doubles(row["parameters"], len(joint.parameters())))
    pieces = arrays.joint_pieces
    tables = (pieces.table, *(each for each in pieces.owners if isinstance(each, np.ndarray)))
    found += [Numbers(array_address(table), table) for table in tables]
    if arrays.closure:
        found += _of_constraints(arrays.closure, workspace)
    if arrays.forces.forces:
        found += [
            _doubles(row["parameters"], max(1, int(row["num_parameters"])))
            for row in workspace.force_table
        ]
        found.append(Numbers(int(record["linear"]), arrays.forces.linear))
        found.append(Numbers(int(record["springs"]), workspace.springs))
    return found


def _of_constraints(closure: ClosureArrays, workspace: Workspace) -> Iterator[Numbers]:
    """Give those of loop joints, and of constraints that have compiled functions."""
    memory: Any = workspace.closure
    record = memory.record[0]
    yield Numbers(int(record["sites"]), closure.sites)
    yield Numbers(int(record["joints"]), closure.joint_rows)
    for row, joint in zip(closure.joint_rows, closure.joints, strict=True):
        if joint is not None and row["parameters"] and joint.kernels() is not None:
            yield _doubles(row["parameters"], len(joint.parameters()))
    for row in closure.constraints[closure.num_joints :]:
        if row["num_parameters"]:
            yield _doubles(row["parameters"], int(row["num_parameters"]))


def _doubles(address: Any, count: int) -> Numbers:

    return Numbers(int(address), memory_at(int(address), count, np.dtype(np.float64)))


def doubles_of(numbers: Iterable[Numbers]) -> Iterator[tuple[str | None, Any]]:
    """Give the doubles of arrays, of each field of a table by itself, with its name."""
    for _, array in numbers:
        for name in array.dtype.names or (None,):
            part = array if name is None else array[name]
            if part.dtype == np.float64:
                yield name, np.ravel(part)


def flat(numbers: Iterable[Numbers]) -> Any:
    """Return all doubles of arrays in a row."""
    return np.concatenate([part for _, part in doubles_of(numbers)])
