"""Starting values of implicit schemes: accelerations, their rate, a velocity beside the first.

The equations of motion are taken as the ordinary differential equation that they are on the
constraints (index 1), by the forward dynamics of the system.
"""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    at,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.configuration import dexp_inv_rows
from mbkit.kernels.constraints.solve.dynamics import correct, linearise
from mbkit.kernels.constraints.workspace import closure_of, rows_of
from mbkit.kernels.equations_of_motion import acceleration
from mbkit.kernels.implicit_integrators.constraint_products import row_product
from mbkit.kernels.implicit_integrators.step_memory import flags_at, matrix_at, memory_of
from mbkit.kernels.layout import NUM_POWERS, SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, scratch_of

#: How far into the first step its acceleration is looked at for its rate, and how small a bracket's
#: first argument is made: both leave rounding of 1e-13 and less.
INTO = 1e-3


@address_kernel("iidpppp")
def accelerate(space, step, t, start, velocity, rate, power):
    """vdot of the constrained system and powers, and its multipliers into the step's memory."""
    record = memory_of(step)
    q = as_array(start, record.nq)
    v = as_array(velocity, record.nv)
    vdot = as_array(rate, record.nv)
    status = acceleration(space, t, q, v, vdot, as_array(power, NUM_POWERS))
    if record.m > 0:
        closure = closure_of(space)
        found = rows_of(closure, closure.multipliers)
        multipliers = floats_at(record.multipliers, record.m)
        for r in range(record.m):
            multipliers[r] = found[r]
    return status


@helper
def consistent_acceleration(space, step, t, q, v, vdot, powers):
    """The same; powers (NUM_POWERS,) or more."""
    return call_address(memory_of(step).accelerate, (space, step, t, q, v, vdot, powers))


@helper
def bracket(space, x, y, small, one, out):
    """out = [x, y] in the groups of the joints.

    The odd part of dexp^-1_{x} y in x is half of it, for the exponential map exactly; others are
    like it near zero.
    """
    for j in range(x.shape[0]):
        small[j] = INTO * x[j]
    status = dexp_inv_rows(bodies(space), scratch_of(space), small, y, out)
    for j in range(x.shape[0]):
        small[j] = -small[j]
    if status == OK:
        status = dexp_inv_rows(bodies(space), scratch_of(space), small, y, one)
    for j in range(x.shape[0]):
        out[j] = (out[j] - one[j]) / INTO
    return status


@address_kernel("iidpppd")
def add_least_change(space, step, t, q, velocity, wanted, part):
    """v += the least change, by kinetic energy, whose rows of position level are A wanted.

    part: of A v + g_t, in `rate`, that is taken away besides.
    Source: Arnold, Bruels and Cardona 2015, section 4.3: the perturbed initial velocity.
    """
    record = memory_of(step)
    nv = record.nv
    m = record.m
    v = as_array(velocity, nv)
    memory = floats_at(record.columns, 3 * nv)
    memory[: 2 * nv] = 0.0
    A = matrix_at(record.A, m, record.width)
    time = floats_at(records_at(space, 1, SPACE)[0].time, 1)
    time[0] = t
    status = call_address(record.constraint_jacobian, (space, 0, q, q, time, at(A, 0)))
    if status == OK:
        status = linearise(space, 0, q, velocity, at(memory, 0), at(memory, nv))
    if status != OK:
        return status
    closure = closure_of(space)
    target = rows_of(closure, closure.bias)
    position_of_row = flags_at(record.position_of_row, m)
    rate = floats_at(record.rate, m)
    row_product(space, step, A, wanted, target)
    for r in range(m):
        if position_of_row[r] >= 0:
            target[r] = part * rate[r] - target[r]
        else:
            target[r] = 0.0
    change = floats_at(closure.change, nv)
    status = correct(space, target, rows_of(closure, closure.multipliers), change)
    for j in range(nv):
        v[j] += change[j]
    return status


@helper
def add_least(space, step, t, q, v, wanted, part):
    """The same, by address."""
    return call_address(memory_of(step).add_least, (space, step, t, q, v, wanted, part))
