"""Steps of the generalized-alpha method, linear about their ends.

With V the derivatives of the residuals by w, and Q those by q, along steps, times h, both at the
end, where D and q_n lead too, S is that of Newton's method and W that by (q_n, v_k, vdot_k):

    S = [ V + Q T,  -A^T,  V A_n^T ],        W = [ Q G / h + V E,  h C,  h M ],

A^T, C and M in the equations of motion alone; rows of A v + g_t have A below C. See
`mbkit.sensitivities.generalized_alpha.equations`.
"""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    call_address,
    floats,
    helper,
    int64,
    kernel,
    matrix,
    records_at,
    stack,
    typed,
)
from mbkit.kernels.explicit_integrators.uncounted_records import matrix_of, stack_of, vector_of
from mbkit.kernels.implicit_integrators.retraction_differential import multiply_blocks
from mbkit.kernels.layout import SPACE
from mbkit.kernels.sensitivities.charts import Step, has_blocks, set_differentials
from mbkit.kernels.sensitivities.products import add_transposed
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies


class Equations(NamedTuple):
    """N steps; m rows of constraints, and as many of eta, e = m, or none."""

    h: floats  # (N,)
    gains: matrix  # (N, 2), velocities and accelerations by w
    x: matrix  # (N, nv), h D
    q: matrix  # (N, nq), the ends
    v: matrix  # (N, nv)
    vdot: matrix  # (N, nv)
    by_q: stack  # (N, nv, nv), forces by q and v, also those of constraints; or none
    by_v: stack
    A: stack  # (N, m, nv), A v + g_t by v and by q
    Z: stack
    of_g: matrix  # (N, m), what rows of g are multiplied by
    of_rate: matrix  # (N, m), and rows without one
    A_n: stack  # (N, e, nv), where steps begin
    E: stack  # (N, nv, nv), A_n^T eta by q there, or none
    free: floats  # (nv,), 0 for prescribed joints
    chart: matrix  # see `mbkit.kernels.sensitivities.charts`
    derivatives: int64  # the address of `inverse_dynamics_derivatives`


class Matrices(NamedTuple):
    """Those of one step, n equations."""

    motion: stack  # (3, nv, nv), equations of motion by q, v and vdot: K, C and M
    Q: matrix  # (n, nv)
    V: matrix  # (n, nv)
    S: matrix  # (n, n)
    G: matrix  # (nv, MOST_STEPS), a block a joint: how the end moves with q_n
    T: matrix  # and with h D
    maps: floats  # the blocks that are not unity


@helper
def equations_of(e):
    """The same steps: see `mbkit.kernels.explicit_integrators.uncounted_records`."""
    return Equations(
        vector_of(e.h), matrix_of(e.gains), matrix_of(e.x), matrix_of(e.q), matrix_of(e.v),
        matrix_of(e.vdot), stack_of(e.by_q), stack_of(e.by_v), stack_of(e.A), stack_of(e.Z),
        matrix_of(e.of_g), matrix_of(e.of_rate), stack_of(e.A_n), stack_of(e.E),
        vector_of(e.free), matrix_of(e.chart), e.derivatives,
    )  # fmt: skip


@helper
def matrices_of(matrices):
    """The same matrices."""
    motion, Q, V, S, G, T, maps = matrices
    return Matrices(
        stack_of(motion), matrix_of(Q), matrix_of(V), matrix_of(S), matrix_of(G), matrix_of(T),
        vector_of(maps),
    )  # fmt: skip


@helper
def set_row(row, a, x, b, y):
    """row = a x + b y."""
    for j in range(row.shape[0]):
        row[j] = a * x[j] + b * y[j]


@helper
def set_motion(space, equations, n, motion):
    """K, C and M; derivatives in `space` have a column for each velocity."""
    state = equations.q[n], equations.v[n], equations.vdot[n]
    status = call_address(equations.derivatives, (space, 0, *state, motion))
    for part, forces in ((motion[0], equations.by_q), (motion[1], equations.by_v)):
        if forces.shape[0] != 0:
            for i in range(part.shape[0]):
                set_row(part[i], 1.0, part[i], -1.0, forces[n, i])
    return status


@helper
def set_retraction(space, equations, n, matrices):
    """G and T."""
    x = equations.x[n]
    maps, G, T = matrices.maps, matrices.G, matrices.T
    status = set_differentials(space, Step(x, x, x), 0, equations.chart, maps)
    model = bodies(space)
    block = 0
    for i in range(1, model.shape[0]):
        a = model[i].first_step
        d = model[i].ndx
        if has_blocks(model[i]):
            for r in range(d):
                for c in range(d):
                    G[a + r, c] = maps[block + d * r + c]
                    T[a + r, c] = maps[block + d * (d + r) + c]
            block += 2 * d * d
        else:
            for r in range(d):
                for c in range(d):
                    G[a + r, c] = T[a + r, c] = 1.0 if r == c else 0.0
    return status


