"""Memory of the derivatives of forward dynamics, in the memory for columns of a workspace."""

from typing import Any, NamedTuple

import numpy as np

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.derivatives.branches import stack_memory_size, stack_size
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.layout import SPACE

#: Columns of the result that are carried outwards at once: those of one body stay in the cache.
BLOCK = 64

#: Numbers of a direction on the stack: the angular part of n, with which the bodies beyond turn.
TURN_SIZE = 3

#: Numbers of a velocity: S, U, D and b; and of the operator G of a body.
COLUMN_SIZE = 16
OPERATOR_SIZE = 18
LEVEL_SIZE = 6 * BLOCK


class Tree(NamedTuple):
    """Arguments of all passes: tree, scratch, directions, changes of joints, `Memory`, `Known`."""

    model: Any
    scratch: Any
    directions: Any
    changes: Any
    memory: Any
    known: Any


class Known(NamedTuple):
    """Forces and accelerations that are given.

    Attributes
    ----------
    tau : (nv,)
        Forces, read where they are not unknown.
    vdot, prescribed : (nv,)
        Accelerations, read where `prescribed` is not zero; both are read only if `some` is true.
    """

    tau: Any
    vdot: Any
    prescribed: Any


class Memory(NamedTuple):
    """Memory kept between the passes.

    Attributes
    ----------
    columns : (16 nv,)
        S (6), U (6), D and b (3) of each velocity: `column_of`.
    vdot : (nv,)
        Accelerations.
    operators : (18 (bodies + 1),)
        G, how the wrench of a body changes with the turn of all that is beyond its joint, row by
        row: `operator_of`.
    heights : (bodies + 1,)
        How many directions of joints between a body and the world lie below its own in `stack`.
    stack : (stack_size(ndx + nv, TURN_SIZE),)
        n of the directions of joints between a joint and the world: steps and velocities.
    level : (bodies + 1,)
        Where in `A` the accelerations of a body are.
    A : (levels * LEVEL_SIZE,)
        Changes of accelerations, those of `SIDE_BY_SIDE` columns side by side.
    """

    columns: Any
    vdot: Any
    operators: Any
    heights: Any
    stack: Any
    level: Any
    A: Any


def memory_size(parents: Any, nv: int, ndx: int) -> int:
    """Return how many numbers it takes; `parents` (bodies + 1,) are those in the tree."""
    children = np.bincount(parents[1:], minlength=1)
    levels = 1 + int(np.count_nonzero(children[1:] > 1))
    of_velocities = (COLUMN_SIZE + 1) * nv + stack_memory_size(ndx + nv, TURN_SIZE)
    return of_velocities + (OPERATOR_SIZE + 2) * len(parents) + LEVEL_SIZE * levels


# to part rows of an array of two axes costs a call


@helper
def column_of(memory, k):
    """S, U, D and b of velocity k."""
    return memory.columns[COLUMN_SIZE * k : COLUMN_SIZE * (k + 1)]


@helper
def operator_of(memory, i):
    """G of body i."""
    return memory.operators[OPERATOR_SIZE * i : OPERATOR_SIZE * (i + 1)]


@helper
def is_driven(known, k):
    """Whether the acceleration of a velocity is prescribed."""
    return any_lane(known.prescribed[k] != 0.0)


@helper
def set_heights(model, heights):
    """Where on the stack the directions of each joint begin."""
    heights[0] = 0.0
    for i in range(1, model.shape[0]):
        row = model[model[i].parent]
        own = row.ndx + row.num_velocities if model[i].parent != 0 else 0
        heights[i] = heights[model[i].parent] + own


@helper
def set_levels(model, level):
    """The level of each body: that of its parent where it is the last child, else one more.

    Bodies are depth-first, so that what the last child makes of its parent's accelerations can be
    in the place of these: nothing else needs them any more. A chain has one level. Returns their
    number.
    """
    count = 1
    level[0] = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        level[i] = 0.0
        if row.parent != 0:
            last = row.end_column == model[row.parent].end_column
            level[i] = level[row.parent] + (0.0 if last else 1.0)
            count = max(count, whole(level[i]) + 1)
    return count


@helper
def articulated_memory(space, model):
    """The memory, divided, with the heights and the levels."""
    nv = model[0].num_velocities
    num_rows = model.shape[0]
    a = COLUMN_SIZE * nv
    b = a + nv
    c = b + OPERATOR_SIZE * num_rows
    d = c + num_rows
    e = d + stack_size(model[0].ndx + nv, TURN_SIZE)
    f = e + num_rows
    address = records_at(space, 1, SPACE)[0].columns
    level = floats_at(address, f)[e:]
    memory = floats_at(address, f + LEVEL_SIZE * set_levels(model, level))
    set_heights(model, memory[c:d])
    return Memory(memory[:a], memory[a:b], memory[b:c], memory[c:d], memory[d:e], level, memory[f:])
