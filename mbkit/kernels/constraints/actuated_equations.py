"""Efforts of actuators and multipliers of closed mechanisms, for many right sides.

The velocities of a mechanism are actuated, a, or passive, p. Efforts u of the actuators and
multipliers l, with Lagrange multipliers y of the balance of forces, solve

    u + A_a^T l = f_a,    A_p^T l = f_p,
    y_a = -w u,  A y = g        for efforts of least sum w u^2,
    y_a = 0,     l + A y = g    for multipliers of least norm.

With P, the projection on the range of A_p, and E = w^(1/2) A_a^T (1 - P),

    l = l_0 + s,    l_0 = A_p^T+ f_p,
    s = E^+ w^(1/2) (f_a - A_a^T l_0) + (E^T E)^+ g    or    s = (1 - P) g.

Two spaces are left open. If efforts are least and rows depend on others, to l may be added what
no motion feels, k with A^T k = 0: this part is taken from a given h. To y_p may be added motions
that actuators do not feel.

Velocities are divided by their sizes, and so compared as displacements of bodies. The ranks of A
and of A_p are those of the rule of `mbkit.solvers.solver.RANK`, that of E is their difference.
Source: Kim 2012, section 3, for the efforts; Boyd and Vandenberghe, Convex Optimization, section
10.1, for the equations.
Cost: dense, O(nv m rank) for the factors and O((nv + m) rank) a column; zeros are passed over.
"""

from typing import NamedTuple

from mbkit.kernels.compile import (
    float64,
    floats,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    stack,
    typed,
)
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.linear_algebra.orthogonal_factors import (
    Orthogonal,
    OrthogonalMemory,
    add_multiple,
    add_projection,
    decompose,
    solve_upper,
    solve_upper_transposed,
    subtract_combination,
)
from mbkit.kernels.status import OK


class Actuated(NamedTuple):
    """The equations of N states."""

    A: stack  # (N, m, nv)
    sizes: floats  # (nv,)
    actuated: integers  # (a,), which velocities these are
    passive: integers  # (p,)
    roots: floats  # (a,), w^(1/2); one where multipliers are least
    is_by_efforts: int64  # whether efforts are least


class Factors(NamedTuple):
    """Of N states, one after another."""

    whole: typed(Orthogonal)  # of A^T
    passive: typed(Orthogonal)  # of A_p
    efforts: typed(Orthogonal)  # of E^T


class Memory(NamedTuple):
    """Memory for the factors of one state: the matrices, and working memory of each."""

    A: matrix  # (nv, m), A^T
    A_p: matrix  # (m, p)
    E: matrix  # (m, a), E^T
    whole: typed(OrthogonalMemory)
    passive: typed(OrthogonalMemory)
    efforts: typed(OrthogonalMemory)
    along: matrix  # (rank of A_p at most, a)


class Adjoints(NamedTuple):
    """Of N solutions u and l."""

    efforts: matrix  # (N, nv), u
    multipliers: matrix  # (N, m), l
    y: matrix  # (N, nv)
    mu: matrix  # (N, nv), the smallest of all for which the multipliers are A mu


class Sides(NamedTuple):
    """Right sides by k columns; those without any middle axis are zero."""

    forces: stack  # (N, nv, k), f
    turned: stack  # (N, m, k), -g
    hidden: stack  # (N, m, k), h


class Found(NamedTuple):
    """Solutions by k columns."""

    efforts: stack  # (N, nv, k), zero at passive velocities
    multipliers: stack  # (N, m, k)


class Columns(NamedTuple):
    """Memory for k columns."""

    passive: matrix  # (p, k)
    driven: matrix  # (a, k)
    rows: matrix  # (m, k)
    every: matrix  # (nv, k)
    of_whole: matrix  # (most, k), by the ranks of the factors
    of_passive: matrix  # (most, k)
    of_efforts: matrix  # (most, k)


@helper
def clear(X):
    """X = 0."""
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            X[i, c] = 0.0


