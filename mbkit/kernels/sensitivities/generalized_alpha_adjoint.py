"""The adjoint of steps of the generalized-alpha method, from the last to the first."""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper, int64, integers, kernel, matrix, stack, typed
from mbkit.kernels.explicit_integrators.uncounted_records import matrix_of, stack_of
from mbkit.kernels.linear_algebra.lu import factorise
from mbkit.kernels.sensitivities.back_through_charts import back_through_map
from mbkit.kernels.sensitivities.generalized_alpha_equations import (
    Equations,
    Matrices,
    equations_of,
    matrices_of,
    set_equations,
    share_no_columns,
)
from mbkit.kernels.sensitivities.products import add_transposed
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies


class GainsOfSteps(NamedTuple):
    """How (q, v, a, vdot) at the ends of steps follow from their beginnings and from w."""

    known: stack  # (N, 4, 4), from its beginning; that of q is G
    w: matrix  # (N, 4), from w
    V: stack  # (N, nv, 2 nv), v that a step begins with by q and v, or none: it is v


class Adjoint(NamedTuple):
    """Results of the adjoint, and memory."""

    end: matrix  # (4, nv), from the end of the last step to the beginning of the first
    seeds: stack  # (N, 4, nv), added at the beginning of each step
    residuals: matrix  # (N, n), of changes of the residuals
    w: matrix  # (N, nv), of changes of w
    v: matrix  # (N, nv), of changes of the velocity that a step begins with
    pivots: integers  # (n,)
    memory: matrix  # (5, max(n, 2 nv))


@helper
def adjoint_of(adjoint):
    """The same adjoint: see `mbkit.kernels.explicit_integrators.uncounted_records`."""
    end, seeds, residuals, w, v, pivots, memory = adjoint
    return Adjoint(
        matrix_of(end), stack_of(seeds), matrix_of(residuals), matrix_of(w), matrix_of(v), pivots,
        matrix_of(memory),
    )  # fmt: skip


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
def set_target(space, gains, equations, matrices, adjoint, n):
    """The adjoints of D and eta by way of the end, with another sign, and those of w and q_n."""
    end, w, target = adjoint.end, adjoint.w[n], adjoint.residuals[n]
    nv = end.shape[1]
    q, step = adjoint.memory[0, :nv], adjoint.memory[1]
    q[:] = 0.0
    back_through_map(bodies(space), matrices.maps, 0, end[0], q, step)
    gain = gains.w[n]
    target[:] = 0.0
    for j in range(nv):
        w[j] = gain[1] * end[1, j] + gain[2] * end[2, j] + gain[3] * end[3, j]
        target[j] = -equations.free[j] * (equations.h[n] * step[j] + w[j])
    A_n = equations.A_n[n]
    first = target.shape[0] - A_n.shape[0]
    for r in range(A_n.shape[0]):
        for j in range(nv):
            target[first + r] -= A_n[r, j] * w[j]


@helper
def add_rates(equations, n, motion, residuals, v, vdot):
    """Add the adjoints of the v and vdot that are there without w."""
    nv = v.shape[0]
    m = equations.A.shape[1]
    add_transposed(motion[1], residuals, v)
    add_transposed(motion[2], residuals, vdot)
    for j in range(nv):
        v[j] *= equations.h[n]
        vdot[j] *= equations.h[n]
    for r in range(m):
        weight = equations.of_rate[n, r] * residuals[nv + r]
        if equations.A_n.shape[1] != 0:
            weight += equations.of_g[n, r] * residuals[nv + m + r]
        for j in range(nv):
            v[j] += weight * equations.A[n, r, j]


@helper
def back_to_beginning(space, gains, equations, matrices, adjoint, n):
    """The adjoint of the end becomes that of the beginning, and that of w is what it is in all."""
    end, w, residuals, memory = adjoint.end, adjoint.w[n], adjoint.residuals[n], adjoint.memory
    nv = end.shape[1]
    known = gains.known[n]
    q, step, moved, v, vdot = memory[0, :nv], memory[1], memory[2, :nv], memory[3, :nv], memory[4]
    moved[:] = 0.0
    v[:] = 0.0
    vdot[:] = 0.0
    add_transposed(matrices.Q, residuals, moved)
    for j in range(nv):
        moved[j] /= equations.h[n]
    back_through_map(bodies(space), matrices.maps, 0, moved, q, step)
    add_transposed(matrices.V, residuals, w)
    if equations.E.shape[0] != 0:
        add_transposed(equations.E[n], w, q)
    add_rates(equations, n, matrices.motion, residuals, v, vdot)
    for j in range(nv):
        v[j] += end[1, j]
        vdot[j] += end[3, j]
        a = end[2, j]
        end[0, j] = q[j]
        for k in range(1, 4):
            end[k, j] = known[1, k] * v[j] + known[2, k] * a + known[3, k] * vdot[j]


@helper
def back_to_size(gains, adjoint, n):
    """The adjoint of the velocity that a step begins with becomes that of q and v before."""
    end = adjoint.end
    nv = end.shape[1]
    assign(adjoint.v[n], end[1])
    if gains.V.shape[0] != 0:
        state = adjoint.memory[0, : 2 * nv]
        state[:] = 0.0
        add_transposed(gains.V[n], end[1], state)
        for j in range(nv):
            end[0, j] += state[j]
            end[1, j] = state[nv + j]


@helper
def back_through_step(space, gains, equations, matrices, adjoint, n):
    """The adjoint of the end of step n becomes that of its beginning, where a seed is added."""
    end, S = adjoint.end, matrices.S
    status = set_equations(space, equations, n, matrices)
    if status == OK:
        set_target(space, gains, equations, matrices, adjoint, n)
        status = factorise(S, adjoint.pivots, adjoint.memory[2, : S.shape[0]])
    if status != OK:
        return status
    solve_transposed(S, adjoint.pivots, adjoint.residuals[n])
    back_to_beginning(space, gains, equations, matrices, adjoint, n)
    back_to_size(gains, adjoint, n)
    for k in range(4):
        for j in range(end.shape[1]):
            end[k, j] += adjoint.seeds[n, k, j]
    return OK


@kernel(
    int64(int64, typed(GainsOfSteps), typed(Equations), typed(Matrices), typed(Adjoint)), nogil=True
)  # fmt: skip
def reverse(space, gains, equations, matrices, adjoint):
    """Take an adjoint from the end to the beginning; S^T mu = -(what comes from the end)."""
    gains = GainsOfSteps(stack_of(gains.known), matrix_of(gains.w), stack_of(gains.V))
    equations = equations_of(equations)
    matrices = matrices_of(matrices)
    adjoint = adjoint_of(adjoint)
    share_no_columns(space, adjoint.end.shape[1])
    status = OK
    for n in range(equations.h.shape[0] - 1, -1, -1):
        if status == OK:
            status = back_through_step(space, gains, equations, matrices, adjoint, n)
    share_no_columns(space, 0)
    return status
