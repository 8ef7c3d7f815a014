"""A variational step: RATTLE on the group, for masses that depend on the configuration.

The discrete Lagrangian takes both ends of a step with q_{n+1} = retract(q_n, h D),

    L_d = h D.(M_n + M_{n+1}) D / 4 - h (V_n + V_{n+1}) / 2,

and with p = M v, the impulses i of the constraints, h/2 times multipliers, its equations are

    p_n     = dexp_inv(-hD)^T mu - h/2 (k_n + f_n) - A_n^T i_n,      g(q_{n+1}) = 0,
    p_{n+1} = dexp_inv(hD)^T mu + h/2 (k_{n+1} + f_{n+1}) + A_{n+1}^T i_{n+1},   A v + g_t = 0,

with mu = (M_n + M_{n+1}) D / 2 and k the gradient of D.M D / 2. dexp_inv(-x) is that of the way
back where retract(., -x) is the way back, as for all joints of mbkit.
Source: derived here; for constant M it is the method of Hante and Arnold 2021.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats_at,
    helper,
    int64,
    kernel,
    typed,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.implicit_integrators.step_memory import matrix_at
from mbkit.kernels.layout import NUM_POWERS, SUPPLIED
from mbkit.kernels.status import NOT_FINITE, OK, failure
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.records import Grid, Saved, State
from mbkit.kernels.time_loops.saving import count_taken, save_constrained, start_count
from mbkit.kernels.time_loops.step_times import instant
from mbkit.kernels.validation import all_finite
from mbkit.kernels.variational_integrators.layout import (
    END,
    START,
    drifts,
    forces,
    jacobians,
    memory_of,
)
from mbkit.kernels.variational_integrators.newton import predict
from mbkit.kernels.variational_integrators.terms import (
    gradient_at,
    mean_momentum,
    pull_back,
    set_pull_back,
)
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def solve_step(space, step, end, h):
    """D and the impulse of the step from (q, v) on; needs the terms at its start."""
    predict(space, step)
    return call_address(memory_of(step).newton, (space, step, end, h))


@address_kernel("iidd")
def arrive(space, step, end, h):
    """q and v at the end of the step, by D, and the impulse of the constraints there."""
    record = memory_of(step)
    q = floats_at(record.q, record.nq)
    n = record.n
    m = record.m
    D = floats_at(record.D, n)
    x = floats_at(record.x, n)
    q_end = floats_at(record.q_end, record.nq)
    v_end = floats_at(record.v_end, n)
    momentum = floats_at(record.momentum, n)
    for k in range(n):
        x[k] = h * D[k]
    status = retract_rows(bodies(space), scratch_of(space), q, x, q_end)
    if status == OK:
        status = call_address(record.look_around, (space, step, END, end, q_end))
    if status == OK:
        status = mean_momentum(space, step, q_end, D)
    if status == OK:
        status = gradient_at(space, step, END, q_end, D)
    if status == OK:
        status = set_pull_back(space, step, h, D)
    if status != OK:
        return status
    pull_back(space, matrix_at(record.L, n, n), floats_at(record.mean_momentum, n), momentum)
    force = forces(record, END)
    gradient = floats_at(record.gradient, n)
    for k in range(n):
        momentum[k] += 0.5 * h * (gradient[k] + force[k])
    A = jacobians(record, END)
    drift = drifts(record, END)
    gap = floats_at(record.gap, m)
    for r in range(m):
        gap[r] = -drift[r]
    assign(floats_at(record.J, n * n), floats_at(record.end_mass, n * n))
    status = call_address(record.factorised, (step, A, A))
    if status != OK:
        return status
    received = floats_at(record.received, m)
    call_address(record.solve_for, (step, A, momentum, gap, v_end, received))
    return OK if all_finite(q_end) and all_finite(v_end) else failure(NOT_FINITE, 0)


@helper
def add_supplied(step, h):
    """Work that moving constraints supply, -impulse . g_t at both ends, and efforts, f h D."""
    record = memory_of(step)
    work = floats_at(record.work, NUM_POWERS)
    effort = floats_at(record.effort, record.n)
    D = floats_at(record.D, record.n)
    for k in range(record.n):
        work[SUPPLIED] += effort[k] * (h * D[k])
    impulse = floats_at(record.impulse, record.m)
    received = floats_at(record.received, record.m)
    before = drifts(record, START)
    after = drifts(record, END)
    for r in range(record.m):
        work[SUPPLIED] -= impulse[r] * before[r] + received[r] * after[r]


@helper
def go_on(step):
    """Copy the terms at the end of a step to those at the start of the next one."""
    record = memory_of(step)
    n = record.n
    m = record.m
    assign(floats_at(record.mass, n * n), floats_at(record.end_mass, n * n))
    assign(floats_at(record.force, n), floats_at(record.end_force, n))
    assign(floats_at(record.weight, n * n), floats_at(record.end_weight, n * n))
    assign(floats_at(record.A, m * n), floats_at(record.end_A, m * n))
    assign(floats_at(record.drift, m), floats_at(record.end_drift, m))


@helper
def set_multipliers(step, h, solved):
    """Mean multipliers of both steps at an instant; NaN where the next step has none."""
    record = memory_of(step)
    multipliers = floats_at(record.multipliers, record.m)
    impulse = floats_at(record.impulse, record.m)
    received = floats_at(record.received, record.m)
    for r in range(record.m):
        multipliers[r] = (impulse[r] + received[r]) / h if solved else float("nan")


@kernel(int64(int64, int64, typed(Grid), typed(Saved)), nogil=True)
def advance(space, step, grid, saved):
    """Take the steps of the grid, whatever the chunk.

    Before a row is saved the next step is solved, for its multipliers; it is not solved again.
    After other steps the multipliers are not a number.
    step    a `VARIATIONAL` record, by address
    Writes  the state (q, v, work), multipliers, saved, q_stage and v_stage (what was evaluated
            last).
    Returns OK, or the status of what failed; the state is then that of the last complete step.
    """
    record = memory_of(step)
    h = grid.h
    multipliers = floats_at(record.multipliers, record.m)
    q_end = floats_at(record.q_end, record.nq)
    v_end = floats_at(record.v_end, record.n)
    state = State(
        floats_at(record.q, record.nq),
        floats_at(record.v, record.n),
        floats_at(record.work, NUM_POWERS),
    )
    start_count(saved)
    solved = False
    start = instant(grid.t0, h, grid.first)
    status = call_address(record.look_around, (space, step, START, start, state.q))
    for k in range(grid.first, grid.first + grid.steps):
        end = instant(grid.t0, h, k + 1)
        if status == OK and not solved:
            status = solve_step(space, step, end, h)
        if status == OK:
            status = call_address(record.arrive, (space, step, end, h))
        assign(floats_at(record.q_stage, record.nq), q_end)
        assign(floats_at(record.v_stage, record.n), v_end)
        if status == OK:
            status = look(space, end, q_end, v_end)
        if status != OK:
            return status
        assign(state.q, q_end)
        assign(state.v, v_end)
        add_supplied(step, h)
        go_on(step)
        solved = False
        count_taken(k, state, saved)
        if (k + 1) % grid.save_every == 0:
            if record.m > 0:
                after = instant(grid.t0, h, k + 2)
                solved = solve_step(space, step, after, h) == OK
                set_multipliers(step, h, solved)
            save_constrained(end, state, multipliers, saved)
        else:
            multipliers[:] = float("nan")
    return OK
