"""Vector-Jacobian products of joints that close loops, for the adjoint of closed mechanisms.

Let a and b be the bodies of a loop joint, and all vectors be in the axes of its successor's frame
C_b: V_a and A_a the twist and acceleration of a, X_a its twist at velocities x, the weights of
efforts, V = V_b - V_a and so on, T the pose of the joint, b_J its S-dot v_J. With L, Y, Z and G,
each the sum of the wrenches W of the rows times factors,

    psi = -L . X + Y . (A - [V_a, V] - b_J) + Z . V + G . log(T_J^-1 T)

are the terms of the multipliers, of the rows of accelerations, of rates and of residuals. If the
bodies move by D_b and D_a, and n, a and dX are the changes seen from each body, components of
vectors of b do not turn, T moves by delta = D_b - D_a, and V_a by n_a - [delta, V_a]. So

    dpsi = -L . (dX_b - dX_a) + Y . (a_b - a_a) + tau . (n_b - n_a) + gamma . delta,
    sigma = Z - beta,    beta = d(Y . b_J)/dV,    tau = Z - beta - ad_(V_a + V_b)^T Y,
    gamma = kappa + ad_Xa^T L - ad_Aa^T Y - ad_Va^T (sigma - ad_Vb^T Y),

where a_b includes [n_b, V_b], and kappa is the partial derivative of psi by T. These are wrenches
on b, and their opposites on a: `dynamics` in this package sums them.

kappa is zero without residuals for joints whose wrenches are constant; else it and beta come from
`called_loop_joints` in this package or, for joints without functions on dual numbers, from
`slopes_of_loop_joints`.
Source: derived here.
"""

from typing import NamedTuple

from mbkit.kernels.compile import floats, floats_at, helper, int64
from mbkit.kernels.constraints.layout import LOOP_JOINT
from mbkit.kernels.constraints.workspace import closure_of, constraints, sites
from mbkit.kernels.derivatives.joints.loop_joint import (
    at_loop_joint,
    move_sites,
    set_current_wrenches,
)
from mbkit.kernels.status import CONSTRAINT_FAILED, OK, failure
from mbkit.kernels.vector_jacobian_products.called_loop_joints import add_called_slopes
from mbkit.kernels.vector_jacobian_products.places import add_place
from mbkit.kernels.vector_jacobian_products.slopes_of_loop_joints import (
    Motion,
    add_slopes,
    is_zero,
    minus,
    total,
    totals,
)
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    force_bracket,
    force_to_parent,
    linear,
    load,
    motion_bracket,
    motion_to_child,
    scale,
    subtract,
)
from mbkit.kernels.workspace import scratch_of

_ZERO = (0.0, 0.0, 0.0)


class Factors(NamedTuple):
    """Factors of the rows, (m,) each: see the module's docstring."""

    multipliers: floats  # L
    accelerations: floats  # Y
    rates: floats  # Z
    residuals: floats  # G, or none
    closed: floats  # G where residuals are zero, or none: log(T_J^-1 T) moves as T does
    called: int64  # CALLED_LOOPS: derivatives on dual numbers; or 0: by differences


@helper
def pose_of(body):
    """The pose in R, p, as rows and origin."""
    return load(body.R[0]), load(body.R[1]), load(body.R[2]), load(body.p)


@helper
def plus(a, b):
    """The sum of two pairs."""
    return add(a[0], b[0]), add(a[1], b[1])


@helper
def bracket(V, F):
    """-ad_V^T F."""
    return force_bracket(V[0], V[1], F[0], F[1])


@helper
def seen(R, r, V):
    """A twist in memory, in the axes of C_b."""
    return motion_to_child(R, r, angular(V), linear(V))


@helper
def set_slopes(space, loop, wrenches, factors, motion):
    """kappa into F of the joint's memory, and beta into A."""
    if factors.called != 0:
        return add_called_slopes(factors.called, loop, factors, motion)
    closure = closure_of(space)
    buffer = floats_at(closure.buffer, closure.num_buffer)
    return add_slopes(loop, wrenches, factors, motion, buffer)


