"""States within a step that was taken, from polynomials in coordinates of the group."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper, int64, kernel, matrix
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.driving import drive
from mbkit.kernels.explicit.stages import (
    HELD_SIZE,
    HELD_STAGES,
    HELD_TIME,
    add_work,
    combine,
    combine_velocities,
    evaluate_stages,
    settle,
)
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK


@helper
def between(space, b_dense, weights, theta, h, t, start, rates, at, q, v, work):
    """The state a fraction theta of the step after its start: there q exp(h sum b_i(theta) k_i).

    Writes  q, v, work, weights (s,).
    Source: Hairer, Norsett, Wanner 1993, II.6, in coordinates of the group about the start.
    """
    stages = b_dense.shape[0]
    for i in range(stages):
        value = 0.0
        for j in range(b_dense.shape[1]):
            value = (value + b_dense[i, b_dense.shape[1] - 1 - j]) * theta
        weights[i] = value
    xdot, vdot, powers = rates
    x = at[0]
    combine(h, weights, xdot, stages, x)
    state = retract_rows(bodies(space), scratch(space), start[0], x, q)
    if state != OK:
        return state
    combine_velocities(h, weights, vdot, stages, start[1], v)
    assign(work, start[2])
    add_work(h, weights, powers, stages, work)
    state = settle(space, t, q, v, at[2])
    return drive(space, t, q, v) if state == OK else state


@kernel(
    int64(
        int64, matrix, floats, int64, floats, matrix, matrix, floats, float64, floats, floats,
        floats, floats, floats, floats, floats, matrix, matrix, matrix, floats, floats,
    ),
    nogil=True,
)  # fmt: skip
def interpolate(
    space, A, c, truncation, exact, brackets, b_dense, weights, t, q, v, work, q_stage, v_stage, x,
    w, xdot, vdot, powers, held, span,
):  # fmt: skip
    """Write the state at t, in the step that `held` and `span` speak of; loops are closed there.

    Evaluates the stages that the step itself had no use for, once.
    """
    nq = q.shape[0]
    nv = v.shape[0]
    start = (held[:nq], held[nq : nq + nv], held[nq + nv :])
    rates = (xdot, vdot, powers)
    at = (x, w, q_stage, v_stage)
    h = span[HELD_SIZE]
    stages = int(span[HELD_STAGES])
    if stages < A.shape[0]:
        state = evaluate_stages(
            space, A, c, (truncation, exact, brackets), stages, A.shape[0], span[HELD_TIME], h,
            start[0], start[1], x, w, q_stage, v_stage, xdot, vdot, powers,
        )  # fmt: skip
        if state != OK:
            return state
        span[HELD_STAGES] = A.shape[0]
    theta = (t - span[HELD_TIME]) / h
    return between(space, b_dense, weights, theta, h, t, start, rates, at, q, v, work)
