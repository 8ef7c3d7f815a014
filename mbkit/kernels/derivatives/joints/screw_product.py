"""Changes of S and S-dot v of a product of exponentials, in closed form.

Of T = exp(X_1 q_1) ... exp(X_n q_n) with constant screws X, the columns S_c = Ad^-1 X_c of the
twist of the body in its own frame are carried by the exponentials after their own:

    d_m S_c = [S_c, S_m] for c before m, else 0,

so that, with A_m = sum over c before m of v_c S_c, and B_m the sum over all others,

    S-dot_m = [S_m, B_m - v_m S_m],           S-dot v = sum over m of v_m [A_m, S_m],
    d(S-dot v)/dv_m = S-dot_m + [A_m, S_m],   d_m (S-dot v) = [b_m, S_m] + [[A_m, S_m], B_m],

b_m the part of S-dot v that the coordinates before m make: d_m is a derivation, of which Jacobi's
identity makes [[S_c, S_j], S_m] where both c and j are before m. A joint turned round is the
product of the opposite screws in the opposite order.

Source: Mueller 2018 (Screw and Lie group theory in multibody kinematics), (3) and (4): c < m. The
rest is derived here.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.recursions.columns import joint_column, joint_sum
from mbkit.kernels.vectors import add, motion_bracket, scale, store, subtract

_ZERO = (0.0, 0.0, 0.0)


@helper
def in_order(row, k):
    """The index of the k-th exponential, counted from the body before."""
    return row.num_velocities - 1 - k if row.reversed != 0 else k


@helper
def rates_of_columns(row, body, v, change):
    """change.S = S-dot."""
    first = row.first_velocity
    bw, bu = joint_sum(row, body, v)
    for k in range(row.num_velocities):
        c = in_order(row, k)
        w, u = joint_column(row, body, c)
        bw = subtract(bw, scale(v[first + c], w))
        bu = subtract(bu, scale(v[first + c], u))
        x, y = motion_bracket(w, u, bw, bu)
        store(change.S[c], x, y)


@helper
def along_coordinates(row, body, v, changes):
    """S and S-dot v by each coordinate, and S-dot v by each velocity."""
    n = row.num_velocities
    first = row.first_velocity
    aw = _ZERO
    au = _ZERO
    cw = _ZERO  # b_m
    cu = _ZERO
    bw, bu = joint_sum(row, body, v)
    for k in range(n):
        m = in_order(row, k)
        w, u = joint_column(row, body, m)
        ew, eu = motion_bracket(aw, au, w, u)
        x, y = motion_bracket(cw, cu, w, u)
        z, t = motion_bracket(ew, eu, bw, bu)
        change = changes[row.first_step + m]
        store(change.bias, add(x, z), add(y, t))
        for i in range(n):
            c = in_order(row, i)
            if i < k:
                sw, su = joint_column(row, body, c)
                x, y = motion_bracket(sw, su, w, u)
                store(change.S[c], x, y)
            else:
                store(change.S[c], _ZERO, _ZERO)
        speed = v[first + m]
        bw = subtract(bw, scale(speed, w))
        bu = subtract(bu, scale(speed, u))
        x, y = motion_bracket(w, u, bw, bu)
        store(changes[first + m].bias_rate, add(x, ew), add(y, eu))
        cw = add(cw, scale(speed, ew))
        cu = add(cu, scale(speed, eu))
        aw = add(aw, scale(speed, w))
        au = add(au, scale(speed, u))
