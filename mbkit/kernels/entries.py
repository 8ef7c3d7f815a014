"""Entries of calls from Python: lengths are compared, then a function is called by address.

Every function has the form of `mbkit.kernels.evaluation`. What it does not read is given anyway,
as any array.
"""

from typing import NamedTuple

from mbkit.kernels.compile import (
    call_address,
    floats,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    stack,
    typed,
)
from mbkit.kernels.layout import LOADED
from mbkit.kernels.space import bodies, frames
from mbkit.kernels.status import OK, WRONG_LENGTH
from mbkit.kernels.validation import (
    both,
    check_columns,
    check_positions,
    check_rows,
    check_steps,
    check_velocities,
)


@helper
def call(status, function, arguments):
    """Call a function by address where all is well so far; return the status."""
    return call_address(function, arguments) if status == OK else status


def _called(out):
    """The signature of most entries: space, function, option, q, v, x, out."""
    return int64(int64, int64, int64, floats, floats, floats, out)


@kernel(_called(floats))
def dynamics(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes out (nv,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, x, out))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix, floats))
def loaded_dynamics(space, function, apply, q, v, x, wrenches, out):
    """The same with wrenches on the bodies, (bodies + 1, 6), which `apply` leaves for it."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, x, out))
    lengths = both(lengths, check_rows(frames(space), wrenches, 6))
    status = call(lengths, apply, (space, 0, q, v, wrenches, out))
    return call(status, function, (space, LOADED, q, v, x, out))


@kernel(int64(int64, int64, floats, matrix))
def square(space, function, q, out):
    """Call a function of q (nq,) that writes out (nv, nv)."""
    model = bodies(space)
    nv = model[0].num_velocities
    lengths = both(check_positions(model, q), check_columns(model, out, nv))
    return call(lengths, function, (space, 0, q, q, q, out))


# What follows is called in one way: `v` and `x` are there even where nothing reads them.


@kernel(_called(matrix))
def jacobian(space, function, option, q, v, x, out):
    """Call a function of q (nq,) that writes out (6, nv)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_columns(model, out, 6))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(matrix))
def motion(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes a row a body, (bodies + 1, 6)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, x))
    lengths = both(lengths, check_rows(frames(space), out, 6))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(matrix))
def square_of_state(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,) that writes out (nv, nv)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, v))
    lengths = both(lengths, check_columns(model, out, model[0].num_velocities))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(matrix))
def regressor(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes out (nv, 10 bodies)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, x, x))
    width = 10 * (frames(space).shape[0] - 1)
    fits = out.shape[0] == v.shape[0] and out.shape[1] == width
    lengths = both(lengths, OK if fits else WRONG_LENGTH)
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(stack))
def placement(space, function, option, q, v, x, out):
    """Call a function of q (nq,) that writes a pose a body, (bodies + 1, 4, 4)."""
    lengths = both(check_positions(bodies(space), q), check_rows(frames(space), out, 4))
    lengths = both(lengths, OK if out.shape[2] == 4 else WRONG_LENGTH)
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(floats))
def state(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,); x and out are not the user's and have their lengths."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, v))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(floats))
def derivatives(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,); out is not the user's and has its length."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, x, x))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(floats))
def retract(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (ndx,) that writes out (nq,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_positions(model, out))
    lengths = both(lengths, check_steps(model, v))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(floats))
def difference(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nq,) that writes out (ndx,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_positions(model, v))
    lengths = both(lengths, check_steps(model, out))
    return call(lengths, function, (space, option, q, v, x, out))


@kernel(_called(floats))
def rates(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,) that writes out (ndx,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, v))
    lengths = both(lengths, check_steps(model, out))
    return call(lengths, function, (space, option, q, v, x, out))


class Call(NamedTuple):
    """What is called for each sample, and before it, where `apply` is not 0, with its wrenches."""

    function: int64
    apply: int64
    option: int64


class Rows(NamedTuple):
    """Arguments and results of many samples.

    Attributes
    ----------
    strides : (4,)
        By how many rows q, v, x and wrenches go on from sample to sample: 0 or 1.
    q, v, x, wrenches : (samples or 1, width)
        Arguments.
    out : (samples, width)
        Results.
    states : (samples,)
        What the function returned.
    limit : (1,)
        The sample beyond which nobody wants results any more; others may lower it meanwhile.
    """

    strides: integers
    q: matrix
    v: matrix
    x: matrix
    wrenches: matrix
    out: matrix
    states: integers
    limit: integers


@kernel(int64(int64, typed(Call), typed(Rows), int64, int64), nogil=True)
def batch(space, call, rows, first, last):
    """Call a function for the samples from `first` to `last`, one a row of out.

    Returns the first sample that failed or is beyond the limit, or `last`.
    """
    function, apply, option = call
    strides, q, v, x, wrenches, out, states, limit = rows
    for s in range(first, last):
        if s > limit[0]:
            return s
        status = OK
        q_s = q[s * strides[0]]
        v_s = v[s * strides[1]]
        if apply != 0:
            status = call_address(apply, (space, 0, q_s, v_s, wrenches[s * strides[3]], out[s]))
        if status == OK:
            x_s = x[s * strides[2]]
            status = call_address(function, (space, option, q_s, v_s, x_s, out[s]))
        states[s] = status
        if status != OK:
            return s
    return last