@helper
def set_rows(equations, n, motion, Q, V):
    """Q and V; nothing in the equations of prescribed joints."""
    h = equations.h[n]
    velocity, acceleration = equations.gains[n, 0], equations.gains[n, 1]
    nv = equations.x.shape[1]
    m = equations.A.shape[1]
    for i in range(nv):
        own = h * equations.free[i]
        K, C, M = motion[0, i], motion[1, i], motion[2, i]
        set_row(Q[i], h * own, K, 0.0, K)
        set_row(V[i], own * velocity, C, own * acceleration, M)
    for r in range(m):
        A, Z = equations.A[n, r], equations.Z[n, r]
        of_g, of_rate = equations.of_g[n, r], equations.of_rate[n, r]
        set_row(Q[nv + r], of_g, A, h * of_rate, Z)
        set_row(V[nv + r], of_rate * velocity, A, 0.0, A)
        if equations.A_n.shape[1] != 0:
            set_row(Q[nv + m + r], h * of_g, Z, 0.0, Z)
            set_row(V[nv + m + r], of_g * velocity, A, 0.0, A)


@helper
def set_multipliers(equations, n, V, S):
    """The columns of multipliers and of eta, unity for rows that are not solved for."""
    nv = equations.x.shape[1]
    m = equations.A.shape[1]
    for r in range(m):
        of_g, of_rate = equations.of_g[n, r], equations.of_rate[n, r]
        for i in range(S.shape[0]):
            S[i, nv + r] = 0.0
        for i in range(nv):
            S[i, nv + r] = -equations.free[i] * (of_g + of_rate) * equations.A[n, r, i]
        if of_g + of_rate == 0.0:
            S[nv + r, nv + r] = 1.0
        if equations.A_n.shape[1] == 0:
            continue
        A_n = equations.A_n[n, r]
        for i in range(S.shape[0]):
            total = 0.0
            for j in range(nv):
                total += V[i, j] * A_n[j]
            S[i, nv + m + r] = total
        if of_g == 0.0:
            S[nv + m + r, nv + m + r] = 1.0


@helper
def set_equations(space, equations, n, matrices):
    """All of them, of step n."""
    Q, V, S = matrices.Q, matrices.V, matrices.S
    nv = equations.x.shape[1]
    status = set_motion(space, equations, n, matrices.motion)
    if status == OK:
        status = set_retraction(space, equations, n, matrices)
    set_rows(equations, n, matrices.motion, Q, V)
    for i in range(S.shape[0]):
        assign(S[i, :nv], V[i])
    multiply_blocks(space, Q, matrices.T, 1.0, S)
    set_multipliers(equations, n, V, S)
    for k in range(nv):
        if equations.free[k] == 0.0:
            for i in range(S.shape[0]):
                S[i, k] = 0.0
            S[k, k] = 1.0
    return status


@helper
def set_changes(space, equations, n, matrices, W):
    """W of step n."""
    Q, V = matrices.Q, matrices.V
    h = equations.h[n]
    nv = equations.x.shape[1]
    m = equations.A.shape[1]
    W[:, :] = 0.0
    multiply_blocks(space, Q, matrices.G, 1.0 / h, W)
    if equations.E.shape[0] != 0:
        for i in range(V.shape[0]):
            add_transposed(equations.E[n], V[i], W[i, :nv])
    for i in range(nv):
        own = h * equations.free[i]
        for j in range(nv):
            W[i, nv + j] = own * matrices.motion[1, i, j]
            W[i, 2 * nv + j] = own * matrices.motion[2, i, j]
    for r in range(m):
        for j in range(nv):
            W[nv + r, nv + j] = equations.of_rate[n, r] * equations.A[n, r, j]
            if equations.A_n.shape[1] != 0:
                W[nv + m + r, nv + j] = equations.of_g[n, r] * equations.A[n, r, j]


@helper
def share_no_columns(space, nv):
    """Let derivatives have one column for each of nv velocities, and with them M; 0: without M."""
    records_at(space, 1, SPACE)[0].num_columns = nv


@kernel(int64(int64, typed(Equations), typed(Matrices), stack, stack, stack), nogil=True)
def assemble(space, equations, matrices, S, W, V):
    """S (N, n, n), W (N, n, 3 nv) and V (N, n, nv) of all steps."""
    equations = equations_of(equations)
    matrices = matrices_of(matrices)
    S, W, V = stack_of(S), stack_of(W), stack_of(V)
    status = OK
    share_no_columns(space, V.shape[2])
    for n in range(S.shape[0]):
        if status == OK:
            status = set_equations(space, equations, n, matrices)
            set_changes(space, equations, n, matrices, W[n])
            for i in range(S.shape[1]):
                assign(S[n, i], matrices.S[i])
                assign(V[n, i], matrices.V[i])
    share_no_columns(space, 0)
    return status
