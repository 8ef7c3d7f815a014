"""The equations of motion of closed mechanisms, solved for many changes of their right sides.

At each state, with free velocities F and given accelerations P,

    [M_FF  -A_F^T] [a_F]   [-e_F]
    [A_F      0  ] [ l ] = [ -r ],    tau_P = e_P + M_PF a_F - A_P^T l.

Let M_FF = L L^T and B^T = L^-1 A_F^T = Q C^T U^T, of known rank, as in
`mbkit.kernels.linear_algebra.orthogonal_factors`. With the pseudoinverse of B, Q C^-1 U^T,

    y = Q^T w + C^-1 U^T r,  w = -L^-1 e_F,    L^T a_F = w - Q y,    l = -U C^-T y + (1 - U U^T) s,

where s is given: what of it is outside the range of U is added to multipliers if rows depend on
others. e and r are right sides: in `mbkit.systems.derivatives.evaluation_states` they are de - dtau
and dr.
Cost: dense, O(F m rank) for the factors and O((F + m) rank) a column; zeros of L, Q and U, as of
branches that do not meet, are passed over.
"""

from typing import NamedTuple

from mbkit.kernels.compile import helper, int64, integers, kernel, matrix, stack, typed
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.linear_algebra.orthogonal_factors import (
    Orthogonal,
    OrthogonalMemory,
    add_multiple,
    add_projection,
    decompose,
    divide,
    solve_upper,
    solve_upper_transposed,
    subtract_combination,
)
from mbkit.kernels.status import OK


class Equations(NamedTuple):
    """Of N states."""

    M: stack  # (N, nv, nv)
    A: stack  # (N, m, nv)
    free: integers  # (F,), which velocities these are
    given: integers  # (P,)


class Factors(NamedTuple):
    """Of N states, one after another."""

    L: stack  # (N, F, F)
    B: typed(Orthogonal)  # of B^T


class Memory(NamedTuple):
    """For the factors of one state."""

    B: matrix  # (F, m), B^T
    orthogonal: typed(OrthogonalMemory)


class Sides(NamedTuple):
    """Right sides by k columns; those without any middle axis are zero."""

    efforts: stack  # (N, nv, k), e
    rows: stack  # (N, m, k), r
    turned: stack  # (N, m, k), s


class Found(NamedTuple):
    """Solutions, and memory."""

    vdot: stack  # (N, nv, k); those of P are there
    tau: stack  # (N, nv, k); those of F stay as they are
    multipliers: stack  # (N, m, k)
    w: matrix  # (F, k)
    y: matrix  # (most, k)


@helper
def set_cholesky(M, free, L):
    """L, lower; False if M of the free velocities is not positive definite."""
    for i in range(free.shape[0]):
        for j in range(i + 1):
            x = M[free[i], free[j]]
            for k in range(j):
                x -= L[i, k] * L[j, k]
            if i != j:
                L[i, j] = x / L[j, j]
            elif x > 0.0:
                L[i, i] = sqrt(x)
            else:
                return False
    return True


@helper
def solve_lower(L, X):
    """X becomes L^-1 X."""
    for i in range(L.shape[0]):
        for j in range(i):
            add_multiple(X[i], -L[i, j], X[j])
        divide(X[i], L[i, i])


@helper
def solve_lower_transposed(L, X):
    """X becomes L^-T X."""
    for i in range(L.shape[0] - 1, -1, -1):
        for j in range(i + 1, L.shape[0]):
            add_multiple(X[i], -L[j, i], X[j])
        divide(X[i], L[i, i])


@helper
def factorise(equations, n, factors, memory):
    """The factors of one state; False if M is not positive definite there."""
    M, A, free = equations.M[n], equations.A[n], equations.free
    B, L = memory.B, factors.L[n]
    if not set_cholesky(M, free, L):
        return False
    for i in range(free.shape[0]):
        for c in range(B.shape[1]):
            B[i, c] = A[c, free[i]]
    solve_lower(L, B)
    decompose(B, factors.B, n, -1.0, memory.orthogonal)
    return True


@kernel(int64(typed(Equations), typed(Factors), typed(Memory)))
def factorise_all(equations, factors, memory):
    """The factors of all states.

    Returns the first state in which M is not positive definite, else their number.
    """
    count = equations.M.shape[0]
    for n in range(count):
        if not factorise(equations, n, factors, memory):
            return n
    return count


@helper
def solve_accelerations(factors, n, free, sides, found):
    """The free accelerations of one state, and y, in memory."""
    L, Q, U, C = factors.L[n], factors.B.Q[n], factors.B.U[n], factors.B.C[n]
    rank = factors.B.rank[n]
    w, y = found.w, found.y
    w[:, :] = 0.0
    y[:, :] = 0.0
    if sides.rows.shape[1] != 0:
        add_projection(y, U, rank, sides.rows[n])
        solve_upper(C, rank, y)
    if sides.efforts.shape[1] != 0:
        for i in range(free.shape[0]):
            add_multiple(w[i], -1.0, sides.efforts[n, free[i]])
        solve_lower(L, w)
        add_projection(y, Q, rank, w)
    subtract_combination(w, Q, rank, y)
    solve_lower_transposed(L, w)
    for i in range(free.shape[0]):
        row = found.vdot[n, free[i]]
        row[:] = 0.0
        add_multiple(row, 1.0, w[i])


@helper
def solve_multipliers(factors, n, sides, found):
    """The multipliers of one state, from y, which is overwritten."""
    U, C, rank = factors.B.U[n], factors.B.C[n], factors.B.rank[n]
    y, multipliers = found.y, found.multipliers[n]
    multipliers[:, :] = 0.0
    solve_upper_transposed(C, rank, y)
    if sides.turned.shape[1] != 0:
        for r in range(multipliers.shape[0]):
            add_multiple(multipliers[r], 1.0, sides.turned[n, r])
        add_projection(y, U, rank, sides.turned[n])
    subtract_combination(multipliers, U, rank, y)


@helper
def add_efforts(equations, n, sides, found):
    """The efforts of the velocities P of one state."""
    M, A, free, given = equations.M[n], equations.A[n], equations.free, equations.given
    for p in range(given.shape[0]):
        row = found.tau[n, given[p]]
        if sides.efforts.shape[1] != 0:
            add_multiple(row, 1.0, sides.efforts[n, given[p]])
        for i in range(free.shape[0]):
            add_multiple(row, M[given[p], free[i]], found.vdot[n, free[i]])
        for r in range(A.shape[0]):
            add_multiple(row, -A[r, given[p]], found.multipliers[n, r])


@kernel(int64(typed(Equations), typed(Factors), typed(Sides), typed(Found)))
def solve_all(equations, factors, sides, found):
    """The solutions of all states; those of tau are added to the given ones. Returns OK."""
    for n in range(equations.M.shape[0]):
        solve_accelerations(factors, n, equations.free, sides, found)
        solve_multipliers(factors, n, sides, found)
        add_efforts(equations, n, sides, found)
    return OK
