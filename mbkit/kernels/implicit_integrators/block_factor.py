"""L U of a matrix by blocks, of a pattern that is symmetric, in an order that is given.

Eliminating the unknowns of a node leaves  S_pq -= S_pc S_cc^-1 S_cq  for all nodes p, q that are
coupled with it and come later; pivots are exchanged inside of S_cc alone. Source: Davis, *Direct
Methods for Sparse Linear Systems*, SIAM 2006, chapters 6 and 7.
Cost: the square of the width of each node, times its size.
"""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    floats_at,
    helper,
    integers_at,
    records_at,
)
from mbkit.kernels.implicit_integrators.layout import NODE
from mbkit.kernels.implicit_integrators.step_memory import flags_at, memory_of
from mbkit.kernels.linear_algebra.lu import eliminate, solve
from mbkit.kernels.linear_algebra.pivot_orders import own_integers_at
from mbkit.kernels.status import OK, SINGULAR_STEP, failure


@helper
def nodes_of(record):
    """The nodes, in the order of elimination."""
    return records_at(record.nodes, record.num_nodes, NODE)


@helper
def right_of(record, node):
    """The rows of a node: its own block, and the entries right of it."""
    entries = floats_at(record.matrix, record.num_entries)
    width = node.count + node.width
    return entries[node.right : node.right + node.count * width].reshape((node.count, width))


@helper
def below(record, node):
    """The entries of a node below its own block."""
    entries = floats_at(record.matrix, record.num_entries)
    return entries[node.below : node.below + node.width * node.count].reshape(
        (node.width, node.count)
    )


@helper
def neighbours_of(record, node):
    """The numbers of the nodes that it is coupled with."""
    every = integers_at(record.neighbours, record.num_neighbours)
    return every[node.first_neighbour : node.first_neighbour + node.num_neighbours]


@helper
def set_largest(record, largest):
    """The largest entry of each column."""
    nodes = nodes_of(record)
    largest[:] = 0.0
    for c in range(nodes.shape[0]):
        node = nodes[c]
        A = right_of(record, node)
        B = below(record, node)
        for j in range(node.count):
            most = largest[node.first + j]
            for i in range(node.count):
                most = max(most, abs(A[i, j]))
            for i in range(node.width):
                most = max(most, abs(B[i, j]))
            largest[node.first + j] = most
        neighbours = neighbours_of(record, node)
        column = node.count
        for p in range(neighbours.shape[0]):
            other = nodes[neighbours[p]]
            for j in range(other.count):
                for i in range(node.count):
                    size = abs(A[i, column + j])
                    largest[other.first + j] = max(largest[other.first + j], size)
            column += other.count


@helper
def solve_right(A):
    """[L U, L^-1 R] become L U, and S^-1 R."""
    n = A.shape[0]
    wide = A.shape[1]
    for k in range(n - 1, -1, -1):
        row = A[k]
        for i in range(k + 1, n):
            other = A[i]
            for j in range(n, wide):
                row[j] -= row[i] * other[j]
        for j in range(n, wide):
            row[j] /= row[k]


@helper
def update(record, node, nodes, A, room):
    """Update later blocks by the elimination of a node; room for its width."""
    entries = floats_at(record.matrix, record.num_entries)
    updates = integers_at(record.updates, record.num_updates)
    neighbours = neighbours_of(record, node)
    B = below(record, node)
    n = node.count
    wide = node.width
    product = room[:wide]
    r = 0
    u = node.first_update
    for p in range(neighbours.shape[0]):
        for i in range(nodes[neighbours[p]].count):
            product[:] = 0.0
            left = B[r]
            for k in range(n):
                factor = left[k]
                right = A[k, n:]
                for j in range(wide):
                    product[j] += factor * right[j]
            column = 0
            for q in range(neighbours.shape[0]):
                size = nodes[neighbours[q]].count
                start = updates[u + 2 * q] + i * updates[u + 2 * q + 1]
                target = entries[start : start + size]
                for j in range(size):
                    target[j] -= product[column + j]
                column += size
            r += 1
        u += 2 * neighbours.shape[0]


@helper
def factorise_blocks(record):
    """Factorise the matrix in place."""
    nodes = nodes_of(record)
    largest = floats_at(record.largest, record.n)
    room = floats_at(record.sorted, record.n)
    pivots = own_integers_at(record.pivots, record.n)
    set_largest(record, largest)
    for c in range(nodes.shape[0]):
        node = nodes[c]
        first = node.first
        end = first + node.count
        A = right_of(record, node)
        lost = eliminate(A, pivots[first:end], largest[first:end])
        if lost >= 0:
            return failure(SINGULAR_STEP, flags_at(record.order, record.n)[first + lost])
        solve_right(A)
        update(record, node, nodes, A, room)
    return OK


@address_kernel("ip")
def solve_blocks(step, vector):
    """The vector, of a step's unknowns, becomes S^-1 times it."""
    record = memory_of(step)
    change = as_array(vector, record.n)
    order = flags_at(record.order, record.n)
    pivots = own_integers_at(record.pivots, record.n)
    x = floats_at(record.sorted, record.n)
    nodes = nodes_of(record)
    for k in range(record.n):
        x[k] = change[order[k]]
    for c in range(nodes.shape[0]):
        node = nodes[c]
        end = node.first + node.count
        own = x[node.first : end]
        solve(right_of(record, node), pivots[node.first : end], own)
        B = below(record, node)
        neighbours = neighbours_of(record, node)
        r = 0
        for p in range(neighbours.shape[0]):
            other = nodes[neighbours[p]]
            for i in range(other.count):
                total = 0.0
                row = B[r]
                for k in range(node.count):
                    total += row[k] * own[k]
                x[other.first + i] -= total
                r += 1
    for c in range(nodes.shape[0] - 1, -1, -1):
        node = nodes[c]
        A = right_of(record, node)
        neighbours = neighbours_of(record, node)
        for k in range(node.count):
            row = A[k]
            column = node.count
            total = 0.0
            for p in range(neighbours.shape[0]):
                other = nodes[neighbours[p]]
                for i in range(other.count):
                    total += row[column + i] * x[other.first + i]
                column += other.count
            x[node.first + k] -= total
    for k in range(record.n):
        change[order[k]] = x[k]
    return OK
