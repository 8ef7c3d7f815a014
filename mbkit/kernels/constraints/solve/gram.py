"""A M^-1 A^T by blocks, from the response of the tree, and what separators have in its place."""

from mbkit.kernels.compile import at, floats_at, helper, integers_at
from mbkit.kernels.constraints.layout import (
    MATCH_COUNT,
    MATCH_HIGH,
    MATCH_LOW,
    MATCH_ROW,
    MATCH_SIZE,
    MATCH_VELOCITY,
)
from mbkit.kernels.constraints.workspace import (
    blocks,
    closure_of,
    constraints,
    pairs,
    response_of,
    separators,
    set_zero,
)
from mbkit.kernels.elementary import any_lane, sqrt
from mbkit.kernels.workspace import scratch_of


@helper
def multiply_floating(gram, pair, y_high, i, y_low, j):
    """The product of two responses of a floating body, which may be of the same constraint.

    By pointers: their entries are not looked for from the end where a number is negative.
    """
    own = pair.row == pair.column
    for r in range(y_high.shape[0]):
        a = at(y_high, r * y_high.shape[1] + i)
        a0, a1, a2, a3, a4, a5 = a[0], a[1], a[2], a[3], a[4], a[5]
        target = at(gram, pair.target + r * pair.stride)
        for s in range(r + 1 if own else y_low.shape[0]):
            b = at(y_low, s * y_low.shape[1] + j)
            value = a0 * b[0] + a1 * b[1] + a2 * b[2] + a3 * b[3] + a4 * b[4] + a5 * b[5]
            target[s] += value
            if own and s < r:
                at(gram, pair.target + s * pair.stride)[r] += value


@helper
def multiply_pair(closure, scratch, columns, gram, every, pair):
    """The product of two responses is added to their part of the matrix, with D of the columns."""
    high = every[pair.row]
    low = every[pair.column]
    y_high = response_of(closure, high)
    y_low = response_of(closure, low)
    matches = integers_at(pair.matches, MATCH_SIZE * pair.num_matches)
    for k in range(0, MATCH_SIZE * pair.num_matches, MATCH_SIZE):
        i = matches[k + MATCH_HIGH]
        j = matches[k + MATCH_LOW]
        if matches[k + MATCH_COUNT] == 6 and scratch[matches[k + MATCH_ROW]].taken_as_floating != 0:
            multiply_floating(gram, pair, y_high, i, y_low, j)
            continue
        for c in range(matches[k + MATCH_COUNT]):
            D = columns[matches[k + MATCH_VELOCITY] - c].D
            if any_lane(D != 0.0):
                for r in range(high.num_rows):
                    scaled = D * y_high[r, i + c]
                    start = pair.target + r * pair.stride
                    for s in range(low.num_rows):
                        gram[start + s] += scaled * y_low[s, j + c]


@helper
def set_gram(space):
    """A M^-1 A^T, where both constraints of a pair move a common column; B of separators."""
    scratch = scratch_of(space)
    closure = closure_of(space)
    gram = floats_at(closure.gram, closure.num_gram)
    set_zero(gram)
    every = constraints(closure)
    table = pairs(closure)
    for n in range(table.shape[0]):
        multiply_pair(closure, scratch, scratch, gram, every, table[n])
    set_separators(closure, scratch, gram, every)


@helper
def set_separators(closure, scratch, gram, every):
    """y times the root of D where a constraint moves a separator, and 1 on its diagonal."""
    entries = separators(closure)
    for n in range(entries.shape[0]):
        entry = entries[n]
        y = response_of(closure, every[entry.constraint])
        for c in range(entry.num_columns):
            root = (
                1.0
                if scratch[entry.row].taken_as_floating != 0
                else sqrt(scratch[entry.velocity - c].D)
            )
            for r in range(y.shape[0]):
                place = entry.target + r * entry.row_stride + c * entry.column_stride
                gram[place] = root * y[r, entry.place + c]
    if closure.num_unknowns > closure.num_rows:
        table = blocks(closure)
        for b in range(table.shape[0]):
            if table[b].is_separator != 0:
                for r in range(table[b].num_rows):
                    gram[table[b].start + r * (table[b].num_rows + 1)] = 1.0
