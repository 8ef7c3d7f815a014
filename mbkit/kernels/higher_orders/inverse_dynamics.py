"""Rates of inverse dynamics of any order, as elastic joints need them, by series of wrenches.

With the momentum P = M V and the acceleration of gravity g, both in the frame of the body, a body
needs, and hands on to its parent, from which it moves by the twist x,

    W = P' - ad_V^T P - M (0, g),   g' = -w x g,   d/dt (Ad_C^-T W) = Ad_C^-T (W' - ad_x^T W).

All products are of series; the efforts are S^T W. Source: Mueller 2018, section 6.3, here for any
joint and order.
"""

from mbkit.kernels.compile import address_kernel, as_array, helper, records_at
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.higher_orders.layout import PLAN
from mbkit.kernels.higher_orders.memory import new_room
from mbkit.kernels.higher_orders.motion import has_pieces, outward, relative_twist
from mbkit.kernels.higher_orders.series import add_force_brackets, factorial
from mbkit.kernels.layout import SCREW
from mbkit.kernels.recursions.inertias import rigid_times
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    dot,
    force_to_parent,
    linear,
    load,
    rotate_back,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def own_wrench(row, first, V, P, g):
    """W as a series into V, of one term less; `first` is the first term of g.

    P and g are memory for series.
    """
    for n in range(V.shape[0]):
        t, f = rigid_times(row, angular(V[n]), linear(V[n]))
        store(P[n], t, f)
    store(g[0], _ZERO, first)
    for n in range(V.shape[0] - 1):
        turned = _ZERO
        for j in range(n + 1):
            turned = add(turned, cross(angular(V[j]), linear(g[n - j])))
        store(g[n + 1], _ZERO, scale(-1.0 / (n + 1), turned))
    # from the last term, so that V is read before it is written
    for n in range(V.shape[0] - 2, -1, -1):
        t, f = rigid_times(row, _ZERO, linear(g[n]))
        t = subtract(scale(n + 1.0, angular(P[n + 1])), t)
        f = subtract(scale(n + 1.0, linear(P[n + 1])), f)
        t, f = add_force_brackets(V, P, n, t, f)
        store(V[n], t, f)


@helper
def wrench_derivative(x, triangle, n, t, f):
    """The n-th derivative of Ad_C^-T W, less the constant Ad_C^-T, for W_n = (t, f).

    As `mbkit.kernels.higher_orders.series.outward_derivative`, with D = d/dt - ad_x^T.
    """
    store(triangle[0, n], t, f)
    for m in range(1, n + 1):
        k = n - m
        y = triangle[m - 1]
        t = scale(k + 1.0, angular(y[k + 1]))
        f = scale(k + 1.0, linear(y[k + 1]))
        t, f = add_force_brackets(x, y, k, t, f)
        store(triangle[m, k], t, f)
    return t, f


@helper
def effort(row, i, plan, body, c, W, columns):
    """The last term of S_c . W; W has one term less than series of the plan, which is not read."""
    n = W.shape[0] - 2
    if has_pieces(plan, i):
        total = 0.0
        for j in range(n + 1):
            S = columns[c, j]
            total += dot(angular(S), angular(W[n - j])) + dot(linear(S), linear(W[n - j]))
        return total
    if row.kind == SCREW:
        return row.rate * W[n, 2] + row.lead * W[n, 5]
    S = body.S[c]
    return dot(angular(S), angular(W[n])) + dot(linear(S), linear(W[n]))


@address_kernel(EVALUATION)
def inverse_dynamics_rate(space, option, q, _v, given, out):
    """The rate of order count - 2 of M vdot + b, out (nv,).

    Reads   q; given: v and its derivatives (count, nv), then numbers that the plan requires.
    option  address of a PLAN.
    """
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    scratch = scratch_of(space)
    count = plan.count
    nv = model[0].num_velocities
    q = positions(model, q)
    given = as_array(given, count * nv + plan.num_given)
    memory, room = new_room(model, plan, given)
    status = outward(space, option, q, given, count, memory, room)
    if status != OK:
        return status
    behind = given[count * nv :]
    W = room.V
    store(scratch[0].A, _ZERO, load(model[0].gravity))
    for i in range(1, model.shape[0]):
        body = scratch[i]
        g = rotate_back(body.R, linear(scratch[model[i].parent].A))
        store(body.A, _ZERO, g)
        own_wrench(model[i], g, W[i], room.own, room.x)
    factor = factorial(count - 2)
    tau = as_matrix(out, 1, nv)[0]
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        if relative_twist(space, option, i, q, behind, memory, room) != OK:
            return failure(JOINT_FAILED, i)
        for c in range(row.num_velocities):
            rate = effort(row, i, plan, body, c, W[i], room.columns)
            tau[row.first_velocity + c] = factor * rate
        if row.parent != 0:
            inverse = 1.0  # 1 / n!
            for n in range(count - 1):
                if n > 1:
                    inverse /= n
                t, f = angular(W[i, n]), linear(W[i, n])
                t, f = wrench_derivative(room.x, room.triangle, n, t, f)
                t, f = force_to_parent(body.R, body.p, scale(inverse, t), scale(inverse, f))
                accumulate(W[row.parent, n], t, f)
    return OK
