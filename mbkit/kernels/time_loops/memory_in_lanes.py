"""The memory of a step that several runs take side by side, each in a lane of the registers.

One piece, at the address of which it begins: the state, then the stages, then what the method has
of its own.
"""

from mbkit.kernels.compile import as_array, helper, pointer_after
from mbkit.kernels.explicit_integrators.stages import Stages
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.time_loops.records import State
from mbkit.kernels.workspace import bodies


@helper
def part_of(memory, first, count):
    """Some of the numbers, as an array."""
    return as_array(pointer_after(memory, first), count)


@helper
def table_of(memory, first, count, width):
    """The same in rows."""
    return as_array(pointer_after(memory, first), count * width).reshape((count, width))


@helper
def state_in(space, memory):
    """The state, at the begin of the memory."""
    nq = bodies(space)[0].num_positions
    nv = bodies(space)[0].num_velocities
    return State(
        part_of(memory, 0, nq), part_of(memory, nq, nv), part_of(memory, nq + nv, NUM_POWERS)
    )


@helper
def stages_in(space, memory, count):
    """The stages, behind the state; velocities are the rates of steps."""
    nq = bodies(space)[0].num_positions
    nv = bodies(space)[0].num_velocities
    first = nq + nv + NUM_POWERS
    v = part_of(memory, first + nv, nv)
    tables = first + 2 * (nv + nq)
    powers = tables + 2 * count * nv
    return Stages(
        table_of(memory, tables, count, nv), table_of(memory, tables + count * nv, count, nv),
        table_of(memory, powers, count, NUM_POWERS), part_of(memory, first, nv), v,
        part_of(memory, first + 2 * nv, nq), v, part_of(memory, first + 2 * nv + nq, nq),
    )  # fmt: skip


def size_of_stages(nq: int, nv: int, count: int) -> int:
    """Return how many numbers the state and the stages are."""
    return (nq + nv + NUM_POWERS) + 2 * (nv + nq) + count * (2 * nv + NUM_POWERS)


@helper
def behind_stages(space, memory, count):
    """Memory that the method has for itself, behind that of the stages."""
    nq = bodies(space)[0].num_positions
    nv = bodies(space)[0].num_velocities
    first = nq + nv + NUM_POWERS
    return pointer_after(memory, first + 2 * (nv + nq) + count * (2 * nv + NUM_POWERS))
