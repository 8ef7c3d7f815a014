"""Differentials of the coordinates that steps on the group are taken in, joint by joint.

With A(x) = dexp_inv(x, .), the rate of x where retract(q, x) moves, retract(q, x) moves with x by
E = A(x)^-1 dx, and with q by C = A(x)^-1 A(-x) dq: the step back from there is -x. The rate of x
itself, k = A(x) w(q, v), is differentiated on dual numbers (`exact_charts` in this package).
Where joints have no functions for these, it is by central differences of sixth order,

    f' = (45 (f(h) - f(-h)) - 9 (f(2h) - f(-2h)) + (f(3h) - f(-3h))) / 60 h + h^6 f^(7) / 140,

at h = 1/32: inverse differentials are series with the radius 2 pi. Where v are the rates w of
steps, k does not change with q, and with v by A(x).

Of a rotation vector, A(x) = dexp_{-x}^-1 = I + x~/2 + e x~^2, all are closed forms: on the plane
across x, where x~ is i phi, A is g + i phi/2 with g = 1 - e z, z = phi^2, so that with n = |A|^2

    E = I - x~ / 2n + (1/4 - g e) x~^2 / n,        C = I - g x~ / n + x~^2 / 2n,
    d(A w) = (-w~/2 + e (x.w I + x w^T - 2 w x^T) + f (x x (x x w)) x^T) dx,        f = e' / phi.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import (
    at,
    call_address,
    floats_at,
    helper,
    int64,
    kernel,
    matrix,
    records_at,
    typed,
)
from mbkit.kernels.configuration import call_joint
from mbkit.kernels.derivatives.joints import joint_changes
from mbkit.kernels.derivatives.joints.joint import step_from
from mbkit.kernels.derivatives.joints.joint_changes import set_rates
from mbkit.kernels.explicit_integrators.uncounted_records import matrix_of
from mbkit.kernels.layout import SCREW, SPACE
from mbkit.kernels.lie.matrices import skew_polynomial
from mbkit.kernels.lie.series import e_f_of
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import cross, dot
from mbkit.kernels.workspace import bodies, scratch_of, trials

#: h, and what the weights at the steps of `joint_changes` are multiplied by.
STEP = 1.0 / 32.0
PART = joint_changes.STEP / STEP

#: Rows of the memory, each as long as a step, and as two of the largest block of a joint. The last
#: is 1.0 at the first step of each joint whose steps are rotation vectors.
MEMORY = 6
IS_ROTATION = 5


class Step(NamedTuple):
    """A step x, and the state at which its rate is evaluated."""

    x: Any
    q: Any
    v: Any


class Steps(NamedTuple):
    """N steps x (N, ndx), and the states; without q and v no rate is evaluated."""

    x: matrix
    q: matrix
    v: matrix


class Place(NamedTuple):
    """A joint, the step x at which its rate is evaluated for (q, v), and memory (MEMORY, ...)."""

    space: Any
    number: Any  # of its row
    row: Any
    body: Any
    x: Any
    q: Any
    v: Any
    memory: Any


@helper
def has_blocks(row):
    """Whether the coordinates of a joint do not add, or their rates are not velocities."""
    return row.kind != SCREW and (row.dexp_inv != 0 or row.rates != 0)


@helper
def rate_of(place, x, w, out):
    """out = dexp_inv(x, w) in the entries of the joint."""
    row = place.row
    a = row.first_step
    if row.dexp_inv == 0:
        for j in range(a, a + row.ndx):
            out[j] = w[j]
        return OK
    return call_joint(row, place.body, row.dexp_inv, at(x, a), at(w, a), at(out, a))


@helper
def set_unit(values, first, count, k):
    """Let an entry be one, the others of a joint zero."""
    for j in range(count):
        values[first + j] = 1.0 if j == k else 0.0


@helper
def set_columns(place, sign, A, first, width):
    """The matrix of dexp_inv(sign x, .), from an entry on, in rows that are so wide."""
    a = place.row.first_step
    d = place.row.ndx
    x, unit, out = place.memory[0], place.memory[1], place.memory[2]
    for j in range(a, a + d):
        x[j] = sign * place.x[j]
    for k in range(d):
        set_unit(unit, a, d, k)
        status = rate_of(place, x, unit, out)
        if status != OK:
            return status
        for j in range(d):
            A[first + j * width + k] = out[a + j]
    return OK


@helper
def add_product(A, B, first, count, out):
    """Add A B, by rows, to `out` from an entry on; rows of A, its columns, and those of B."""
    height, inner, columns = count
    for i in range(height):
        for j in range(inner):
            weight = A[i * inner + j]
            for k in range(columns):
                out[first + i * columns + k] += weight * B[j * columns + k]


@helper
def solve(A, d, B, width):
    """A^-1 B into B, both by rows, by elimination with the largest pivot; destroys A."""
    for k in range(d):
        pivot = k
        for i in range(k + 1, d):
            if abs(A[i * d + k]) > abs(A[pivot * d + k]):
                pivot = i
        inverse = 1.0 / A[pivot * d + k]
        for j in range(k, d):
            x = A[pivot * d + j] * inverse
            A[pivot * d + j] = A[k * d + j]
            A[k * d + j] = x
        for j in range(width):
            x = B[pivot * width + j] * inverse
            B[pivot * width + j] = B[k * width + j]
            B[k * width + j] = x
        for i in range(d):
            if i != k:
                factor = A[i * d + k]
                for j in range(k, d):
                    A[i * d + j] -= factor * A[k * d + j]
                for j in range(width):
                    B[i * width + j] -= factor * B[k * width + j]


@helper
def weight(k):
    """The weight of f(k h), k = 1, 2, 3."""
    return PART * joint_changes.weight(k)


@helper
def is_exact(place, which, first, second, out):
    """Whether a function on dual numbers has set `out`; 0 is by a step, 1 by a state.

    Behind the memory of `trials` there are the addresses of both and of their SPACE, after those of
    `joint_changes`; zero in workspaces without dual numbers.
    """
    trial, speed, dx = trials(place.space)
    size = trial.shape[0] + speed.shape[0] + dx.shape[0] + 3
    addresses = floats_at(records_at(place.space, 1, SPACE)[0].trial, size + 3)[size:]
    function = int(addresses[which])
    if function == 0:
        return False
    arguments = int(addresses[2]), place.number, first, second, out
    return call_address(function, arguments) == OK


@helper
def set_rates_by_step(place, w, K, first):
    """K, the derivative of dexp_inv(x, w) by x, from an entry on."""
    a = place.row.first_step
    d = place.row.ndx
    if is_exact(place, 0, at(place.x, a), at(w, a), at(K, first)):
        return OK
    x, out = place.memory[0], place.memory[2]
    for j in range(a, a + d):
        x[j] = place.x[j]
    for c in range(d):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                x[a + c] = place.x[a + c] + sign * k * STEP
                status = rate_of(place, x, w, out)
                if status != OK:
                    return status
                for j in range(d):
                    K[first + j * d + c] += sign * weight(k) * out[a + j]
        x[a + c] = place.x[a + c]
    return OK


@helper
def set_rates_by_state(place, trial, A, out, first):
    """The derivatives of A w(q, v) along steps of q and by v, of a nonholonomic joint."""
    row, body, q, v, memory = place.row, place.body, place.q, place.v, place.memory
    there, unit, dx = trial
    found, rates = memory[1], memory[2]
    a = row.first_step
    d = row.ndx
    nv = row.num_velocities
    for j in range(a, a + d):
        dx[j] = 0.0
    for j in range(d * d):
        found[j] = 0.0
    b = row.first_velocity
    if not is_exact(place, 1, at(q, row.first_position), at(v, b), at(found, 0)):
        for c in range(d):
            for k in range(1, 4):
                for sign in range(-1, 2, 2):
                    dx[a + c] = sign * k * STEP
                    status = step_from(row, body, q, dx, there)
                    if status == OK:
                        status = set_rates(row, body, there, v, rates)
                    if status != OK:
                        return status
                    for j in range(d):
                        found[j * d + c] += sign * weight(k) * rates[a + j]
            dx[a + c] = 0.0
    add_product(A, found, first, (d, d, d), out)
    for c in range(nv):
        set_unit(unit, row.first_velocity, nv, c)
        status = set_rates(row, body, q, unit, rates)
        if status != OK:
            return status
        for j in range(d):
            found[j * nv + c] = rates[a + j]
    add_product(A, found, first + d * d, (d, d, nv), out)
    return OK


@helper
def set_rates_of_joint(place, trial, A, first, out):
    """Of dexp_inv(x, w): with x, along steps of q, and with v; `out` is zero before."""
    row, body, q, v, memory = place.row, place.body, place.q, place.v, place.memory
    w = memory[1]
    d = row.ndx
    status = set_rates(row, body, q, v, w)
    if status == OK:
        status = set_rates_by_step(place, w, out, first)
    if status != OK:
        return status
    if row.rates != 0:
        return set_rates_by_state(place, trial, A, out, first + d * d)
    for j in range(d * d):
        out[first + 2 * d * d + j] = A[j]
    return OK


@helper
def write(A, out, first):
    """Write a matrix of nine."""
    for j in range(9):
        out[first + j] = A[j]


@helper
def set_rotation(place, every, first, out):
    """The blocks of a joint whose steps are rotation vectors, from an entry on, in closed form."""
    row = place.row
    a = row.first_step
    x = (place.x[a], place.x[a + 1], place.x[a + 2])
    z = dot(x, x)
    e, f = e_f_of(x, z)
    g = 1.0 - e * z
    inverse = 1.0 / (g * g + 0.25 * z)
    write(skew_polynomial(1.0, -g * inverse, 0.5 * inverse, x), out, first)
    write(skew_polynomial(1.0, -0.5 * inverse, (0.25 - g * e) * inverse, x), out, first + 9)
    if every == 0:
        return
    b = row.first_velocity
    w = (place.v[b], place.v[b + 1], place.v[b + 2])
    xw = dot(x, w)
    twice = cross(x, cross(x, w))
    around = skew_polynomial(e * xw, -0.5, 0.0, w)
    for i in range(3):
        for j in range(3):
            rest = e * (x[i] * w[j] - 2.0 * w[i] * x[j]) + f * twice[i] * x[j]
            out[first + 18 + 3 * i + j] = around[3 * i + j] + rest
    write(skew_polynomial(1.0, 0.5, e, x), out, first + 36)


@helper
def set_joint(place, trial, every, first, out):
    """The blocks of a joint, from an entry on; see `set_differentials`."""
    if place.memory[IS_ROTATION, place.row.first_step] != 0.0:
        set_rotation(place, every, first, out)
        return OK
    d = place.row.ndx
    A, both = place.memory[3], place.memory[4]
    status = set_columns(place, 1.0, A, 0, d)
    if status == OK and every != 0:
        status = set_rates_of_joint(place, trial, A, first + 2 * d * d, out)
    if status == OK:
        status = set_columns(place, -1.0, both, 0, 2 * d)
    if status != OK:
        return status
    for i in range(d):
        for j in range(d):
            both[2 * d * i + d + j] = 1.0 if i == j else 0.0
    solve(A, d, both, 2 * d)
    for i in range(d):
        for j in range(d):
            out[first + d * i + j] = both[2 * d * i + j]
            out[first + d * d + d * i + j] = both[2 * d * i + d + j]
    return OK


@helper
def set_differentials(space, step, every, memory, out):
    """Matrices of all joints that have them, one after another, by rows.

    How retract(q, x) moves with q and with x, (d, d) each; and where `every`, how dexp_inv(x, w)
    does with x, along steps of q, and with v.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    trial = trials(space)
    out[:] = 0.0
    first = 0
    for i in range(1, model.shape[0]):
        row = model[i]
        if has_blocks(row):
            place = Place(space, i, row, scratch[i], step.x, step.q, step.v, memory)
            if set_joint(place, trial, every, first, out) != OK:
                return failure(JOINT_FAILED, i)
            first += 2 * row.ndx * row.ndx
            if every != 0:
                first += row.ndx * (2 * row.ndx + row.num_velocities)
    return OK


@kernel(int64(int64, typed(Steps), int64, matrix, matrix), nogil=True)
def differentials(space, steps, every, memory, out):
    """`set_differentials` of N steps, from their states, into one row a step."""
    x, q, v = matrix_of(steps.x), matrix_of(steps.q), matrix_of(steps.v)
    memory, out = matrix_of(memory), matrix_of(out)
    for n in range(x.shape[0]):
        status = set_differentials(space, Step(x[n], q[n], v[n]), every, memory, out[n])
        if status != OK:
            return status
    return OK
