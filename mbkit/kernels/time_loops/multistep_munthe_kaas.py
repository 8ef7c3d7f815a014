"""The time loop of multistep Munthe-Kaas methods."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper, int64, kernel, matrix, typed
from mbkit.kernels.configuration import dexp_inv_rows, difference_rows, retract_rows
from mbkit.kernels.explicit.stages import (
    ALL,
    add_work,
    arrive,
    combine,
    combine_velocities,
    evaluate_stages,
    settle,
)
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look


@helper
def multistep(space, beta, h, end, state, rates, at, q_next, past):
    """Write the end of a step to q_next and v_stage, from the rates here and at states before.

    With the coordinates x_i of the state i steps before, about the state that was reached:
        x = h sum_i beta_i dexp^-1_{-x_i} w_i,   q exp(x),   v + h sum_i beta_i l_i,
    of which i = 0 is in the first row of rates; the others are put into the rows behind it.
    Source: Faltinsen, Marthinsen, Munthe-Kaas 2001, section 3.
    """
    q, v, _ = state
    xdot, vdot, powers = rates
    x, _, q_stage, v_stage = at
    past_q, past_w, past_vdot, past_powers = past
    model = bodies(space)
    memory = scratch(space)
    for i in range(1, beta.shape[0]):
        found = difference_rows(model, memory, q, past_q[i - 1], x)
        if found == OK:
            found = dexp_inv_rows(model, memory, x, past_w[i - 1], xdot[i])
        if found != OK:
            return found
        assign(vdot[i], past_vdot[i - 1])
        assign(powers[i], past_powers[i - 1])
    combine(h, beta, xdot, beta.shape[0], x)
    found = retract_rows(model, memory, q, x, q_next)
    if found != OK:
        return found
    combine_velocities(h, beta, vdot, beta.shape[0], v, v_stage)
    return settle(space, end, q_next, v_stage, q_stage)


@helper
def remember(here, past):
    """Put what is known of the state that is left before what was known of earlier ones."""
    for m in range(4):
        for i in range(past[m].shape[0] - 1, 0, -1):
            assign(past[m][i], past[m][i - 1])
        if past[m].shape[0] > 0:
            assign(past[m][0], here[m])


@helper
def step(space, beta, scheme, t, h, end, state, rates, at, q_next, here, past, known):
    """Advance the state (q, v, work) by h, to the time `end`, in place.

    Until there are as many states as the method needs, by a Runge-Kutta-Munthe-Kaas step.
    """
    q, v, work = state
    A, b, c, series = scheme
    x, w, q_stage, v_next = at
    xdot, vdot, powers = rates
    starting = known[0] < past[0].shape[0]
    count = b.shape[0] if starting else 1
    found = evaluate_stages(
        space, A, c, series, 0, count, t, h, q, v, x, w, q_stage, v_next, xdot, vdot, powers
    )
    if found != OK:
        return found
    assign(here[0], q)
    assign(here[1], xdot[0])  # at x = 0 it is w
    assign(here[2], vdot[0])
    assign(here[3], powers[0])
    if starting:
        found = arrive(space, b, count, h, end, q, v, x, q_stage, v_next, xdot, vdot, q_next)
    else:
        found = multistep(space, beta, h, end, state, rates, at, q_next, past)
    if found == OK:
        found = look(space, end, q_next, v_next)
    if found != OK:
        return found
    assign(q, q_next)
    assign(v, v_next)
    if starting:
        add_work(h, b, powers, b.shape[0], work)
        known[0] += 1.0
    else:
        add_work(h, beta, powers, beta.shape[0], work)
    remember(here, past)
    return OK


@kernel(
    int64(
        int64, floats, matrix, floats, floats, floats, matrix, float64, float64, int64, int64,
        int64, floats, floats, floats, matrix, matrix, matrix, matrix, floats, floats, floats,
        floats, floats, matrix, matrix, matrix, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, beta, A, b, c, exact, brackets, t0, h, first, steps, save_every, q, v, work, past_q,
    past_w, past_vdot, past_powers, known, q_stage, v_stage, memory, w, xdot, vdot, powers, saved,
):  # fmt: skip
    """Take `steps` steps from step `first` on; t = t0 + k h, whatever the chunk.

    Reads   beta (k,); A, b, c of the method that starts, of s stages.
    Writes  as the loop of Runge-Kutta-Munthe-Kaas methods; past_q (k - 1, nq), past_w (k - 1, d),
            past_vdot (k - 1, nv), past_powers (k - 1, NUM_POWERS): states before the one that was
            reached, the last first, with their rates; known (1,), how many there are.
    Memory  memory (2 nq + 2 d + nv + NUM_POWERS,) with d the number of steps, xdot, vdot and powers
            with max(k, s) rows, and as there.
    """
    nq = q.shape[0]
    nv = v.shape[0]
    d = xdot.shape[1]
    scheme = (A, b, c, (ALL, exact, brackets))
    state = (q, v, work)
    rates = (xdot, vdot, powers)
    q_next = memory[:nq]
    at = (memory[nq : nq + d], w, q_stage, v_stage)
    rest = memory[nq + d :]
    here = (rest[:nq], rest[nq : nq + d], rest[nq + d : nq + d + nv], rest[nq + d + nv :])
    past = (past_q, past_w, past_vdot, past_powers)
    start_count(saved)
    for k in range(first, first + steps):
        t = instant(t0, h, k)
        end = instant(t0, h, k + 1)
        found = step(space, beta, scheme, t, h, end, state, rates, at, q_next, here, past, known)
        if found != OK:
            return found
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save(end, State(q, v, work), saved)
    return OK
