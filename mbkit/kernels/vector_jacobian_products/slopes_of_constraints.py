"""Derivatives of one constraint on dual numbers, for the adjoint: see `constraints` here.

Compiled for dual numbers alone (`mbkit.kernels.duals`).
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import floats_at, helper, integers_at, records_at
from mbkit.kernels.constraints.evaluate import set_time
from mbkit.kernels.constraints.kinds.called_by_address import table_rows
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    rows_of,
    sites,
    wrenches_of,
)
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.elementary import value_of
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.constraints import BODY_OF_ROW, CALLED_CONSTRAINT, ROWS
from mbkit.kernels.vector_jacobian_products.slopes_of_forces import (
    add_along_joints,
    put_body,
    put_joints,
    six_directions,
)
from mbkit.kernels.vectors import angular, linear, store
from mbkit.kernels.workspace import bodies, trials

#: The forms of `slopes_of_constraint` and `slopes_by_numbers`.
FORM = "sii"
FORM_BY_NUMBERS = "siic"

#: Instead of the first entry of joints that moves: none does.
NOTHING_MOVES = 1 << 40

_ZERO = (0.0, 0.0, 0.0)


class Given(NamedTuple):
    """A constraint and its bodies: see `ROWS`; the state, x, and the factors."""

    c: Any
    rows: Any  # of the joints that it names
    bodies: Any  # BODY_OF_ROW entries
    with_residuals: Any
    closes: Any
    q: Any
    v: Any
    vdot: Any
    x: Any
    factors: Any  # (5, m)


@helper
def weighted_rows(space, given):
    """A status, and psi of the constraint at the current dual numbers."""
    closure = closure_of(space)
    constraint = constraints(closure)[given.c]
    trial, speed, _ = trials(space)
    status = table_rows(space, given.c, trial, speed, given.vdot)
    wrenches = wrenches_of(closure, constraint)
    coefficients = coefficients_of(closure, constraint)
    named = integers_at(constraint.velocities, constraint.num_velocities)
    residual = floats_at(closure.residual, closure.num_position_rows)
    rate = rows_of(closure, closure.rate)
    bias = rows_of(closure, closure.bias)
    psi = moving(0.0, 0, 0.0)
    for r in range(constraint.num_rows):
        row = constraint.first_row + r
        L, Y, Z = given.factors[0, row], given.factors[1, row], given.factors[2, row]
        for s in range(constraint.num_sites):
            W = wrenches[r * constraint.num_sites + s]
            body = given.bodies[s]
            for j in range(6):
                psi -= L * body.X[j] * W[j]
                if given.closes != 0:
                    psi += Y * body.A[j] * W[j]
        for k in range(constraint.num_velocities):
            psi -= L * given.x[named[k]] * coefficients[r, k]
            if given.closes != 0:
                psi += Y * given.vdot[named[k]] * coefficients[r, k]
        if given.closes == 0:
            psi += Y * bias[row]
        psi += Z * rate[row]
    if given.with_residuals != 0:
        for r in range(constraint.num_position_rows):
            G = given.factors[3, constraint.first_row + r]
            psi += G * residual[constraint.first_position_row + r]
    return status, psi


@helper
def put_on_row(site, body, turn, shift, w, u):
    """Move a body from its pose as `put_body` does, with its acceleration."""
    put_body(site, body, turn, shift, w, u)
    store(site.A, angular(body.A), linear(body.A))
    if body.row == 0:
        store(site.A, _ZERO, _ZERO)


@helper
def write_values(space, given, s):
    """E and K of body s, from the rows that are in the memory."""
    closure = closure_of(space)
    constraint = constraints(closure)[given.c]
    wrenches = wrenches_of(closure, constraint)
    body = given.bodies[s]
    for j in range(6):
        body.E[j] = body.K[j] = 0.0
    for r in range(constraint.num_rows):
        row = constraint.first_row + r
        W = wrenches[r * constraint.num_sites + s]
        for j in range(6):
            body.E[j] -= given.factors[0, row] * value_of(W[j])
            body.K[j] += given.factors[1, row] * value_of(W[j])


@helper
def move_rows(space, given):
    """E, G, H and K of the bodies."""
    closure = closure_of(space)
    first = constraints(closure)[given.c].first_site
    table = sites(closure)
    count = given.bodies.shape[0]
    for s in range(count):
        put_on_row(table[first + s], given.bodies[s], _ZERO, _ZERO, _ZERO, _ZERO)
    a, c = six_directions()
    for s in range(count):
        body = given.bodies[s]
        site = table[first + s]
        if body.row == 0:
            continue
        put_on_row(site, body, a, c, _ZERO, _ZERO)
        status, psi = weighted_rows(space, given)
        if status != OK:
            return status
        for j in range(6):
            body.H[j] = along(psi, j)
        write_values(space, given, s)
        put_on_row(site, body, _ZERO, _ZERO, a, c)
        status, psi = weighted_rows(space, given)
        if status != OK:
            return status
        for j in range(6):
            body.G[j] = along(psi, j)
        put_on_row(site, body, _ZERO, _ZERO, _ZERO, _ZERO)
    return OK


@helper
def given_of(space, memory, c):
    """Constraint c, its bodies and state, and the weights."""
    model = bodies(space)
    nv = model[0].num_velocities
    record = records_at(memory, 1, ROWS)[0]
    closure = closure_of(space)
    constraint = constraints(closure)[c]
    own = records_at(record.called, record.count, CALLED_CONSTRAINT)[c]
    m = closure.num_rows
    return Given(
        c, integers_at(own.rows, own.num_rows),
        records_at(record.bodies, constraint.num_sites, BODY_OF_ROW),
        record.with_residuals, record.closes,
        floats_at(record.q, model[0].num_positions), floats_at(record.v, nv),
        floats_at(record.vdot, nv), floats_at(record.x, nv),
        floats_at(record.factors, 5 * m).reshape((5, m)),
    )  # fmt: skip


def slopes_of_constraint(space, memory, c):
    """E, G, H and K of the bodies of constraint c; derivatives by its joints are added.

    The state, the weights and the sums by joints are the doubles that `ROWS`, in memory, names.
    """
    model = bodies(space)
    record = records_at(memory, 1, ROWS)[0]
    by_q = floats_at(record.by_q, model[0].ndx)
    by_v = floats_at(record.by_v, model[0].num_velocities)
    given = given_of(space, memory, c)
    set_time(space, record.time)
    count = 0
    for i in given.rows:
        count += model[i].ndx + model[i].num_velocities
    status = put_joints(space, given, NOTHING_MOVES)
    if status == OK:
        status = move_rows(space, given)
    for first in range(0, count, DIRECTIONS):
        if status == OK:
            status = put_joints(space, given, first)
        if status != OK:
            return status
        status, psi = weighted_rows(space, given)
        add_along_joints(model, given.rows, first, psi, by_q, by_v)
    return status


def slopes_by_numbers(space, memory, c, out):
    """Add the derivatives along the seven directions of its numbers to out; after the above.

    Bodies and joints of the constraint do not move along these directions.
    """
    given = given_of(space, memory, c)
    status = put_joints(space, given, NOTHING_MOVES)
    if status == OK:
        status, psi = weighted_rows(space, given)
        for j in range(DIRECTIONS):
            out[j] += along(psi, j)
    return status
