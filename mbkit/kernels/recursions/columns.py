"""Columns S of a joint's motion subspace in a recursion, taken from the scratch."""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import SCREW
from mbkit.kernels.recursions.inertias import articulated_times, rigid_times, trace
from mbkit.kernels.vectors import accumulate, add, angular, dot, linear, pairing, scale, store


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
def joint_column(row, body, c):
    """S_c as (angular, linear), body-fixed: that of a screw stands in its row."""
    if row.kind == SCREW:
        return (0.0, 0.0, row.rate), (0.0, 0.0, row.lead)
    return angular(body.S[c]), linear(body.S[c])


@helper
def is_hinge(row):
    """No: whatever moves the body, its columns are looked up."""
    return False


@helper
def acceleration(model, scratch, i, vdot, recursion):
    """A = P A_p + S vdot + A, where A is the part that `twist` has written."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    w, u = recursion.from_parent(body, parent, angular(parent.A), linear(parent.A))
    x, y = joint_sum(row, body, vdot)
    accumulate(body.A, add(w, x), add(u, y))


@helper
def add_column(row, body, c, a, w, u):
    """(w, u) + S a."""
    S = body.S[c]
    return add(w, scale(a, angular(S))), add(u, scale(a, linear(S)))


@helper
def column_power(row, body, c, t, f):
    """S . (t, f)."""
    return pairing(body.S[c], t, f)


@helper
def column_inertia(row, body, c, U):
    """U = I S; return S.U, and |S|^2 tr(I), the size of the terms it is the sum of."""
    S = body.S[c]
    x = angular(S)
    y = linear(S)
    t, f = articulated_times(body, x, y)
    store(U, t, f)
    size = dot(x, x) * trace(body.rotational) + dot(y, y) * trace(body.translational)
    return pairing(S, t, f), size


@helper
def column_wrench(row, body, c):
    """I S, rigid."""
    return rigid_times(body, angular(body.S[c]), linear(body.S[c]))


@helper
def columns_power(row, body, k, F, entries):
    """S . F for all columns of a subtree, S the k-th column of the joint."""
    tx, ty, tz, fx, fy, fz = F
    w = angular(body.S[k])
    u = linear(body.S[k])
    for c in range(tx.shape[0]):
        entries[c] = dot(w, (tx[c], ty[c], tz[c])) + dot(u, (fx[c], fy[c], fz[c]))
