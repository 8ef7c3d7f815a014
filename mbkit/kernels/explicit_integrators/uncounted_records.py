"""Records whose arrays are not counted references, for the loops over steps.

An array that comes from Python is counted: each time a field of a record is read the count goes up
and down, 5 ns, which are 0.2 us a step. One that lies behind a pointer is not. A loop replaces its
records once; Python holds the arrays meanwhile.
"""

from mbkit.kernels.compile import as_array, at, helper
from mbkit.kernels.explicit_integrators.stages import LastStep, Scheme, Series, Stages
from mbkit.kernels.time_loops.records import State


@helper
def vector_of(x):
    """The same vector."""
    return as_array(at(x, 0), x.shape[0])


@helper
def matrix_of(A):
    """The same matrix."""
    return as_array(at(A, 0), A.shape[0] * A.shape[1]).reshape((A.shape[0], A.shape[1]))


@helper
def stack_of(A):
    """The same stack of matrices."""
    a, b, c = A.shape
    return as_array(at(A, 0), a * b * c).reshape((a, b, c))


@helper
def state_of(state):
    """The same state."""
    return State(vector_of(state.q), vector_of(state.v), vector_of(state.work))


@helper
def scheme_of(scheme):
    """The same scheme."""
    A, b, c, series = scheme
    truncation, exact, brackets = series
    return Scheme(
        matrix_of(A),
        vector_of(b),
        vector_of(c),
        Series(truncation, vector_of(exact), matrix_of(brackets)),
    )


@helper
def stages_of(stages):
    """The same stages."""
    xdot, vdot, powers, x, w, q, v, q_end = stages
    return Stages(
        matrix_of(xdot), matrix_of(vdot), matrix_of(powers), vector_of(x), vector_of(w),
        vector_of(q), vector_of(v), vector_of(q_end),
    )  # fmt: skip


@helper
def last_of(last):
    """The same step."""
    return LastStep(state_of(last.start), vector_of(last.span))
