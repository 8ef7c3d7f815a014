"""Bodies and constraints with a common entry in the equations of an implicit step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import attrs
import numpy as np

from mbkit.kernels.layout import JOINT_NUM_VELOCITIES, JOINT_SIZE, JOINT_VELOCITY
from mbkit.systems.memory.arrays import SystemArrays


@final
@attrs.frozen(eq=False)
class Coupling:
    """Coupling of the rows of the tree, counted without the world."""

    firsts: list[int]  # first velocity of each row, and number of its velocities
    sizes: list[int]
    # the rows whose velocities are in the equations of each row without constraints, itself
    # included: those between it and the world, those beyond it, and those with a common force
    moves: list[set[int]]
    # these, and the rows that a common constraint moves: their steps are in its equations
    meets: list[set[int]]
    supports: list[list[int]]  # by constraint: the rows that it moves
    held: list[list[int]]  # by row: the constraints that move it
    first_rows: list[int]  # by constraint: its rows of velocity level
    num_rows: list[int]


def coupling_of(arrays: SystemArrays, largest_part: float) -> Coupling | None:
    """Return how the rows of a system are coupled.

    None if the rows between one and the world, or those of one force or constraint, have more than
    `largest_part` of all velocities. None also with local elimination of nested loops, which mostly
    share the same rows.
    """
    if arrays.closure.has_nested_loops:
        return None
    bodies = arrays.bodies[1:]
    firsts, sizes = bodies["first_velocity"].tolist(), bodies["num_velocities"].tolist()
    parents = (bodies["parent"] - 1).tolist()
    most = largest_part * sum(sizes)
    reach: list[int] = []  # velocities between a row and the world
    for parent, size in zip(parents, sizes, strict=True):
        reach.append(size + (reach[parent] if parent >= 0 else 0))
    if max(reach, default=0) > most:
        return None
    supports, first_rows, num_rows = _supports(arrays.closure)
    forces = [_inwards(rows, parents) for rows in _rows_of_forces(arrays)]
    for group in (*forces, *supports):
        if sum(sizes[i] for i in group) > most:
            return None
    moves: list[set[int]] = [set() for _ in sizes]
    for i in range(len(sizes)):
        for j in _inwards([i], parents):
            moves[i].add(j)
            moves[j].add(i)
    _join(moves, forces)
    meets = [set(each) for each in moves]
    _join(meets, supports)
    held: list[list[int]] = [[] for _ in sizes]
    for c, support in enumerate(supports):
        for i in support:
            held[i].append(c)
    return Coupling(firsts, sizes, moves, meets, supports, held, first_rows, num_rows)


def _join(groups: list[set[int]], cliques: list[list[int]]) -> None:
    """Let all of a clique be in the groups of all."""
    for clique in cliques:
        for i in clique:
            groups[i].update(clique)


def _inwards(rows: list[int], parents: list[int]) -> list[int]:
    """Return the rows, and those between them and the world."""
    found: set[int] = set()
    for start in rows:
        row = start
        while row >= 0 and row not in found:
            found.add(row)
            row = parents[row]
    return sorted(found)


def _supports(closure: Any) -> tuple[list[list[int]], list[int], list[int]]:
    """Return the rows that each constraint moves; where its own rows begin, and how many."""
    if not closure:
        return [], [], []
    table = closure.constraints
    supports = [sorted(row - 1 for row in rows) for rows in closure.supports]
    return supports, table["first_row"].tolist(), table["num_rows"].tolist()


def _rows_of_forces(arrays: SystemArrays) -> Iterator[list[int]]:
    """Yield the rows on which each force depends: those of its bodies, and of joints it names.

    A force on bodies that names no joints has the whole state where it is in Python; a compiled one
    has no use for it. A field acts on each body alone.
    """
    forces = arrays.forces
    row_of_velocity = np.repeat(
        np.arange(len(arrays.bodies) - 1), arrays.bodies["num_velocities"][1:]
    )
    for k, force in enumerate(forces.forces):
        kernels = force.kernels()
        if kernels is not None and kernels.field is not None:
            continue
        frames = np.asarray(forces.sites, dtype=np.int64)[forces.bodies[k][:-1]]
        rows = {int(row) - 1 for row in arrays.frames["row"][frames]} - {-1}
        if kernels is None or force.acts_on == "joints" or force.joints:
            rows |= set(row_of_velocity[_velocities(forces.joints[k])].tolist())
        yield sorted(rows)


def _velocities(joints: Any) -> list[int]:
    """Return the velocities of a force's joints."""
    table = np.asarray(joints).reshape(-1, JOINT_SIZE)
    return [
        k
        for joint in table
        for k in range(joint[JOINT_VELOCITY], joint[JOINT_VELOCITY] + joint[JOINT_NUM_VELOCITIES])
    ]