@helper
def add_loop(space, loop, factors, sums):
    """Add the terms of one loop joint to the sums of its bodies."""
    a, b = loop.a, loop.b
    i, j = a.row, b.row
    at_a, at_b = scratch_of(space)[i], scratch_of(space)[j]
    r_a = subtract(load(b.p), load(sums.origins[i]))
    r_b = subtract(load(b.p), load(sums.origins[j]))
    X_a, V_a, A_a = seen(b.R, r_a, sums.twists[i]), seen(b.R, r_a, at_a.V), seen(b.R, r_a, at_a.A)
    X_b, V_b, A_b = seen(b.R, r_b, sums.twists[j]), seen(b.R, r_b, at_b.V), seen(b.R, r_b, at_b.A)
    V = minus(V_b, V_a)
    turned = motion_bracket(V_a[0], V_a[1], V[0], V[1])
    status = set_current_wrenches(loop)
    wrenches = totals(loop, factors)
    shut = _ZERO, _ZERO
    if factors.closed.shape[0] != 0:
        shut = total(loop, factors.closed)
    motion = Motion(
        minus(X_b, X_a),
        V,
        minus(minus(A_b, A_a), turned),
        pose_of(loop.body),
        loop.joint.constant == 0 and not (is_zero(V) or is_zero(wrenches.Y)),
    )
    if status == OK:
        status = set_slopes(space, loop, wrenches, factors, motion)
    if status != OK:
        return status
    L, Y, Z, _ = wrenches
    sigma = minus(Z, (angular(loop.body.A), linear(loop.body.A)))
    inner = plus(bracket(V_b, Y), sigma)
    turn = plus(bracket(V_a, Y), inner)
    push = minus((angular(loop.body.F), linear(loop.body.F)), bracket(X_a, L))
    push = plus(push, plus(bracket(A_a, Y), bracket(V_a, inner)))
    push = plus(push, shut)
    s = loop.constraint.first_site
    pull_body(at_a, sums, (i, s), -1.0, (b.R, r_a), (L, Y, turn, push))
    pull_body(at_b, sums, (j, s + 1), 1.0, (b.R, r_b), (L, Y, turn, push))
    return OK


@helper
def at_origin(R, r, sign, wrench):
    """A wrench given in the axes of C_b, times a sign, in those of the world at the origin."""
    t, f = force_to_parent(R, r, wrench[0], wrench[1])
    return scale(sign, t), scale(sign, f)


@helper
def pull_body(body, sums, place, sign, frame, wrenches):
    """Add L, Y, tau and gamma, given in the axes of C_b, to the sums of a body.

    `place` are the rows of the body and of the site on it.
    """
    i, site = place
    R, r = frame
    F = at_origin(R, r, -sign, wrenches[0])
    P = at_origin(R, r, sign, wrenches[1])
    turn = at_origin(R, r, sign, wrenches[2])
    G = at_origin(R, r, sign, wrenches[3])
    if i != 0:
        accumulate(body.F, F[0], F[1])
        accumulate(sums.momenta[i], P[0], P[1])
        accumulate(sums.turns[i], turn[0], turn[1])
        accumulate(sums.pushes[i], G[0], G[1])
    if sums.sites.shape[0] != 0:
        p = load(body.world_p)
        add_place(body, p, sums.twists[i], (P, F, turn, G), sums.sites[site])


@helper
def place_sites(space, origins):
    """Place the frames of the constraints in the world; needs poses about the origins."""
    move_sites(space)
    table = sites(closure_of(space))
    for s in range(table.shape[0]):
        site = table[s]
        for j in range(3):
            site.p[j] += origins[site.row, j]


@helper
def add_loops(space, factors, sums):
    """Add the loop joints to the sums of their bodies alone; needs poses, V, A and W of all.

    Places the sites of constraints as well: `place_sites`.
    """
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        if every[c].kind != LOOP_JOINT:
            continue
        if at_loop_joint(space, every[c], add_loop, factors, sums) != OK:
            return failure(CONSTRAINT_FAILED, c)
    return OK