@helper
def take_across(X, Q, rank, Y):
    """X becomes (1 - Q Q^T) X; Y is memory."""
    clear(Y)
    add_projection(Y, Q, rank, X)
    subtract_combination(X, Q, rank, Y)


@helper
def set_matrices(equations, n, memory):
    """A^T, A_p and w^(1/2) A_a^T of one state. Returns the norm of the largest row of A."""
    A, sizes = equations.A[n], equations.sizes
    actuated, passive, roots = equations.actuated, equations.passive, equations.roots
    largest = 0.0
    for r in range(A.shape[0]):
        square = 0.0
        for k in range(A.shape[1]):
            memory.A[k, r] = A[r, k] / sizes[k]
            square += memory.A[k, r] * memory.A[k, r]
        for i in range(passive.shape[0]):
            memory.A_p[r, i] = memory.A[passive[i], r]
        for i in range(actuated.shape[0]):
            memory.E[r, i] = roots[i] * A[r, actuated[i]]
        largest = max(largest, square)
    return sqrt(largest)


@helper
def factorise(equations, tolerance, n, factors, memory):
    """The factors of one state."""
    whole, passive, efforts = factors.whole, factors.passive, factors.efforts
    least = tolerance * set_matrices(equations, n, memory)
    decompose(memory.A, whole, n, least, memory.whole)
    decompose(memory.A_p, passive, n, least, memory.passive)
    more = max(0, whole.rank[n] - passive.rank[n])
    efforts.rank[n] = min(efforts.rank[n], more)
    for _ in range(2):  # one leaves rounding, in parts of all of a column
        take_across(memory.E, passive.Q[n], passive.rank[n], memory.along)
    decompose(memory.E, efforts, n, 0.0, memory.efforts)


@kernel(int64(typed(Actuated), float64, typed(Factors), typed(Memory)))
def factorise_all(equations, tolerance, factors, memory):
    """The factors of all states; `tolerance` is the part of a row that counts. Returns OK."""
    for n in range(equations.A.shape[0]):
        factorise(equations, tolerance, n, factors, memory)
    return OK


@helper
def set_adjoints(equations, n, factors, adjoints, columns):
    """y and mu of one state."""
    A, sizes, roots = equations.A[n], equations.sizes, equations.roots
    actuated, passive, y = equations.actuated, equations.passive, adjoints.y[n]
    own, whole = factors.passive, factors.whole
    rows, across, every = columns.rows, columns.passive, columns.every
    x, z = columns.of_passive, columns.of_whole
    is_by_efforts = equations.is_by_efforts != 0
    for i in range(actuated.shape[0]):
        weighed = -roots[i] * roots[i] * adjoints.efforts[n, actuated[i]]
        y[actuated[i]] = weighed if is_by_efforts else 0.0
    for r in range(A.shape[0]):
        rows[r, 0] = 0.0 if is_by_efforts else adjoints.multipliers[n, r]
        for i in range(actuated.shape[0]):
            rows[r, 0] += A[r, actuated[i]] * y[actuated[i]]
    clear(x)
    add_projection(x, own.Q[n], own.rank[n], rows)
    solve_upper_transposed(own.C[n], own.rank[n], x)
    clear(across)
    subtract_combination(across, own.U[n], own.rank[n], x)
    for i in range(passive.shape[0]):
        y[passive[i]] = across[i, 0] / sizes[passive[i]]
    for r in range(A.shape[0]):
        rows[r, 0] = -adjoints.multipliers[n, r]
    clear(z)
    add_projection(z, whole.U[n], whole.rank[n], rows)
    solve_upper(whole.C[n], whole.rank[n], z)
    clear(every)
    subtract_combination(every, whole.Q[n], whole.rank[n], z)
    for k in range(every.shape[0]):
        adjoints.mu[n, k] = every[k, 0] / sizes[k]


@kernel(int64(typed(Actuated), typed(Factors), typed(Adjoints), typed(Columns)))
def set_adjoints_all(equations, factors, adjoints, columns):
    """y and mu of all states, with memory for one column. Returns OK."""
    for n in range(equations.A.shape[0]):
        set_adjoints(equations, n, factors, adjoints, columns)
    return OK


