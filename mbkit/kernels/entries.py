"""Entries of calls from Python: lengths are compared, then a function is called by address.

Every function has the form of `mbkit.kernels.evaluation`. What it does not read is given anyway,
as any array.
"""

from types import FunctionType
from typing import Any, NamedTuple

from mbkit.kernels.compile import (
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    pointer_at,
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


LENGTHS: Any = None  # of an entry, in each copy of the function below


def _checked(space, function, option, q, v, x, out):
    return call(LENGTHS(space, q, v, x, out), function, (space, option, q, v, x, out))


def entry(out):
    """Make a check of lengths a kernel that calls a function by address where they are right.

    `out` is the type of the result. The kernel is a copy of the function above, as in
    `mbkit.kernels.recursions.algorithms`: numba's cache finds no closures.
    """

    def decorate(lengths):
        own = lengths.__code__
        code = _checked.__code__.replace(
            co_name=own.co_name, co_qualname=own.co_qualname, co_firstlineno=own.co_firstlineno
        )
        copy = FunctionType(code, {**globals(), "LENGTHS": helper(lengths)})
        copy.__doc__ = lengths.__doc__
        return kernel(int64(int64, int64, int64, floats, floats, floats, out))(copy)

    return decorate


@entry(floats)
def dynamics(space, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes out (nv,)."""
    model = bodies(space)
    return both(check_positions(model, q), check_velocities(model, v, x, out))


@entry(matrix)
def jacobian(space, q, _v, _x, out):
    """Call a function of q (nq,) that writes out (6, nv)."""
    model = bodies(space)
    return both(check_positions(model, q), check_columns(model, out, 6))


@entry(matrix)
def motion(space, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes a row a body, (bodies + 1, 6)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, x))
    return both(lengths, check_rows(frames(space), out, 6))


@entry(matrix)
def square_of_state(space, q, v, _x, out):
    """Call a function of q (nq,), v (nv,) that writes out (nv, nv)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, v))
    return both(lengths, check_columns(model, out, model[0].num_velocities))


@entry(matrix)
def regressor(space, q, v, x, out):
    """Call a function of q (nq,), v (nv,), x (nv,) that writes out (nv, 10 bodies)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, x, x))
    width = 10 * (frames(space).shape[0] - 1)
    fits = out.shape[0] == v.shape[0] and out.shape[1] == width
    return both(lengths, OK if fits else WRONG_LENGTH)


@entry(stack)
def placement(space, q, _v, _x, out):
    """Call a function of q (nq,) that writes a pose a body, (bodies + 1, 4, 4)."""
    lengths = both(check_positions(bodies(space), q), check_rows(frames(space), out, 4))
    return both(lengths, OK if out.shape[2] == 4 else WRONG_LENGTH)


@entry(floats)
def state(space, q, v, _x, _out):
    """Call a function of q (nq,), v (nv,); x and out are not the user's and have their lengths."""
    model = bodies(space)
    return both(check_positions(model, q), check_velocities(model, v, v, v))


@entry(floats)
def derivatives(space, q, v, x, _out):
    """Call a function of q (nq,), v (nv,), x (nv,); out is not the user's and has its length."""
    model = bodies(space)
    return both(check_positions(model, q), check_velocities(model, v, x, x))


@entry(floats)
def retract(space, q, v, _x, out):
    """Call a function of q (nq,), v (ndx,) that writes out (nq,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_positions(model, out))
    return both(lengths, check_steps(model, v))


@entry(floats)
def difference(space, q, v, _x, out):
    """Call a function of q (nq,), v (nq,) that writes out (ndx,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_positions(model, v))
    return both(lengths, check_steps(model, out))


