"""Vector-Jacobian products of constraints that are no joints, each by its own bodies alone.

With factors L, Y, Z and G of the rows of a constraint, and weights x of efforts, a constraint whose
rows have the wrenches W on bodies adds the term

    psi = -L . (W . X + c x) + Y . g'' + Z . g' + G . g,        g'' = W . A + ...,

as loop joints do (`mbkit.kernels.vector_jacobian_products.loops`); c are coefficients of
velocities. All vectors of a body are taken at the origin of its frame, in the axes of the world:
twists V = (w, u) and X = (z, y), and the acceleration A = (a, b) of that origin, without gravity.
The partial derivatives of psi are E by X, K by A, G by V and H by a step D of the pose.

Seen from a body that moves by D, n is the change of its twist and a that of its acceleration, which
includes [n, V], and the change of gravity, as that does not turn with the body. The body adds E to
F, K to the adjoint of a, and to the adjoints of n and of D

    G_w + u x K_b,  G_u + K_b x w,  and -ad_V^T K    for n,
    H_u,  H_w + w x G_w + u x G_u + z x E_w + y x E_u + a x K_a + (b - g) x K_b    for D.

Numbers that a constraint reads, such as its length, enter by the partial derivative of psi.

Source: derived here; derivatives: `mbkit.kernels.vector_jacobian_products.slopes_of_constraints`.
"""

import numpy as np

from mbkit.kernels.compile import call_address, floats_at, helper, records_at
from mbkit.kernels.constraints.layout import CONSTRAINT, TABLE
from mbkit.kernels.constraints.workspace import closure_of, constraints, sites
from mbkit.kernels.derivatives.springs import velocity_at
from mbkit.kernels.duals import DIRECTIONS
from mbkit.kernels.status import CONSTRAINT_FAILED, OK, failure
from mbkit.kernels.vector_jacobian_products.forces import add_at_origin
from mbkit.kernels.vector_jacobian_products.python_constraints import ask_constraint
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    force_bracket,
    linear,
    load,
    store,
    subtract,
)
from mbkit.kernels.workspace import scratch_of

_i8 = np.int64
_f8 = np.float64

_ZERO = (0.0, 0.0, 0.0)

#: Derivatives of constraints that are no joints, for the adjoint.
ROWS = np.dtype(
    [
        ("with_residuals", _i8),  # whether factors of residuals count
        ("closes", _i8),  # whether g'' is A times accelerations alone: where loops are closed
        ("time", _f8),
        ("space", _i8),  # SPACE of dual numbers
        ("table", _i8),  # CONSTRAINT entries of that SPACE
        ("slopes", _i8),  # functions by address: see `slopes_of_constraints`
        ("slopes_by_numbers", _i8),
        ("called", _i8),  # CALLED_CONSTRAINT entries, by constraint
        ("count", _i8),
        ("bodies", _i8),  # BODY_OF_ROW entries, as many as a constraint has at most
        ("q", _i8),  # the state of the stage
        ("v", _i8),
        ("vdot", _i8),
        ("x", _i8),  # weights of efforts
        ("factors", _i8),  # (5, m)
        ("by_q", _i8),  # (ndx,), derivatives by joints are added to it
        ("by_v", _i8),
    ],
    align=True,
)

#: A constraint: the rows of the tree whose joints it names; its numbers as dual numbers, so many
#: sets of `DIRECTIONS` directions each, and the sums of derivatives by these directions.
CALLED_CONSTRAINT = np.dtype(
    [
        ("rows", _i8),
        ("num_rows", _i8),
        ("seeds", _i8),
        ("num_seeds", _i8),
        ("size", _i8),  # bytes of one set
        ("sums", _i8),
        ("said", _i8),  # of a constraint in Python: its memory, and how many numbers that has
        ("room", _i8),
    ],
    align=True,
)

#: A body of a constraint: its row of the tree; its pose; from the origin of the tree; V, A without
#: and X; E, G, H and K.
BODY_OF_ROW = np.dtype(
    [
        ("row", _i8),
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
        ("arm", _f8, (3,)),
        ("V", _f8, (6,)),
        ("A", _f8, (6,)),
        ("X", _f8, (6,)),
        ("E", _f8, (6,)),
        ("G", _f8, (6,)),
        ("H", _f8, (6,)),
        ("K", _f8, (6,)),
    ],
    align=True,
)


