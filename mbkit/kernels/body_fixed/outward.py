"""The outward pass that all recursions in body-fixed twists share."""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import SCREW
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    linear,
    motion_bracket,
    motion_to_child,
    store,
)


@helper
def twist(model, work, i, v):
    """V_i = Ad_C^-1 V_p + S v into V; the joint's acceleration ad_V S v + S-dot v into A.

    Source: Kim 2012, (43) and (44); for a screw S = (0, 0, rate, 0, 0, lead) and S-dot = 0.
    """
    row = model[i]
    body = work[i]
    parent = work[row.parent]
    w, u = motion_to_child(body.R, body.p, angular(parent.V), linear(parent.V))
    if row.kind == SCREW:
        rate = row.rate * v[row.first_velocity]
        lead = row.lead * v[row.first_velocity]
        # ad_V (0, 0, rate, 0, 0, lead)
        store(
            body.A,
            (w[1] * rate, -w[0] * rate, 0.0),
            (u[1] * rate + w[1] * lead, -u[0] * rate - w[0] * lead, 0.0),
        )
        store(body.V, (w[0], w[1], w[2] + rate), (u[0], u[1], u[2] + lead))
        return
    x, y = joint_sum(row, body, v)
    w = add(w, x)
    u = add(u, y)
    store(body.V, w, u)
    a, b = motion_bracket(w, u, x, y)
    store(body.A, add(a, angular(body.bias)), add(b, linear(body.bias)))


@helper
def joint_sum(row, body, v):
    """S v as (angular, linear)."""
    w = (0.0, 0.0, 0.0)
    u = (0.0, 0.0, 0.0)
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        S = body.S[c]
        w = (w[0] + S[0] * v[k], w[1] + S[1] * v[k], w[2] + S[2] * v[k])
        u = (u[0] + S[3] * v[k], u[1] + S[4] * v[k], u[2] + S[5] * v[k])
    return w, u


@helper
def acceleration(model, work, i, vdot):
    """A_i = Ad_C^-1 A_p + S vdot + what `twist` left in A."""
    row = model[i]
    body = work[i]
    parent = work[row.parent]
    w, u = motion_to_child(body.R, body.p, angular(parent.A), linear(parent.A))
    if row.kind == SCREW:
        a = vdot[row.first_velocity]
        accumulate(body.A, (w[0], w[1], w[2] + row.rate * a), (u[0], u[1], u[2] + row.lead * a))
        return
    x, y = joint_sum(row, body, vdot)
    accumulate(body.A, add(w, x), add(u, y))


@helper
def twist_pass(model, work, v):
    """Twists of all rows; the world stands still."""
    store(work[0].V, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for i in range(1, model.shape[0]):
        twist(model, work, i, v)