@entry(floats)
def rates(space, q, v, _x, out):
    """Call a function of q (nq,), v (nv,) that writes out (ndx,)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, v, v))
    return both(lengths, check_steps(model, out))


@kernel(int64(int64, int64, int64, floats, floats, floats, matrix, floats))
def loaded_dynamics(space, function, apply, q, v, x, wrenches, out):
    """As `dynamics`, with wrenches on the bodies, (bodies + 1, 6), that `apply` leaves for it."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_velocities(model, v, x, out))
    lengths = both(lengths, check_rows(frames(space), wrenches, 6))
    status = call(lengths, apply, (space, 0, q, v, wrenches, out))
    return call(status, function, (space, LOADED, q, v, x, out))


@kernel(int64(int64, int64, floats, matrix))
def square(space, function, q, out):
    """Call a function of q (nq,) that writes out (nv, nv)."""
    model = bodies(space)
    lengths = both(check_positions(model, q), check_columns(model, out, model[0].num_velocities))
    return call(lengths, function, (space, 0, q, q, q, out))


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


class LanesCall(NamedTuple):
    """What is called for `width` samples at once, and with what memory.

    Attributes
    ----------
    space, function, apply : int
        As for one sample, of lanes.
    width : int
        The number of lanes.
    q, v, x, wrenches, out : int
        Addresses of lanes for the arguments and the result.
    """

    space: int64
    function: int64
    apply: int64
    width: int64
    q: int64
    v: int64
    x: int64
    wrenches: int64
    out: int64


@helper
def one_by_one(space, call, rows, first, last):
    """What `batch` does."""
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


@kernel(int64(int64, typed(Call), typed(Rows), int64, int64), nogil=True)
def batch(space, call, rows, first, last):
    """Call a function for the samples from `first` to `last`, one a row of out.

    Returns the first sample that failed or is beyond the limit, or `last`.
    """
    return one_by_one(space, call, rows, first, last)


#: Numbers of a sample that go into lanes or out of them together: as many as a line of the cache.
_BLOCK = 8


@helper
def into_lanes(rows, first, stride, count, width, address):
    """Let lane j of number k be that of sample first + j; lanes that are over repeat the last."""
    size = rows.shape[1]
    target = floats_at(address, size * width)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        for j in range(width):
            row = rows[(first + min(j, count - 1)) * stride]
            for k in range(start, end):
                target[k * width + j] = row[k]


@helper
def from_lanes(address, rows, first, count, width):
    """The way back, of `count` samples."""
    size = rows.shape[1]
    source = floats_at(address, size * width)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        for j in range(count):
            row = rows[first + j]
            for k in range(start, end):
                row[k] = source[k * width + j]


@helper
def call_in_lanes(lanes, option, rows, first, count):
    """Call a function for `count` samples at once; return the status of them all."""
    width = lanes.width
    into_lanes(rows.q, first, rows.strides[0], count, width, lanes.q)
    into_lanes(rows.v, first, rows.strides[1], count, width, lanes.v)
    into_lanes(rows.x, first, rows.strides[2], count, width, lanes.x)
    q = pointer_at(lanes.q)
    v = pointer_at(lanes.v)
    out = pointer_at(lanes.out)
    if lanes.apply != 0:
        into_lanes(rows.wrenches, first, rows.strides[3], count, width, lanes.wrenches)
        status = call_address(lanes.apply, (lanes.space, 0, q, v, pointer_at(lanes.wrenches), out))
        if status != OK:
            return status
    status = call_address(lanes.function, (lanes.space, option, q, v, pointer_at(lanes.x), out))
    if status == OK:
        from_lanes(lanes.out, rows.out, first, count, width)
    return status


@kernel(int64(int64, typed(Call), typed(LanesCall), typed(Rows), int64, int64), nogil=True)
def batch_in_lanes(space, call, lanes, rows, first, last):
    """As `batch`, several samples at once; where one of them fails they are called one by one."""
    s = first
    while s < last:
        if s > rows.limit[0]:
            return s
        end = min(s + lanes.width, last)
        if call_in_lanes(lanes, call.option, rows, s, end - s) == OK:
            for k in range(s, end):
                rows.states[k] = OK
        else:
            reached = one_by_one(space, call, rows, s, end)
            if reached != end:
                return reached
        s = end
    return last
