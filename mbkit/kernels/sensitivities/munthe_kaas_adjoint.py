"""The adjoint of explicit Runge-Kutta-Munthe-Kaas steps, from the last to the first."""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats, helper, int64, kernel, matrix, records_at, stack, typed
from mbkit.kernels.explicit_integrators.uncounted_records import matrix_of, stack_of, vector_of
from mbkit.kernels.sensitivities.back_through_charts import back_through_map, back_through_rates
from mbkit.kernels.sensitivities.charts import Step, set_differentials
from mbkit.kernels.sensitivities.closed_steps import (
    Loops,
    back_through_closed_dynamics,
    back_through_closing,
    follow,
    look_at,
    loops_of,
)
from mbkit.kernels.sensitivities.products import add_transposed
from mbkit.kernels.sensitivities.recorded_steps import History, history_of
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.dynamics import (
    State,
    Sums,
    back_through_dynamics,
    sums_of,
)
from mbkit.kernels.vector_jacobian_products.forces import CALLED
from mbkit.kernels.workspace import bodies


class Method(NamedTuple):
    """A method of s stages."""

    A: matrix  # (s, s)
    b: floats  # (s,)
    c: floats  # (s,)
    moving: floats  # (d + nv,), 0 for entries of prescribed joints


class Linear(NamedTuple):
    """Derivatives of N steps besides their history; stages are rows n s + i."""

    by_q: stack  # (N s, nv, d), of accelerations; of a tree, of its forces, negative, or none
    by_v: stack  # (N s, nv, nv)
    closing: stack  # (N, d + nv, d + nv), or none: from the open end to the closed one


class Adjoint(NamedTuple):
    """Results of the adjoint, and memory."""

    now: floats  # (d + nv,), from the end of the last step to the beginning of the first
    seeds: matrix  # (N, d + nv), added at the beginning of each step
    ends: matrix  # (N, d + nv), at the end of each step
    efforts: matrix  # (N s, nv), of changes of accelerations; of efforts, of a tree
    rates: matrix  # (s, d), of the rates of x
    accelerations: matrix  # (s, nv)
    memory: matrix  # (4, d + nv)
    sums: typed(Sums)  # of one pass over the bodies; no row: matrices are given instead
    loops: typed(Loops)  # that this pass takes along
    maps: floats  # of each joint: moved with q, with x; rates by x, q, v
    chart: matrix  # see `mbkit.kernels.sensitivities.charts`


@helper
def method_of(method):
    """The same method: see `mbkit.kernels.explicit_integrators.uncounted_records`."""
    A, b, c, moving = method
    return Method(matrix_of(A), vector_of(b), vector_of(c), vector_of(moving))


@helper
def linear_of(linear):
    """The same steps."""
    return Linear(stack_of(linear.by_q), stack_of(linear.by_v), stack_of(linear.closing))


@helper
def adjoint_of(adjoint):
    """The same adjoint."""
    now, seeds, ends, efforts, rates, accelerations, memory, sums, loops, maps, chart = adjoint
    return Adjoint(
        vector_of(now), matrix_of(seeds), matrix_of(ends), matrix_of(efforts), matrix_of(rates),
        matrix_of(accelerations), matrix_of(memory), sums_of(sums), loops_of(loops),
        vector_of(maps), matrix_of(chart),
    )  # fmt: skip


@helper
def back_through_end(space, method, history, linear, adjoint, n):
    """From the end of step n to its stages; `now` becomes what of it comes from the beginning."""
    d = adjoint.rates.shape[1]
    size = adjoint.now.shape[0]
    count = method.b.shape[0]
    now = adjoint.now
    end = adjoint.memory[0]
    for k in range(size):
        end[k] = method.moving[k] * now[k]
    if linear.closing.shape[0] != 0:
        closed = adjoint.memory[2]
        assign(closed, end)
        end[:] = 0.0
        add_transposed(linear.closing[n], closed, end)
        for k in range(size):
            end[k] *= method.moving[k]
    elif adjoint.loops.closes != 0:
        status = back_through_closing(history, adjoint, n)
        if status != OK:
            return status
    last = Step(history.x[n, count], history.open_q[n], history.open_v[n])
    status = set_differentials(space, last, 0, adjoint.chart, adjoint.maps)
    if status != OK:
        return status
    now[:d] = 0.0
    step = adjoint.memory[1, :d]
    back_through_map(bodies(space), adjoint.maps, 0, end[:d], now[:d], step)
    assign(now[d:], end[d:])
    h = history.span[n, 1]
    for i in range(count):
        weight = h * method.b[i]
        for k in range(d):
            adjoint.rates[i, k] = weight * step[k]
        for k in range(size - d):
            adjoint.accelerations[i, k] = weight * end[d + k]
    return OK


