"""The factor of a symmetric matrix by blocks, and solutions with it.

Blocks are eliminated in a given order; inside a block the largest pivot goes first, and what is
left of a row below its limit depends on the rows before it: it is left out. Source: Higham,
Accuracy and Stability of Numerical Algorithms, 2nd edition, section 10.3.

The matrix is positive semidefinite but for the blocks of separators, which are negative definite
whatever is eliminated before them: -1 and what constraints subtract. Such a matrix has a factor
L D L^T in every order, with D = 1 for constraints and -1 for separators. Source: Vanderbei,
"Symmetric quasidefinite matrices", SIAM J. Optim. 5 (1995) 100-113.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import at, floats_at, helper, integers_at
from mbkit.kernels.constraints.layout import (
    KEPT,
    MOST_OPENED,
    NEIGHBOUR_BLOCK,
    NEIGHBOUR_SIZE,
    NEIGHBOUR_START,
    PREFERENCE,
    ROUNDING,
)
from mbkit.kernels.constraints.solve.rank import INFINITE, drop_zeros, least_part
from mbkit.kernels.constraints.workspace import (
    blocks,
    chosen_rows,
    closure_of,
    constraints,
    counted_rows,
    separators,
)
from mbkit.kernels.elementary import all_lanes, any_lane, select, sqrt
from mbkit.kernels.linear_algebra.pivot_orders import entry, exchange, own_integers_at, put

#: What the factor leaves of a row, squared and by its size, from which on little rounding grows.
CLEAR = 1e-3


class Factor(NamedTuple):
    """A matrix by blocks, and its factor in the same place.

    Attributes
    ----------
    gram : (num_gram,)
        The blocks, one after another.
    blocks : (num_blocks,)
        Where they are.
    pivots, kept, limits : (num_unknowns,)
        The order of the rows of each block, whether they count, and from which pivot on.
    buffer : (num_buffer,)
        Memory for a row.
    """

    gram: Any
    blocks: Any
    pivots: Any
    kept: Any
    limits: Any
    buffer: Any


@helper
def factor_of(closure):
    """That of the constraints."""
    return Factor(
        floats_at(closure.gram, closure.num_gram),
        blocks(closure),
        own_integers_at(closure.pivots, closure.num_unknowns),
        own_integers_at(closure.kept, closure.num_unknowns),
        floats_at(closure.limits, closure.num_unknowns),
        floats_at(closure.buffer, closure.num_buffer),
    )


@helper
def swap(G, i, j, condition):
    """Rows and columns i and j of G change places where the condition holds."""
    for k in range(G.shape[0]):
        a, b = G[i, k], G[j, k]
        G[i, k] = select(condition, b, a)
        G[j, k] = select(condition, a, b)
    for k in range(G.shape[0]):
        a, b = G[k, i], G[k, j]
        G[k, i] = select(condition, b, a)
        G[k, j] = select(condition, a, b)


@helper
def largest_pivot(G, limits, k):
    """The row from k on with the largest pivot that counts, and whether there is one.

    The largest in parts of what the row was, which is what the limits go by.
    """
    best = k
    most = -1.0
    limit = 1.0
    for i in range(k, G.shape[0]):
        counts = G[i, i] > limits[i]
        if any_lane(counts):
            is_larger = counts & (G[i, i] * limit > most * limits[i])
            if any_lane(is_larger):
                best = select(is_larger, i, best)
                most = select(is_larger, G[i, i], most)
                limit = select(is_larger, limits[i], limit)
    return best, most > 0.0


@helper
def factorise_block(G, pivots, limits, kept):
    """P^T G P = L L^T in place, with P the pivots; return the rank. The limits change places, too.

    On the diagonal is one over that of L: a quotient takes as long as ten products. Samples side by
    side have pivots each, and the rank is the largest of theirs: where one has no further pivot,
    its column of L is zero.
    """
    n = G.shape[0]
    for i in range(n):
        pivots[i] = i
        kept[i] = 0
    for k in range(n):
        best, is_there = largest_pivot(G, limits, k)
        if not any_lane(is_there):
            return k
        for i in range(k + 1, n):
            is_best = best == i
            if any_lane(is_best):
                swap(G, i, k, is_best)
                exchange(pivots, i, k, is_best)
                exchange(limits, i, k, is_best)
        put(kept, pivots[k], 1, is_there)
        inverse = select(is_there, 1.0 / sqrt(G[k, k]), 0.0)
        G[k, k] = inverse
        for i in range(k + 1, n):
            G[i, k] *= inverse
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                G[i, j] -= G[i, k] * G[j, k]
                G[j, i] = G[i, j]
    return n


@helper
def solve_pivots(G, pivots, rank, X, buffer):
    """Each row x of X becomes (L^-1 P^T x^T)^T, its first `rank` entries."""
    for r in range(X.shape[0]):
        for i in range(G.shape[0]):
            buffer[i] = entry(X[r], pivots[i])
        for i in range(rank):
            X[r, i] = buffer[i]
    for i in range(rank):  # all rows beside each other: none waits for its own last entry
        for r in range(X.shape[0]):
            value = X[r, i]
            for j in range(i):
                value -= G[i, j] * X[r, j]
            X[r, i] = value * G[i, i]


@helper
def read_diagonal(closure, sizes):
    """The diagonal of A M^-1 A^T, one entry for each unknown."""
    gram = floats_at(closure.gram, closure.num_gram)
    table = blocks(closure)
    for b in range(table.shape[0]):
        block = table[b]
        for r in range(block.num_rows):
            sizes[block.first_row + r] = gram[block.start + r * block.num_rows + r]
    entries = separators(closure)
    every = constraints(closure)
    for n in range(entries.shape[0]):
        entry = entries[n]
        constraint = every[entry.constraint]
        for r in range(constraint.num_rows):
            for c in range(entry.num_columns):
                y = gram[entry.target + r * entry.row_stride + c * entry.column_stride]
                sizes[constraint.first_row + r] += y * y


@helper
def set_limits(space, sizes, limits):
    """The least pivot that counts, from the squared sizes of the rows.

    `kernels.constraints.solve.rank` decides which rows count; of many, those also depend on others
    of which the factor leaves less than a part of their own. Within a step the rows that counted
    where it began come first, and stay: loops are open there, which of the rows are solved for
    matters as much as they are, and accelerations that change from one set to another within a step
    are not smooth. Others count besides where a posture was singular.
    """
    closure = closure_of(space)
    top = 0.0
    for r in range(closure.num_rows):
        top = max(top, sizes[r])
    least = least_part(closure)
    late = max(least, min(PREFERENCE * least, MOST_OPENED * MOST_OPENED))
    follows = closure.follows != 0
    if not follows and closure.judged == 0:
        drop_zeros(space, least)
    first = chosen_rows(closure) if follows else counted_rows(closure)
    part = KEPT if follows or closure.judged != 0 else least
    for r in range(closure.num_rows):
        others = late * top if follows else INFINITE
        limits[r] = select(first[r] != 0, max(part * sizes[r], ROUNDING * top), others)


@helper
def part(gram, start, rows, columns):
    """A block of the matrix."""
    return gram[start : start + rows * columns].reshape((rows, columns))


@helper
def product(x, y, n):
    """The sum of n products, behind two pointers: those of common joints at one go."""
    if n == 5:
        return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4]
    if n == 3:
        return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    value = 0.0
    for k in range(n):
        value += x[k] * y[k]
    return value


@helper
def subtract_product(gram, X, Y, Z, sizes, sign):
    """Z -= sign X Y^T, parts of the matrix by where they begin; of Z = Z^T where X is Y."""
    high, low, n, rank = sizes
    for i in range(high):
        x = at(gram, X + i * n)
        z = at(gram, Z + i * low)
        if X == Y:
            for j in range(i + 1):
                value = z[j] - sign * product(x, at(gram, Y + j * n), rank)
                z[j] = value
                at(gram, Z + j * low)[i] = value
        else:
            for j in range(low):
                z[j] -= sign * product(x, at(gram, Y + j * n), rank)


@helper
def eliminate_block(factor, b):
    """Factorise the block b, and take what it does from those that come later; return its rank."""
    gram, table, pivots, kept, limits, buffer = factor
    block = table[b]
    n = block.num_rows
    first = block.first_row
    G = part(gram, block.start, n, n)
    own = pivots[first : first + n]
    rank = factorise_block(G, own, limits[first : first + n], kept[first : first + n])
    block.rank = rank
    neighbours = integers_at(block.neighbours, NEIGHBOUR_SIZE * block.num_neighbours)
    updates = integers_at(block.updates, block.num_updates)
    sign = -1.0 if block.is_separator != 0 else 1.0
    update = 0
    for p in range(block.num_neighbours):
        other = table[neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_BLOCK]]
        high = other.num_rows
        X = neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_START]
        solve_pivots(G, own, rank, part(gram, X, high, n), buffer)
        for q in range(p + 1):
            low = table[neighbours[NEIGHBOUR_SIZE * q + NEIGHBOUR_BLOCK]].num_rows
            Y = neighbours[NEIGHBOUR_SIZE * q + NEIGHBOUR_START]
            side = -sign if p == q and other.is_separator != 0 else sign
            subtract_product(gram, X, Y, updates[update], (high, low, n, rank), side)
            update += 1
    return rank


@helper
def factorise(closure):
    """Factorise the Gram matrix in place, given the limits; return its rank."""
    factor = factor_of(closure)
    total = 0
    for b in range(factor.blocks.shape[0]):
        total += eliminate_block(factor, b)
    return total


@helper
def is_clear(closure):
    """Whether of every row that counts the factor leaves a good part of its own size.

    Reads   the factor, and the squared sizes of the rows.
    """
    gram = floats_at(closure.gram, closure.num_gram)
    pivots = own_integers_at(closure.pivots, closure.num_unknowns)
    sizes = floats_at(closure.largest, closure.num_unknowns)
    table = blocks(closure)
    most = 0.0
    for b in range(table.shape[0]):
        block = table[b]
        if block.is_separator == 0:
            first = block.first_row
            own = sizes[first : first + block.num_rows]
            for k in range(block.rank):
                root = gram[block.start + k * (block.num_rows + 1)]  # one over that of the pivot
                most = max(most, CLEAR * entry(own, pivots[first + k]) * root * root)
    return most <= 1.0


@helper
def over_root(value, inverse):
    """The value over a root on the diagonal, as it is where a sample has no such pivot."""
    is_there = inverse > 0.0
    if all_lanes(is_there):
        return value * inverse
    return select(is_there, value * inverse, value)


@helper
def forward_block(factor, b, x):
    """The part of `forward` of the block b; its own L^-1 x is left in the buffer."""
    gram, table, pivots, _, _, buffer = factor
    block = table[b]
    n = block.num_rows
    rank = block.rank
    own = x[block.first_row : block.first_row + n]
    order = pivots[block.first_row : block.first_row + n]
    G = part(gram, block.start, n, n)
    for i in range(n):
        value = entry(own, order[i])
        for j in range(min(i, rank)):
            value -= G[i, j] * buffer[j]
        if i < rank:
            value = over_root(value, G[i, i])
        buffer[i] = value
        put(own, order[i], value, True)
    sign = -1.0 if block.is_separator != 0 else 1.0
    neighbours = integers_at(block.neighbours, NEIGHBOUR_SIZE * block.num_neighbours)
    for p in range(block.num_neighbours):
        other = table[neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_BLOCK]]
        X = part(gram, neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_START], other.num_rows, n)
        for r in range(other.num_rows):
            value = product(at(X, r * n), at(buffer, 0), rank)
            x[other.first_row + r] -= sign * value


@helper
def forward(closure, x):
    """x becomes L^-1 x for the rows that count; for the others their remainder."""
    factor = factor_of(closure)
    for b in range(factor.blocks.shape[0]):
        forward_block(factor, b, x)


@helper
def backward_block(factor, b, x):
    """The part of `backward` of the block b."""
    gram, table, pivots, _, _, buffer = factor
    block = table[b]
    n = block.num_rows
    rank = block.rank
    own = x[block.first_row : block.first_row + n]
    order = pivots[block.first_row : block.first_row + n]
    G = part(gram, block.start, n, n)
    for i in range(n):
        buffer[i] = entry(own, order[i])
    neighbours = integers_at(block.neighbours, NEIGHBOUR_SIZE * block.num_neighbours)
    for p in range(block.num_neighbours):
        other = table[neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_BLOCK]]
        X = part(gram, neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_START], other.num_rows, n)
        for r in range(other.num_rows):
            value = x[other.first_row + r]
            for i in range(rank):
                buffer[i] -= X[r, i] * value
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, n):
            buffer[i] -= G[j, i] * buffer[j]
        buffer[i] = over_root(buffer[i], G[i, i])
        value = -buffer[i] if block.is_separator != 0 else buffer[i]
        put(own, order[i], value, G[i, i] > 0.0)


@helper
def backward(closure, x):
    """x becomes the solution of D L^T x = x for the rows that count; the others stay as given."""
    factor = factor_of(closure)
    for b in range(factor.blocks.shape[0] - 1, -1, -1):
        backward_block(factor, b, x)


@helper
def solve(closure, x):
    """x becomes a solution of G x = x, zero for the rows that were left out."""
    kept = own_integers_at(closure.kept, closure.num_unknowns)
    forward(closure, x)
    for r in range(closure.num_unknowns):
        x[r] = select(kept[r] == 0, 0.0, x[r])
    backward(closure, x)
