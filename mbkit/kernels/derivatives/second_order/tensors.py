"""Tensors of second derivatives, and the directions by which they are taken."""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.second_order.motion import Room, twist_of
from mbkit.kernels.elementary import select
from mbkit.kernels.recursions.inertias import rigid_times, symmetric_times
from mbkit.kernels.vectors import add, angular, cross, dot, force_bracket, linear, scale

_ZERO = (0.0, 0.0, 0.0)
NOTHING = (_ZERO, _ZERO)


class Tensors(NamedTuple):
    """Arguments and results of the pass from the tips to the world.

    Attributes
    ----------
    model, scratch, directions, changes : (n,)
        Bodies of the tree, their scratch, and what each velocity and each step changes.
    room : Room
        What pairs of them change, and the path to the world.
    qq, vv, qv : (nv, ndx, ndx), (nv, nv, nv), (nv, ndx, nv)
        The derivatives.
    """

    model: Any
    scratch: Any
    directions: Any
    changes: Any
    room: Room
    qq: Any
    vv: Any
    qv: Any


class Direction(NamedTuple):
    """A step or a velocity of a joint: which it is, whether it is a step, and its D, n and a."""

    index: Any
    is_step: Any
    D: Any
    n: Any
    a: Any


@helper
def direction_of(tensors, k, m):
    """Direction m of joint k: its steps, and after them its velocities."""
    row = tensors.model[k]
    if m < row.ndx:
        step = tensors.room.steps[row.first_step + m]
        n = twist_of(step[6:])
        return Direction(row.first_step + m, True, twist_of(step), n, twist_of(step[12:]))
    j = row.first_velocity + m - row.ndx
    velocity = tensors.directions[j]
    zero = select(False, velocity.S[0], 0.0)  # a number like others
    still = (zero, zero, zero)
    return Direction(j, False, (still, still), twist_of(velocity.S), twist_of(velocity.rate))


@helper
def plus(a, b):
    """a + b, both (angular, linear)."""
    return add(a[0], b[0]), add(a[1], b[1])


@helper
def power(a, b):
    """a . b, both (angular, linear)."""
    return dot(a[0], b[0]) + dot(a[1], b[1])


@helper
def bracket_of_wrench(D, wrench):
    """-ad_D^T (t, f)."""
    return force_bracket(D[0], D[1], wrench[0], wrench[1])


@helper
def write(tensors, r, x, y, value):
    """The derivative of effort r by the directions x and y."""
    if x.is_step and y.is_step:
        tensors.qq[r, x.index, y.index] = value
        tensors.qq[r, y.index, x.index] = value
    elif x.is_step:
        tensors.qv[r, x.index, y.index] = value
    elif y.is_step:
        tensors.qv[r, y.index, x.index] = value
    else:
        tensors.vv[r, x.index, y.index] = value
        tensors.vv[r, y.index, x.index] = value


@helper
def turned(body, w):
    """B (w, .)."""
    h = body.coupling
    t = add(symmetric_times(body.rotational, w), cross(w, angular(h)))
    return t, scale(2.0, cross(w, linear(h)))


@helper
def wrench_of(body, x):
    """M a + B n."""
    t, f = rigid_times(body, x.a[0], x.a[1])
    return plus((t, f), turned(body, x.n[0]))
