"""The adjoint of steps of the generalized-alpha method, from the last to the first."""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats, helper, int64, integers, kernel, matrix, stack, typed
from mbkit.kernels.implicit_integrators.lu import factorise
from mbkit.kernels.sensitivities.products import add_transposed
from mbkit.kernels.status import OK


class Weights(NamedTuple):
    """How (q, v, a, vdot) at the ends of steps follow from their beginnings and from w."""

    known: stack  # (N, 4, 4), from its beginning; that of q is G
    w: matrix  # (N, 4), from w
    h: floats  # (N,)


class Linear(NamedTuple):
    """N steps, linear about a run: see `mbkit.sensitivities.generalized_alpha.equations`."""

    S: stack  # (N, n, n), overwritten by its factors
    W: stack  # (N, n, 3 nv), by (q_n, v_k, vdot_k)
    T: stack  # (N, nv, nv), or none: unity; and G
    G: stack
    E: stack  # (N, nv, nv), or none: zero
    A_n: stack  # (N, m, nv), or none: there is no eta
    V: stack  # (N, nv, 2 nv), by q and v, or none: v is what a step begins with


class Adjoint(NamedTuple):
    """What is found, and memory."""

    end: matrix  # (4, nv), from the end of the last step to the beginning of the first
    seeds: stack  # (N, 4, nv), added at the beginning of each step
    residuals: matrix  # (N, n), of changes of the residuals
    w: matrix  # (N, nv), of changes of w
    v: matrix  # (N, nv), of changes of the velocity that a step begins with
    pivots: integers  # (n,)
    memory: matrix  # (2, max(n, 4 nv))


@helper
def solve_transposed(S, pivots, x):
    """x becomes S^-T x, of the factors of S."""
    n = S.shape[0]
    for k in range(n):
        row = S[k]
        x[k] /= row[k]
        weight = x[k]
        for j in range(k + 1, n):
            x[j] -= weight * row[j]
    for k in range(n - 1, -1, -1):
        row = S[k]
        weight = x[k]
        for j in range(k):
            x[j] -= weight * row[j]
    for k in range(n - 1, -1, -1):
        other = pivots[k]
        x[k], x[other] = x[other], x[k]


@helper
def set_target(weights, linear, adjoint, n):
    """The adjoints of D and eta by way of the end, with another sign, and that of w."""
    end = adjoint.end
    nv = end.shape[1]
    w = adjoint.w[n]
    gain = weights.w[n]
    h = weights.h[n]
    target = adjoint.residuals[n]
    moved = adjoint.memory[0, :nv]
    target[:] = 0.0
    moved[:] = 0.0
    if linear.T.shape[0] != 0:
        add_transposed(linear.T[n], end[0], moved)
    else:
        assign(moved, end[0])
    for j in range(nv):
        w[j] = gain[1] * end[1, j] + gain[2] * end[2, j] + gain[3] * end[3, j]
        target[j] = -h * moved[j] - w[j]
    if linear.A_n.shape[0] != 0:
        A_n = linear.A_n[n]
        first = target.shape[0] - A_n.shape[0]
        for r in range(A_n.shape[0]):
            total = 0.0
            for j in range(nv):
                total += A_n[r, j] * w[j]
            target[first + r] = -total


@helper
def back_to_beginning(weights, linear, adjoint, n):
    """The adjoint of the end becomes that of the beginning."""
    end = adjoint.end
    nv = end.shape[1]
    known = weights.known[n]
    by_residuals = adjoint.memory[0, : 3 * nv]
    q = adjoint.memory[1, :nv]
    by_residuals[:] = 0.0
    add_transposed(linear.W[n], adjoint.residuals[n], by_residuals)
    assign(q, by_residuals[:nv])
    if linear.G.shape[0] != 0:
        add_transposed(linear.G[n], end[0], q)
    else:
        for j in range(nv):
            q[j] += end[0, j]
    if linear.E.shape[0] != 0:
        add_transposed(linear.E[n], adjoint.w[n], q)
    for j in range(nv):
        v = end[1, j] + by_residuals[nv + j]
        a = end[2, j]
        vdot = end[3, j] + by_residuals[2 * nv + j]
        end[0, j] = q[j]
        for k in range(1, 4):
            end[k, j] = known[1, k] * v + known[2, k] * a + known[3, k] * vdot


@helper
def back_to_size(linear, adjoint, n):
    """The adjoint of the velocity that a step begins with becomes that of q and v before."""
    end = adjoint.end
    nv = end.shape[1]
    assign(adjoint.v[n], end[1])
    if linear.V.shape[0] != 0:
        state = adjoint.memory[0, : 2 * nv]
        state[:] = 0.0
        add_transposed(linear.V[n], end[1], state)
        for j in range(nv):
            end[0, j] += state[j]
            end[1, j] = state[nv + j]


@kernel(int64(typed(Weights), typed(Linear), typed(Adjoint)), nogil=True)
def reverse(weights, linear, adjoint):
    """Take an adjoint from the end to the beginning; S mu = -(what comes from the end)."""
    largest = adjoint.memory[1]
    for n in range(linear.S.shape[0] - 1, -1, -1):
        S = linear.S[n]
        set_target(weights, linear, adjoint, n)
        status = factorise(S, adjoint.pivots, largest[: S.shape[0]])
        if status != OK:
            return status
        solve_transposed(S, adjoint.pivots, adjoint.residuals[n])
        back_to_beginning(weights, linear, adjoint, n)
        back_to_size(linear, adjoint, n)
        for k in range(4):
            for j in range(adjoint.end.shape[1]):
                adjoint.end[k, j] += adjoint.seeds[n, k, j]
    return OK