@helper
def place_on_row(space, site, sums, body):
    """Write the pose and motion of a body of a constraint; needs the poses of the sites."""
    i = site.row
    carrier = scratch_of(space)[i]
    arm = subtract(load(site.p), load(sums.origins[i]))
    for j in range(3):
        body.p[j] = site.p[j]
        body.arm[j] = arm[j]
        for k in range(3):
            body.R[j, k] = site.R[j, k]
    V, A, X = carrier.V, carrier.A, sums.twists[i]
    w = angular(V)
    u = velocity_at(w, linear(V), arm)
    store(body.V, w, u)
    store(body.X, angular(X), velocity_at(angular(X), linear(X), arm))
    b = add(velocity_at(angular(A), linear(A), arm), cross(w, u))
    store(body.A, angular(A), subtract(b, linear(scratch_of(space)[0].A)))
    body.row = i


@helper
def pull_row(space, sums, body):
    """Add the terms of a body to F, and to the adjoints of a, n and D."""
    carrier = scratch_of(space)[body.row]
    r = load(body.arm)
    E, G, H, K = body.E, body.G, body.H, body.K
    w, u = angular(body.V), linear(body.V)
    K_b = linear(K)
    add_at_origin(carrier.F, r, angular(E), linear(E))
    add_at_origin(sums.momenta[body.row], r, angular(K), K_b)
    t, f = add(angular(G), cross(u, K_b)), add(linear(G), cross(K_b, w))
    add_at_origin(sums.turns[body.row], r, t, f)
    V = carrier.V
    t, f = add(angular(K), cross(r, K_b)), K_b
    t, f = force_bracket(angular(V), linear(V), t, f)
    accumulate(sums.turns[body.row], t, f)
    b = add(linear(body.A), linear(scratch_of(space)[0].A))
    by_V = add(cross(w, angular(G)), cross(u, linear(G)))
    by_X = add(cross(angular(body.X), angular(E)), cross(linear(body.X), linear(E)))
    by_A = add(cross(angular(body.A), angular(K)), cross(b, K_b))
    t = add(angular(H), add(add(by_V, by_X), by_A))
    add_at_origin(sums.pushes[body.row], r, t, linear(H))


@helper
def add_by_numbers(memory, c):
    """Add the derivatives by the numbers of a constraint, one set of dual numbers after another."""
    record = records_at(memory, 1, ROWS)[0]
    own = records_at(record.called, record.count, CALLED_CONSTRAINT)[c]
    if own.num_seeds == 0:
        return OK
    row = records_at(record.table, record.count, CONSTRAINT)[c]
    still = row.parameters
    sums = floats_at(own.sums, DIRECTIONS * own.num_seeds)
    status = OK
    for part in range(own.num_seeds):
        row.parameters = own.seeds + part * own.size
        out = sums[DIRECTIONS * part : DIRECTIONS * (part + 1)]
        if call_address(record.slopes_by_numbers, (record.space, memory, c, out)) != OK:
            status = failure(CONSTRAINT_FAILED, c)
    row.parameters = still
    return status


@helper
def set_state(record, state, weights, out):
    """Write the addresses of the state, the weights and the sums by joints into the record."""
    x, factors = weights
    by_q, by_v = out
    record.q = state.q.ctypes.data
    record.v = state.v.ctypes.data
    record.vdot = state.vdot.ctypes.data
    record.x = x.ctypes.data
    record.factors = factors.ctypes.data
    record.by_q = by_q.ctypes.data
    record.by_v = by_v.ctypes.data


@helper
def add_constraints(space, told, state, weights, sums, out):
    """Add constraints that are no joints to the sums of their bodies; terms of joints to out.

    told: the address of `ROWS`, or 0, and `with_residuals`, `closes` and `time` there; weights: x
    (nv,), factors (5, m). Needs the poses of the sites.
    """
    memory, with_residuals, closes, time = told
    if memory == 0:
        return OK
    record = records_at(memory, 1, ROWS)[0]
    record.with_residuals = with_residuals
    record.closes = closes
    record.time = time
    set_state(record, state, weights, out)
    closure = closure_of(space)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        if constraint.kind != TABLE:
            continue
        own = records_at(record.bodies, constraint.num_sites, BODY_OF_ROW)
        for s in range(constraint.num_sites):
            place_on_row(space, sites(closure)[constraint.first_site + s], sums, own[s])
        called = records_at(record.called, record.count, CALLED_CONSTRAINT)[c]
        if called.said != 0:
            given = state, weights[0], weights[1]
            status = ask_constraint(space, (record, called), (constraint, c), own, given, out)
        else:
            status = call_address(record.slopes, (record.space, memory, c))
            if status == OK:
                status = add_by_numbers(memory, c)
        if status != OK:
            return status
        for s in range(constraint.num_sites):
            if own[s].row != 0:
                pull_row(space, sums, own[s])
    return OK
