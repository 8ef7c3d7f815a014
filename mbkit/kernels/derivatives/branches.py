"""Matrices of velocities of joints and directions of joints of the same branch, row by row.

A row is that of a velocity of joint i, with its column S and two wrenches U and b that it has by
what is beyond i. An entry of it, with a direction of joint j, is

    S . W_j              for j beyond i: W_j is the wrench that the bodies beyond j need for it,
    U . a_j + b . n_j    for j between i and the world, and i: (n_j, a_j) is how these bodies move,

b and n angular, and zero where i and j are in different branches.

Bodies of the tree are depth-first, so that the directions beyond a joint follow each other. Those
between a joint and the world lie on a stack, each at the height of its joint, while bodies are gone
through from the last to the first: what is beyond a joint is then done before it, and a direction
comes to the stack once and stays as long as it is needed. Each joint has `ndx` directions in both.
One that is nonholonomic has fewer velocities: the last is there several times, for which
`velocity_of_direction` is. Both are cut to blocks of eight directions: the numbers of a block lie
one behind the other, and those of its directions side by side, as
`mbkit.kernels.simd.weighted_sums` wants them.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper
from mbkit.kernels.integers_in_floats import index, whole
from mbkit.kernels.simd.weighted_sums import SIDE_BY_SIDE, weigh
from mbkit.kernels.vectors import angular, linear

#: k = 8 (k >> 3) + (k & 7).
_SHIFT = 3
_REST = SIDE_BY_SIDE - 1

#: Where a block has the columns of its directions in a row, after W, and its entries of one row.
_COLUMN = 6 * SIDE_BY_SIDE
_ENTRY = 7 * SIDE_BY_SIDE
_BLOCK = 8 * SIDE_BY_SIDE

#: How many numbers of a direction lie on the stack: a and n; and how long its blocks are, in which
#: the columns of the directions and their entries of one row come after them.
_STACKED = 9
_STACK_BLOCK = (_STACKED + 2) * SIDE_BY_SIDE

#: Matrices that there is memory for at once: of derivatives by q and by v, and the mass matrix.
MATRICES = 3


class Branches(NamedTuple):
    """The directions of a matrix: those beyond joints, and those on the stack, by blocks."""

    beyond: Any
    stack: Any


class Spans(NamedTuple):
    """Where the directions of joints are.

    Attributes
    ----------
    heights : (bodies + 1,)
        How many of other joints lie below those of a joint on the stack.
    ends : (bodies + 1,)
        The end of those beyond a joint.
    """

    heights: Any
    ends: Any


class Span(NamedTuple):
    """The directions that a row has entries with: up to `top` on the stack, from first to end."""

    top: Any
    first: Any
    end: Any


def memory_size(num_rows: int, ndx: int) -> int:
    """Return how many numbers the directions of `MATRICES` and spans take."""
    return MATRICES * (_BLOCK + _STACK_BLOCK) * -(-ndx // SIDE_BY_SIDE) + 2 * num_rows


def stack_memory_size(num_directions: int, count: int) -> int:
    """Return how many numbers a stack takes of so many directions, each with `count` numbers."""
    return (count + 2) * SIDE_BY_SIDE * -(-num_directions // SIDE_BY_SIDE)


@helper
def branches_size(ndx):
    """How many numbers the directions of one matrix take."""
    return (_BLOCK + _STACK_BLOCK) * ((ndx + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE)


@helper
def branches_in(memory):
    """The directions of a matrix in so many numbers."""
    end = memory.shape[0] // (_BLOCK + _STACK_BLOCK) * _BLOCK
    return Branches(memory[:end], memory[end:])


@helper
def stack_size(num_directions, count):
    """The same in kernels."""
    return (count + 2) * SIDE_BY_SIDE * ((num_directions + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE)


@helper
def spans_size(num_rows):
    """How many numbers spans take."""
    return 2 * num_rows


@helper
def spans_in(model, memory):
    """The spans of a tree in so many numbers; ends are there when they have been set."""
    num_rows = model.shape[0]
    heights = memory[:num_rows]
    heights[0] = 0.0
    for i in range(1, num_rows):
        parent = model[i].parent
        heights[i] = heights[parent] + (model[parent].ndx if parent != 0 else 0)
    return Spans(heights, memory[num_rows:])


@helper
def height_of(spans, i):
    """Where on the stack the directions of a joint begin."""
    return whole(spans.heights[i])


@helper
def set_end(spans, i, end):
    """Note where the directions beyond joint i end: those of the row that it is pushed for."""
    spans.ends[i] = end


@helper
def span_of(spans, row, i, first):
    """The span of the rows of joint i, whose own directions begin at `first`."""
    return Span(height_of(spans, i) + row.ndx, first + row.ndx, whole(spans.ends[i]))


@helper
def velocity_of_direction(row, k):
    """The velocity of direction k of a joint."""
    return row.first_velocity + min(k, row.num_velocities - 1)


# -------------------------------------------------------------------------------- directions


@helper
def _put_vector(blocks, at, x):
    for j in range(3):
        blocks[index(at + SIDE_BY_SIDE * j)] = x[j]


@helper
def set_wrench(branches, k, t, f, column):
    """W of direction k, and its column."""
    blocks = branches.beyond
    at = (k >> _SHIFT) * _BLOCK + (k & _REST)
    _put_vector(blocks, at, t)
    _put_vector(blocks, at + 3 * SIDE_BY_SIDE, f)
    blocks[index(at + _COLUMN)] = column


@helper
def push(stack, height, numbers, column):
    """The numbers of a direction, such as a and n, and its column, on the stack."""
    count = len(numbers)
    at = (height >> _SHIFT) * (count + 2) * SIDE_BY_SIDE + (height & _REST)
    for j in range(count):
        stack[index(at + SIDE_BY_SIDE * j)] = numbers[j]
    stack[index(at + SIDE_BY_SIDE * count)] = column


@helper
def motion_numbers(a, n):
    """a and n of a direction, as `push` takes them."""
    x, y = angular(a), linear(a)
    return x[0], x[1], x[2], y[0], y[1], y[2], n[0], n[1], n[2]


# -------------------------------------------------------------------------------------- rows


@helper
def row_of(entries, k, width):
    """Row k of a matrix that lies in `entries`: to part rows of (rows, width) costs a call."""
    return entries[k * width : (k + 1) * width]


@helper
def _put(blocks, column, entry, count, row):
    """Entries of a block in their columns of the row."""
    for k in range(count):
        row[index(blocks[index(column + k)])] = blocks[index(entry + k)]


@helper
def set_row_between(stack, top, weights, row):
    """Weighted sums of their numbers: the entries of a row with the directions on a stack."""
    column = len(weights) * SIDE_BY_SIDE
    entry = column + SIDE_BY_SIDE
    block = 0
    while top > 0:
        weigh(stack, block, weights, block + entry)
        _put(stack, block + column, block + entry, min(SIDE_BY_SIDE, top), row)
        block += entry + SIDE_BY_SIDE
        top -= SIDE_BY_SIDE


@helper
def _beyond(blocks, first, end, S, row):
    """S . W."""
    weights = (S[0], S[1], S[2], S[3], S[4], S[5])
    block = (first >> _SHIFT) * _BLOCK
    lane = first & _REST
    left = end - first
    while left > 0:
        weigh(blocks, block, weights, block + _ENTRY)
        count = min(SIDE_BY_SIDE - lane, left)
        _put(blocks, block + _COLUMN + lane, block + _ENTRY + lane, count, row)
        block += _BLOCK
        left -= count
        lane = 0


@helper
def set_row(branches, span, S, U, b, row):
    """The entries of a row that is zero."""
    t, f = U
    weights = (t[0], t[1], t[2], f[0], f[1], f[2], b[0], b[1], b[2])
    set_row_between(branches.stack, span.top, weights, row)
    _beyond(branches.beyond, span.first, span.end, S, row)
