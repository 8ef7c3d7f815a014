"""The time loop of explicit Runge-Kutta-Munthe-Kaas methods with steps of one size."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper, int64, kernel, matrix, typed
from mbkit.kernels.explicit.stages import (
    HELD_SIZE,
    HELD_STAGES,
    HELD_TIME,
    add_work,
    arrive,
    evaluate_stages,
)
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look


@helper
def keep(q, v, work, held):
    """Keep the state at the beginning of a step."""
    nq = q.shape[0]
    nv = v.shape[0]
    for j in range(nq):
        held[j] = q[j]
    for j in range(nv):
        held[nq + j] = v[j]
    for j in range(work.shape[0]):
        held[nq + nv + j] = work[j]


@kernel(
    int64(
        int64, matrix, floats, floats, int64, floats, matrix, float64, float64, int64, int64,
        int64, floats, floats, floats, floats, floats, floats, floats, matrix, matrix, matrix,
        floats, floats, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, A, b, c, truncation, exact, brackets, t0, h, first, steps, save_every, q, v, work,
    q_stage, v_stage, memory, w, xdot, vdot, powers, held, span, saved,
):  # fmt: skip
    """Take `steps` steps from step `first` on; t = t0 + k h, whatever the chunk.

    Writes  q, v (the state), work (dissipated and supplied since the start), rows (of the steps
            that are a multiple of `save_every`), count (steps taken, rows written), q_stage and
            v_stage (what was evaluated last), held and span (where the last step began, its time
            and size and number of stages, for dense output).
    Memory  memory (nq + d,) with d the number of steps, w (d,) or v_stage itself where velocities
            are rates of steps, xdot (s, d), vdot (s, nv), powers (s, NUM_POWERS), brackets (4, d).
    Returns OK, or the status of what failed; q, v, work are then those of the last complete step.
    Source  Munthe-Kaas 1999, algorithm 3.1; Hairer, Lubich, Wanner 2006, IV.8.
    """
    series = (truncation, exact, brackets)
    q_next = memory[: q.shape[0]]
    x = memory[q.shape[0] :]
    stages = b.shape[0]
    while b[stages - 1] == 0.0:  # those of error estimates and dense output
        stages -= 1
    start_count(saved)
    for k in range(first, first + steps):
        t = instant(t0, h, k)
        end = instant(t0, h, k + 1)
        state = evaluate_stages(
            space, A, c, series, 0, stages, t, h, q, v, x, w, q_stage, v_stage, xdot, vdot, powers
        )
        if state == OK:
            state = arrive(space, b, stages, h, end, q, v, x, q_stage, v_stage, xdot, vdot, q_next)
        if state == OK:
            state = look(space, end, q_next, v_stage)
        if state != OK:
            return state
        keep(q, v, work, held)
        assign(q, q_next)
        assign(v, v_stage)
        add_work(h, b, powers, stages, work)
        span[HELD_TIME] = t
        span[HELD_SIZE] = h
        span[HELD_STAGES] = stages
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save(end, State(q, v, work), saved)
    return OK
