"""Memory for the series of an evaluation, allocated at once and divided."""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper
from mbkit.kernels.new_numbers import new_numbers


class Room(NamedTuple):
    """Memory for series of `count` terms.

    Attributes
    ----------
    V : (bodies + 1, count, 6)
        Twists of the bodies of the tree, body-fixed.
    x : (count, 6)
        Twist of a row in its parent.
    rates : (count, nv)
        v as a series.
    triangle : (count, count, 6)
        See `mbkit.kernels.higher_orders.series`.
    columns : (6, count, 6)
        S of a joint.
    own : (count, 6)
        Twist of a piece.
    more : (3, count, 6)
        For the exponential of a sum.
    scalars : (10, count)
        For its coefficients.
    subspace : (54,)
        S and the bias of a piece at q, and the pose of a joint.
    """

    V: Any
    x: Any
    rates: Any
    triangle: Any
    columns: Any
    own: Any
    more: Any
    scalars: Any
    subspace: Any


#: S and the bias of a piece at q, and the pose of a joint.
SUBSPACE = 54


@helper
def room_size(model, plan):
    """How many numbers a room has."""
    count = plan.count
    size = 6 * count
    more = 64 * count if plan.num_pieces > 0 else 0
    return (
        model.shape[0] * size
        + count * (model[0].num_velocities + size)
        + 2 * size
        + more
        + SUBSPACE
    )


@helper
def room_at(memory, model, count, pieces):
    """The room in a memory; `count` is that of the plan."""
    num_rows = model.shape[0]
    nv = model[0].num_velocities
    more = count if pieces > 0 else 0
    a = 6 * num_rows * count
    b = a + 6 * count
    c = b + count * nv
    d = c + 6 * count * count
    e = d + 36 * more
    f = e + 6 * count
    g = f + 18 * more
    h = g + 10 * more
    return Room(
        memory[:a].reshape((num_rows, count, 6)),
        memory[a:b].reshape((count, 6)),
        memory[b:c].reshape((count, nv)),
        memory[c:d].reshape((count, count, 6)),
        memory[d:e].reshape((6, more, 6)),
        memory[e:f].reshape((count, 6)),
        memory[f:g].reshape((3, more, 6)),
        memory[g:h].reshape((10, more)),
        memory[h : h + SUBSPACE],
    )


@helper
def new_room(model, plan, given):
    """Memory for an evaluation, of numbers like the given ones, and the room in it."""
    memory = new_numbers(given, room_size(model, plan))
    return memory, room_at(memory, model, plan.count, plan.num_pieces)
