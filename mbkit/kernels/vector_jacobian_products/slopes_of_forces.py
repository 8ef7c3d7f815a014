"""Derivatives of one force on dual numbers, for the adjoint: see `forces` in this package.

Compiled for dual numbers alone (`mbkit.kernels.duals`). Along six directions a body is moved, or is
given a twist. The seventh shows whether a force that names no joints reads them nevertheless:
all of their numbers change along it, each at another rate.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import at, floats_at, helper, integers_at, records_at
from mbkit.kernels.derivatives.joints.joint import step_from
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.elementary import value_of
from mbkit.kernels.forces.force_pass import call_force
from mbkit.kernels.forces.form import force_rows
from mbkit.kernels.layout import (
    JOINT_NUM_VELOCITIES,
    JOINT_SIZE,
    JOINT_VELOCITY,
    SPACE,
)
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vector_jacobian_products.forces import (
    ALL_JOINTS,
    BODY_OF_FORCE,
    CALLED,
    CALLED_FORCE,
    MOVED,
)
from mbkit.kernels.vectors import add, angular, cross, linear, load, store
from mbkit.kernels.workspace import bodies, powers_of, scratch_of, sites, trials

#: The forms of `slopes_of_force`, and of `slopes_by_numbers` and `moves_of_positions`.
FORM = "sii"
FORM_BY_NUMBERS = FORM_OF_MOVES = "siic"

_ZERO = (0.0, 0.0, 0.0)


class Given(NamedTuple):
    """A force and its bodies: see `CALLED` and `CALLED_FORCE`; the state, and velocities y."""

    k: Any  # its row of FORCE
    names_joints: Any
    rows: Any  # of its joints
    which: Any  # its bodies, rows of SITE
    bodies: Any  # BODY_OF_FORCE entries
    time: Any
    q: Any
    v: Any
    y: Any


@helper
def put_body(site, body, turn, shift, w, u):
    """Move a body from its pose by a turn and a shift, and change its twist by (w, u)."""
    for j in range(3):
        column = (body.R[0, j], body.R[1, j], body.R[2, j])
        column = add(column, cross(turn, column))
        for i in range(3):
            site.R[i, j] = column[i]
    p = add(load(body.p), shift)
    for j in range(3):
        site.p[j] = p[j]
    store(site.V, add(angular(body.V), w), add(linear(body.V), u))


@helper
def six_directions():
    """The first six directions, as the entries of two vectors that are zero."""
    return (
        (moving(0.0, 0, 1.0), moving(0.0, 1, 1.0), moving(0.0, 2, 1.0)),
        (moving(0.0, 3, 1.0), moving(0.0, 4, 1.0), moving(0.0, 5, 1.0)),
    )


@helper
def is_first(which, b):
    """Whether body b is none of those before it in the list."""
    first = True
    for a in range(b):
        first = first and which[a] != which[b]
    return first


@helper
def weighted_power(space, given):
    """A status, and psi = -sum W . Y - tau . y of the force at the current dual numbers."""
    row = force_rows(space)[given.k]
    entries = integers_at(row.joints, JOINT_SIZE * row.num_joints)
    count = row.num_joints if given.names_joints != 0 else 0  # others act on bodies alone
    table = sites(space)
    trial, speed, _ = trials(space)
    tau = floats_at(records_at(space, 1, SPACE)[0].efforts, speed.shape[0])
    for i in range(count):
        first = entries[JOINT_SIZE * i + JOINT_VELOCITY]
        for j in range(first, first + entries[JOINT_SIZE * i + JOINT_NUM_VELOCITIES]):
            tau[j] = 0.0
    for b in range(row.num_bodies):
        store(table[given.which[b]].W, _ZERO, _ZERO)
    status = call_force(
        space, given.k, given.time, at(trial, 0), at(speed, 0), at(tau, 0), powers_of(space)
    )
    psi = moving(0.0, 0, 0.0)
    for i in range(count):
        first = entries[JOINT_SIZE * i + JOINT_VELOCITY]
        for j in range(first, first + entries[JOINT_SIZE * i + JOINT_NUM_VELOCITIES]):
            psi -= given.y[j] * tau[j]
    for b in range(row.num_bodies):
        if is_first(given.which, b):
            W = table[given.which[b]].W
            for j in range(6):
                psi -= given.bodies[b].Y[j] * W[j]
    return status, psi


@helper
def put_joints(space, given, first):
    """Let the joints of the force move along their entries from `first` on, q before v of each."""
    model = bodies(space)
    scratch = scratch_of(space)
    trial, speed, dx = trials(space)
    size = trial.shape[0] + speed.shape[0] + dx.shape[0]
    start = floats_at(records_at(space, 1, SPACE)[0].trial, size + trial.shape[0])[size:]
    rows = given.rows
    k = -first
    for i in rows:
        row = model[i]
        for j in range(row.first_position, row.first_position + row.num_positions):
            start[j] = given.q[j]
        for j in range(row.first_step, row.first_step + row.ndx):
            dx[j] = moving(0.0, k, 1.0) if 0 <= k < DIRECTIONS else 0.0
            k += 1
        if step_from(row, scratch[i], start, dx, trial) != OK:
            return failure(JOINT_FAILED, i)
        for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
            speed[j] = moving(given.v[j], k, 1.0) if 0 <= k < DIRECTIONS else given.v[j]
            k += 1
    return OK


@helper
def sway(x, first, count, out):
    """Let numbers of joints change along the seventh direction, each at another rate."""
    for j in range(first, first + count):
        out[j] = moving(x[j], MOVED, 1.0 / (j + 1.37))


@helper
def move_bodies(space, given):
    """E, G and H of the bodies; a status, and whether joints are read along the seventh."""
    table = sites(space)
    count = given.bodies.shape[0]
    for b in range(count):
        put_body(table[given.which[b]], given.bodies[b], _ZERO, _ZERO, _ZERO, _ZERO)
    a, c = six_directions()
    reads = False
    for b in range(count):
        body = given.bodies[b]
        for j in range(6):
            body.E[j] = body.G[j] = body.H[j] = 0.0
        site = table[given.which[b]]
        if body.row == 0 or not is_first(given.which, b):
            continue
        put_body(site, body, a, c, _ZERO, _ZERO)
        status, psi = weighted_power(space, given)
        if status != OK:
            return status, reads
        for j in range(6):
            body.H[j] = along(psi, j)
            body.E[j] = -value_of(site.W[j])
        reads = reads or along(psi, MOVED) != 0.0
        put_body(site, body, _ZERO, _ZERO, a, c)
        status, psi = weighted_power(space, given)
        if status != OK:
            return status, reads
        for j in range(6):
            body.G[j] = along(psi, j)
        put_body(site, body, _ZERO, _ZERO, _ZERO, _ZERO)
    return OK, reads


@helper
def add_along_joints(model, rows, first, psi, by_q, by_v):
    """Add the derivatives of psi by the entries of joints from `first` on, as they were put."""
    k = -first
    for i in rows:
        row = model[i]
        for j in range(row.first_step, row.first_step + row.ndx):
            if 0 <= k < DIRECTIONS:
                by_q[j] += along(psi, k)
            k += 1
        for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
            if 0 <= k < DIRECTIONS:
                by_v[j] += along(psi, k)
            k += 1


@helper
def move_joints(space, given, by_q, by_v):
    """Add the derivatives by the joints of the force."""
    model = bodies(space)
    rows = given.rows
    count = 0
    for i in rows:
        count += model[i].ndx + model[i].num_velocities
    for first in range(0, count, DIRECTIONS):
        status = put_joints(space, given, first)
        if status != OK:
            return status
        status, psi = weighted_power(space, given)
        if status != OK:
            return status
        add_along_joints(model, rows, first, psi, by_q, by_v)
    return OK


@helper
def put_back(model, given, trial, speed):
    """Let the numbers of its joints change along the seventh direction again."""
    for i in given.rows:
        sway(given.q, model[i].first_position, model[i].num_positions, trial)
        sway(given.v, model[i].first_velocity, model[i].num_velocities, speed)


@helper
def given_of(space, called, n):
    """Force n of `CALLED`, with its bodies and state."""
    model = bodies(space)
    record = records_at(called, 1, CALLED)[0]
    own = records_at(record.forces, record.count, CALLED_FORCE)[n]
    row = force_rows(space)[own.force]
    time = floats_at(records_at(space, 1, SPACE)[0].time, 1)
    time[0] = record.time
    nv = model[0].num_velocities
    return Given(
        own.force, own.names_joints,
        integers_at(own.rows, own.num_rows),
        integers_at(row.bodies, row.num_bodies),
        records_at(record.bodies, row.num_bodies, BODY_OF_FORCE), time,
        floats_at(record.q, model[0].num_positions),
        floats_at(record.v, nv), floats_at(record.y, nv),
    )  # fmt: skip


def slopes_of_force(space, called, n):
    """E, G and H of the bodies of force n of `CALLED`; derivatives by its joints are added.

    The state, the weights and the sums by joints are the doubles that `CALLED` names. At each state
    n = `ALL_JOINTS` comes first. The bodies of the force are left at rest.
    """
    model = bodies(space)
    trial, speed, _ = trials(space)
    record = records_at(called, 1, CALLED)[0]
    if n == ALL_JOINTS:
        sway(floats_at(record.q, trial.shape[0]), 0, trial.shape[0], trial)
        sway(floats_at(record.v, speed.shape[0]), 0, speed.shape[0], speed)
        return OK
    given = given_of(space, called, n)
    status, reads = move_bodies(space, given)
    if status == OK and (given.names_joints != 0 or reads):
        by_q = floats_at(record.by_q, model[0].ndx)
        by_v = floats_at(record.by_v, speed.shape[0])
        status = move_joints(space, given, by_q, by_v)
        put_back(model, given, trial, speed)
    return status


@helper
def write_moves(model, rows, trial, first, out):
    """Derivatives of positions by steps from `first` on; out (nq, ndx) in a row."""
    wide = 0
    for i in rows:
        wide += model[i].ndx
    k = -first
    at_q = 0
    at_x = 0
    for i in rows:
        row = model[i]
        for j in range(row.ndx):
            if 0 <= k < DIRECTIONS:
                for m in range(row.num_positions):
                    x = trial[row.first_position + m]
                    out[(at_q + m) * wide + at_x + j] = along(x, k)
            k += 1
        k += row.num_velocities
        at_q += row.num_positions
        at_x += row.ndx


def moves_of_positions(space, called, n, out):
    """Derivatives of the positions of the joints of force n by steps, out (nq, ndx) in a row.

    Those of other joints are not written: out must be zero before the call.
    """
    model = bodies(space)
    given = given_of(space, called, n)
    trial, speed, _ = trials(space)
    count = 0
    for i in given.rows:
        count += model[i].ndx + model[i].num_velocities
    for first in range(0, count, DIRECTIONS):
        status = put_joints(space, given, first)
        if status != OK:
            return status
        write_moves(model, given.rows, trial, first, out)
    put_back(model, given, trial, speed)
    return OK


def slopes_by_numbers(space, called, n, out):
    """Add the derivatives along the six directions of its numbers to out; after the above."""
    status, psi = weighted_power(space, given_of(space, called, n))
    for j in range(MOVED):
        out[j] += along(psi, j)
    return status