@helper
def back_through_acceleration(space, state, linear, adjoint, rows, place):
    """The adjoints of q and v at a stage, from that of its accelerations."""
    row, i = place
    d = adjoint.rates.shape[1]
    q = adjoint.memory[0, :d]
    v = adjoint.memory[1, : adjoint.accelerations.shape[1]]
    efforts = adjoint.efforts[row]
    accelerations = adjoint.accelerations[i]
    q[:] = 0.0
    v[:] = 0.0
    status = OK
    if adjoint.loops.still != 0:
        status = back_through_closed_dynamics(space, state, adjoint, rows, place, (q, v))
    elif adjoint.sums.twists.shape[0] != 0:
        status = back_through_dynamics(space, state, accelerations, efforts, adjoint.sums, (q, v))
    else:
        assign(efforts, accelerations)
    if linear.by_q.shape[0] != 0:
        add_transposed(linear.by_q[row], efforts, q)
        add_transposed(linear.by_v[row], efforts, v)
    return status


@helper
def back_through_stage(space, method, history, linear, adjoint, place):
    """From stage i of step n to those before it, and to the beginning."""
    n, i = place
    d = adjoint.rates.shape[1]
    nv = adjoint.accelerations.shape[1]
    now = adjoint.now
    q = adjoint.memory[0, :d]
    v = adjoint.memory[1, :nv]
    x = adjoint.memory[2, :d]
    moved = adjoint.memory[3, :d]
    state = State(history.q[n, i], history.v[n, i], history.vdot[n, i])
    row = n * method.b.shape[0] + i
    rows = history.multipliers[n, i], history.kept[n]
    t = history.span[n, 0] + method.c[i] * history.span[n, 1]
    if adjoint.sums.called != 0:
        records_at(adjoint.sums.called, 1, CALLED)[0].time = t
    if adjoint.loops.still != 0:
        look_at(adjoint.loops, t)
    status = back_through_acceleration(space, state, linear, adjoint, rows, (row, i))
    if status == OK:
        step = Step(history.x[n, i], state.q, state.v)
        status = set_differentials(space, step, 1, adjoint.chart, adjoint.maps)
    if status != OK:
        return status
    moved[:] = 0.0
    back_through_rates(bodies(space), adjoint.maps, adjoint.rates[i], moved, q, v)
    back_through_map(bodies(space), adjoint.maps, 1, q, now[:d], x)
    for k in range(d):
        x[k] += moved[k]
    for k in range(nv):
        now[d + k] += v[k]
    for j in range(i):
        weight = history.span[n, 1] * method.A[i, j]
        if weight != 0.0:
            for k in range(d):
                adjoint.rates[j, k] += weight * x[k]
            for k in range(nv):
                adjoint.accelerations[j, k] += weight * v[k]
    return OK


@kernel(
    int64(int64, typed(Method), typed(History), typed(Linear), typed(Adjoint)), nogil=True
)  # fmt: skip
def reverse(space, method, history, linear, adjoint):
    """Take an adjoint from the end to the beginning.

    With bars for adjoints: dl_i by l_i, k_i by their own; from the last stage to the first
        v_i = G_i^T l_i + V_i^T k_i,    q_i = F_i^T l_i + Q_i^T k_i,
        x_i = K_i^T k_i + E_i^T q_i,    q += C_i^T q_i,    v += v_i,
        k_j += h a_ij x_i,    l_j += h a_ij v_i   for j < i.
    Of a tree F^T l and G^T l come from `mbkit.kernels.vector_jacobian_products.dynamics`, of a
    closed mechanism from `mbkit.kernels.sensitivities.closed_steps`.
    Source: Hager 2000; see `mbkit.sensitivities.munthe_kaas` for the steps.
    """
    method = method_of(method)
    history = history_of(history)
    linear = linear_of(linear)
    adjoint = adjoint_of(adjoint)
    now = adjoint.now
    for n in range(history.t.shape[0] - 1, -1, -1):
        assign(adjoint.ends[n], now)
        if adjoint.loops.still != 0:
            follow(adjoint.loops.still, history.kept[n])
        status = back_through_end(space, method, history, linear, adjoint, n)
        if status != OK:
            return status
        for i in range(method.b.shape[0] - 1, -1, -1):
            status = back_through_stage(space, method, history, linear, adjoint, (n, i))
            if status != OK:
                return status
        for k in range(now.shape[0]):
            now[k] += adjoint.seeds[n, k]
    return OK
