"""Vector-Jacobian products of forces that are called, each by its own bodies and joints alone.

With its wrenches W on bodies and its efforts tau along joints, a force adds to weights times the
efforts of inverse dynamics, y . e, the term

    psi = -sum W . Y - tau . y,

Y the twist of the body at velocities y. All vectors of a body are taken at the origin of its frame,
in the axes of the world. The partial derivatives of psi are H by a step D of the pose, G by a
change n of the twist V = (w, u), and E = -W by a change of Y.
The passes over the bodies use changes as seen from the body: then a step turns V and Y as well. So
the body adds E to F, G to the adjoint of n, and to the adjoint of D

    force   H_u,
    moment  H_w + w x G_w + u x G_u + z x E_w + y x E_u,        Y = (z, y).

G, H and the derivatives by joints and by numbers of the force come from its own function on dual
numbers, `slopes_of_forces` in this package: two calls for each body, in any tree. The method of a
force in Python returns all of them at once: `python_forces`.
Source: derived here; `mbkit.kernels.vector_jacobian_products.dynamics` has the recursion.
"""

import numpy as np

from mbkit.kernels.compile import call_address, floats_at, helper, integers_at, records_at
from mbkit.kernels.derivatives.springs import velocity_at
from mbkit.kernels.forces.form import force_rows
from mbkit.kernels.layout import FORCE, SPACE
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.status import FORCE_FAILED, OK, failure
from mbkit.kernels.vector_jacobian_products.python_forces import ask_force
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    store,
)
from mbkit.kernels.workspace import frames, scratch_of, sites

_i8 = np.int64
_f8 = np.float64

#: The forces that the adjoint of a stage takes along.
CALLED = np.dtype(
    [
        ("time", _f8),  # of the stage
        ("space", _i8),  # SPACE of dual numbers
        ("table", _i8),  # FORCE entries of that SPACE
        ("slopes", _i8),  # functions by address: see `slopes_of_forces`
        ("slopes_by_numbers", _i8),
        ("moves_of_positions", _i8),
        ("forces", _i8),  # CALLED_FORCE entries
        ("count", _i8),
        ("bodies", _i8),  # BODY_OF_FORCE entries, as many as a force has at most
        ("q", _i8),  # the state of the stage
        ("v", _i8),
        ("y", _i8),  # weights of efforts
        ("by_q", _i8),  # (ndx,), derivatives by joints are added to it
        ("by_v", _i8),
    ],
    align=True,
)

#: Instead of the number of a force: the joints of all forces move to another state.
ALL_JOINTS = -1

#: One of them: its row of FORCE; its joints, by their rows of the tree; whether it acts on these or
#: names them; its numbers as dual numbers, so many sets of `MOVED` directions each, and the sums of
#: derivatives by these directions.
CALLED_FORCE = np.dtype(
    [
        ("force", _i8),
        ("rows", _i8),
        ("num_rows", _i8),
        ("names_joints", _i8),
        ("seeds", _i8),
        ("num_seeds", _i8),
        ("size", _i8),  # bytes of one set
        ("sums", _i8),
        ("said", _i8),  # of a force in Python: its memory (`python_forces` in this package), else 0
    ],
    align=True,
)

#: Directions of one set: those of dual numbers but one.
MOVED = 6

#: A body of a force: its row of the tree; pose, V and Y; E, G and H.
BODY_OF_FORCE = np.dtype(
    [
        ("row", _i8),
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
        ("arm", _f8, (3,)),  # from the origin of the tree
        ("V", _f8, (6,)),
        ("Y", _f8, (6,)),
        ("E", _f8, (6,)),
        ("G", _f8, (6,)),
        ("H", _f8, (6,)),
    ],
    align=True,
)


@helper
def place_on_body(space, site, sums, body):
    """Write the pose of a body of a force, and its twists."""
    i = site.row
    own = frames(space)[site.frame]
    carrier = scratch_of(space)[i]
    compose(carrier.world_R, carrier.world_p, own.R, own.p, body.R, body.p)
    arm = load(body.p)
    origin = sums.origins[i]
    for j in range(3):
        body.arm[j] = arm[j]
        body.p[j] += origin[j]
    V, Y = carrier.V, sums.twists[i]
    store(body.V, angular(V), velocity_at(angular(V), linear(V), arm))
    store(body.Y, angular(Y), velocity_at(angular(Y), linear(Y), arm))
    body.row = i


@helper
def add_at_origin(out, r, t, f):
    """Add a wrench at the point r, given at the origin."""
    accumulate(out, add(t, cross(r, f)), f)


@helper
def pull_body(carrier, sums, body):
    """Add the terms of a body to F, and to the adjoints of n and of D."""
    E, G, H = body.E, body.G, body.H
    r = load(body.arm)
    by_V = add(cross(angular(body.V), angular(G)), cross(linear(body.V), linear(G)))
    by_Y = add(cross(angular(body.Y), angular(E)), cross(linear(body.Y), linear(E)))
    add_at_origin(carrier.F, r, angular(E), linear(E))
    add_at_origin(sums.turns[body.row], r, angular(G), linear(G))
    add_at_origin(sums.pushes[body.row], r, add(angular(H), add(by_V, by_Y)), linear(H))


@helper
def add_by_numbers(memory, own, k):
    """Add the derivatives by the numbers of a force, one set of dual numbers after another."""
    called = records_at(memory, 1, CALLED)[0]
    row = records_at(called.table, own.force + 1, FORCE)[own.force]
    still = row.parameters
    sums = floats_at(own.sums, MOVED * own.num_seeds)
    status = OK
    for part in range(own.num_seeds):
        row.parameters = own.seeds + part * own.size
        out = sums[MOVED * part : MOVED * (part + 1)]
        if call_address(called.slopes_by_numbers, (called.space, memory, k, out)) != OK:
            status = failure(FORCE_FAILED, own.force)
    row.parameters = still
    return status


@helper
def add_called_forces(space, state, weights, sums, out):
    """Add the forces that are called to the sums of their bodies alone; terms of joints to out.

    Needs poses, V and Y; those of the world are zero. Adds nothing where the memory is that of the
    mechanism without forces.
    """
    if sums.called == 0 or records_at(space, 1, SPACE)[0].num_forces == 0:
        return OK
    by_q, by_v = out
    called = records_at(sums.called, 1, CALLED)[0]
    table = records_at(called.forces, called.count, CALLED_FORCE)
    scratch = scratch_of(space)
    called.q = state.q.ctypes.data
    called.v = state.v.ctypes.data
    called.y = weights.ctypes.data
    called.by_q = by_q.ctypes.data
    called.by_v = by_v.ctypes.data
    status = call_address(called.slopes, (called.space, sums.called, ALL_JOINTS))
    if status != OK:
        return status
    for k in range(called.count):
        row = force_rows(space)[table[k].force]
        own = records_at(called.bodies, row.num_bodies, BODY_OF_FORCE)
        which = integers_at(row.bodies, row.num_bodies)
        for b in range(row.num_bodies):
            place_on_body(space, sites(space)[which[b]], sums, own[b])
        if table[k].said != 0:
            which_one = called, sums.called, k
            status = ask_force(space, which_one, table[k], own, state, weights, out)
        else:
            status = call_address(called.slopes, (called.space, sums.called, k))
        if status == OK and table[k].num_seeds != 0:
            status = add_by_numbers(sums.called, table[k], k)
        if status != OK:
            return status
        for b in range(row.num_bodies):
            if own[b].row != 0:
                pull_body(scratch[own[b].row], sums, own[b])
    return OK
