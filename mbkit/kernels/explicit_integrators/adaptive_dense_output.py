"""States between grid points of Runge-Kutta-Munthe-Kaas pairs, in steps that they chose."""

from mbkit.kernels.compile import float64, int64, kernel, typed
from mbkit.kernels.explicit_integrators.dense_polynomial import between
from mbkit.kernels.explicit_integrators.stages import HELD_TIME, DenseOutput
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.munthe_kaas_adaptive import TIME, Method, begin, go_to
from mbkit.kernels.time_loops.records import State


@kernel(int64(int64, typed(Method), typed(DenseOutput), float64, typed(State)), nogil=True)
def interpolate(space, method, dense, t, out):
    """Write the state at t, between the last two grid points; loops are closed there.

    The last step is at hand. For a time before it the steps are taken again, from the grid point
    up to that time; later times go on from there.
    """
    scheme, control, _, progress, stages = method
    status = OK
    again = t < progress.last.span[HELD_TIME]
    if again:
        begin(progress)
    if again or t > progress.numbers[TIME]:
        status = go_to(space, scheme, control, t, progress, stages)
    if status != OK:
        return status
    return between(space, dense, t, progress.last, stages, out)