@helper
def subtract_efforts(equations, n, multipliers, X):
    """X (a, k) -= A_a^T l."""
    A, actuated = equations.A[n], equations.actuated
    for i in range(actuated.shape[0]):
        for r in range(A.shape[0]):
            add_multiple(X[i], -A[r, actuated[i]], multipliers[r])


@helper
def set_driven(equations, n, forces, columns):
    """The forces f_a of one state."""
    actuated = equations.actuated
    for i in range(actuated.shape[0]):
        for c in range(columns.driven.shape[1]):
            columns.driven[i, c] = forces[n, actuated[i], c]


@helper
def add_least_efforts(equations, n, factors, sides, columns, multipliers):
    """Add s to multipliers that are l_0, by least efforts."""
    own, roots = factors.efforts, equations.roots
    driven, x = columns.driven, columns.of_efforts
    clear(x)
    if sides.turned.shape[1] != 0:
        add_projection(x, own.Q[n], own.rank[n], sides.turned[n])
        solve_upper_transposed(own.C[n], own.rank[n], x)
    set_driven(equations, n, sides.forces, columns)
    subtract_efforts(equations, n, multipliers, driven)
    for i in range(driven.shape[0]):
        for c in range(driven.shape[1]):
            driven[i, c] *= -roots[i]
    add_projection(x, own.U[n], own.rank[n], driven)
    solve_upper(own.C[n], own.rank[n], x)
    subtract_combination(multipliers, own.Q[n], own.rank[n], x)


@helper
def across_passive(given, n, factors, columns):
    """Return what is given (N, m, k) of multipliers of one state, across A_p; in memory."""
    rows, passive = columns.rows, factors.passive
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            rows[r, c] = given[n, r, c]
    take_across(rows, passive.Q[n], passive.rank[n], columns.of_passive)
    return rows


@helper
def add_rows(multipliers, sign, rows):
    """Add rows, or subtract them."""
    for r in range(rows.shape[0]):
        add_multiple(multipliers[r], sign, rows[r])


@helper
def solve(equations, n, factors, sides, found, columns):
    """The efforts and multipliers of one state."""
    sizes, actuated, passive = equations.sizes, equations.actuated, equations.passive
    own, x, across = factors.passive, columns.of_passive, columns.passive
    efforts, multipliers = found.efforts[n], found.multipliers[n]
    for i in range(passive.shape[0]):
        for c in range(across.shape[1]):
            across[i, c] = -sides.forces[n, passive[i], c] / sizes[passive[i]]
    clear(x)
    add_projection(x, own.U[n], own.rank[n], across)
    solve_upper(own.C[n], own.rank[n], x)
    clear(multipliers)
    subtract_combination(multipliers, own.Q[n], own.rank[n], x)
    if equations.is_by_efforts != 0:
        add_least_efforts(equations, n, factors, sides, columns, multipliers)
    elif sides.turned.shape[1] != 0:
        add_rows(multipliers, -1.0, across_passive(sides.turned, n, factors, columns))
    if sides.hidden.shape[1] != 0:
        rows, across_efforts = across_passive(sides.hidden, n, factors, columns), factors.efforts
        take_across(rows, across_efforts.Q[n], across_efforts.rank[n], columns.of_efforts)
        add_rows(multipliers, 1.0, rows)
    set_driven(equations, n, sides.forces, columns)
    subtract_efforts(equations, n, multipliers, columns.driven)
    clear(efforts)
    for i in range(actuated.shape[0]):
        add_multiple(efforts[actuated[i]], 1.0, columns.driven[i])


@kernel(int64(typed(Actuated), typed(Factors), typed(Sides), typed(Found), typed(Columns)))
def solve_all(equations, factors, sides, found, columns):
    """The efforts and multipliers of all states. Returns OK."""
    for n in range(equations.A.shape[0]):
        solve(equations, n, factors, sides, found, columns)
    return OK
