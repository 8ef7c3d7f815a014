"""Entries of calls from Python: lengths are compared, then a function is called by address.

Every function has the form of `mbkit.kernels.evaluation`. What it does not read is given anyway,
as any array.
"""

from typing import NamedTuple

from mbkit.kernels.compile import (
    call_address,
    floats,
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
    check_columns,
    check_positions,
    check_rows,
    check_steps,
    check_velocities,
)


@kernel(int64(int64, int64, int64, floats, floats, floats, floats))
def dynamics(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes out (nv,)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, x, out)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix, floats))
def loaded_dynamics(space, function, apply, q, v, x, wrenches, out):
    """The same with wrenches on the bodies, (bodies + 1, 6), which `apply` leaves for it."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, x, out)
    if state == OK:
        state = check_rows(frames(space), wrenches, 6)
    if state == OK:
        state = call_address(apply, (space, 0, q, v, wrenches, out))
    if state != OK:
        return state
    return call_address(function, (space, LOADED, q, v, x, out))


@kernel(int64(int64, int64, floats, matrix))
def square(space, function, q, out):
    """Call a function of q (nq,) that writes out (nv, nv)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_columns(model, out, model[0].num_velocities)
    if state != OK:
        return state
    return call_address(function, (space, 0, q, q, q, out))


# What follows is called in one way: `v` and `x` are there even where nothing reads them.


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix))
def jacobian(space, function, option, q, v, x, out):
    """Call a function of q (nq,) that writes out (6, nv)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_columns(model, out, 6)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix))
def motion(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes a row a body, (bodies + 1, 6)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, v, x)
    if state == OK:
        state = check_rows(frames(space), out, 6)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix))
def square_of_state(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,) that writes out (nv, nv)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, v, v)
    if state == OK:
        state = check_columns(model, out, model[0].num_velocities)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix))
def regressor(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes out (nv, 10 bodies)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, x, x)
    if out.shape[0] != v.shape[0] or out.shape[1] != 10 * (frames(space).shape[0] - 1):
        state = WRONG_LENGTH
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, stack))
def placement(space, function, option, q, v, x, out):
    """Call a function of q (nq,) that writes a pose a body, (bodies + 1, 4, 4)."""
    state = check_positions(bodies(space), q)
    if state == OK:
        state = check_rows(frames(space), out, 4)
    if state == OK and out.shape[2] != 4:
        state = WRONG_LENGTH
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, floats))
def state(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,); x and out are not the user's and have their lengths."""
    model = bodies(space)
    code = check_positions(model, q)
    if code == OK:
        code = check_velocities(model, v, v, v)
    if code != OK:
        return code
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, floats))
def derivatives(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,); out is not the user's and has its length."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, x, x)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, floats))
def retract(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (ndx,) that writes out (nq,)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_positions(model, out)
    if state == OK:
        state = check_steps(model, v)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, floats))
def difference(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nq,) that writes out (ndx,)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_positions(model, v)
    if state == OK:
        state = check_steps(model, out)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, floats))
def rates(space, function, option, q, v, x, out):
    """Call a function of q (nq,), v (nv,) that writes out (ndx,)."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, v, v)
    if state == OK:
        state = check_steps(model, out)
    if state != OK:
        return state
    return call_address(function, (space, option, q, v, x, out))


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
        state = OK
        q_s = q[s * strides[0]]
        v_s = v[s * strides[1]]
        if apply != 0:
            state = call_address(apply, (space, 0, q_s, v_s, wrenches[s * strides[3]], out[s]))
        if state == OK:
            x_s = x[s * strides[2]]
            state = call_address(function, (space, option, q_s, v_s, x_s, out[s]))
        states[s] = state
        if state != OK:
            return s
    return last
