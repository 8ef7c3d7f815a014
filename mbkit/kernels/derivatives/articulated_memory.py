"""Memory of the derivatives of forward dynamics, in the memory for columns of a workspace."""

from typing import Any, NamedTuple

import numpy as np

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.layout import SPACE

#: Columns of the result that are carried outwards at once: those of one body stay in the cache.
BLOCK = 64

#: Numbers a velocity: S, U, D, b and vdot; and a row of the tree: G and its level.
VELOCITY_SIZE = 17
ROW_SIZE = 19
LEVEL_SIZE = 6 * BLOCK


class Tree(NamedTuple):
    """What all passes read: the tree, its scratch, directions, changes of joints and `Memory`."""

    model: Any
    scratch: Any
    directions: Any
    changes: Any
    memory: Any


class Memory(NamedTuple):
    """What is kept between the passes.

    Attributes
    ----------
    columns : (nv, 16)
        S (6), U (6), D and b (3) of each velocity.
    vdot : (nv,)
        Accelerations.
    G : (bodies + 1, 18)
        How the wrench of a body changes with the turn of all that is beyond its joint, row by row.
    level : (bodies + 1,)
        Where in `A` the accelerations of a body are.
    A : (levels, 6, BLOCK)
        Changes of accelerations.
    """

    columns: Any
    vdot: Any
    G: Any
    level: Any
    A: Any


def memory_size(parents: Any, nv: int) -> int:
    """Return how many numbers it takes; `parents` (bodies + 1,) are those in the tree."""
    children = np.bincount(parents[1:], minlength=1)
    levels = 1 + int(np.count_nonzero(children[1:] > 1))
    return VELOCITY_SIZE * nv + ROW_SIZE * len(parents) + LEVEL_SIZE * levels


@helper
def set_levels(model, level):
    """The level of each body: that of its parent where it is the last child, else one more.

    Bodies are depth-first, so that what the last child makes of its parent's accelerations can be
    in the place of these: nothing else needs them any more. A chain has one level. Returns their
    number.
    """
    count = 1
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
    """The memory, divided, with the levels."""
    nv = model[0].num_velocities
    num_rows = model.shape[0]
    a = 16 * nv
    b = a + nv
    c = b + 18 * num_rows
    d = c + num_rows
    address = records_at(space, 1, SPACE)[0].columns
    e = d + LEVEL_SIZE * set_levels(model, floats_at(address, d)[c:])
    memory = floats_at(address, e)
    return Memory(
        memory[:a].reshape((nv, 16)),
        memory[a:b],
        memory[b:c].reshape((num_rows, 18)),
        memory[c:d],
        memory[d:e].reshape(((e - d) // LEVEL_SIZE, 6, BLOCK)),
    )
