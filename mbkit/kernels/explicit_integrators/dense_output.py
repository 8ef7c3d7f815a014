"""States within a step of a grid that Runge-Kutta-Munthe-Kaas methods took; see `dense_polynomial`.

They are modules of their own, this one and `adaptive_dense_output`: runs without such states need
not wait until these are compiled.
"""

from mbkit.kernels.compile import float64, int64, kernel, typed
from mbkit.kernels.explicit_integrators.dense_polynomial import between
from mbkit.kernels.explicit_integrators.stages import (
    HELD_SIZE,
    HELD_STAGES,
    HELD_TIME,
    DenseOutput,
    LastStep,
    Scheme,
    Stages,
    evaluate_stages,
)
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import State, Step


@kernel(
    int64(
        int64, typed(Scheme), typed(DenseOutput), float64, typed(State), typed(LastStep),
        typed(Stages),
    ),
    nogil=True,
)  # fmt: skip
def interpolate(space, scheme, dense, t, out, last, stages):
    """Write the state at t in the last step; loops are closed there.

    Evaluates the stages that the step itself had no use for, once.
    """
    start, span = last
    count = int(span[HELD_STAGES])
    every = scheme.A.shape[0]
    if count < every:
        step = Step(span[HELD_TIME], span[HELD_SIZE], t)
        status = evaluate_stages(space, scheme, step, start, stages, count, every)
        if status != OK:
            return status
        span[HELD_STAGES] = every
    return between(space, dense, t, last, stages, out)
