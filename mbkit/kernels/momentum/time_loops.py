"""Hamilton's equations in the form of time loops: z, the momenta, in place of v.

Explicit methods compute rates of steps at (q, v), then vdot there. Both follow from one
evaluation of canonical forward dynamics at (q, z), which is kept: w are the rates at the velocity
that it finds, vdot are the rates of z. z are the momenta of `mbkit.kernels.momentum.root_joints`.
"""

import numpy as np

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    at,
    call_address,
    floats_at,
    helper,
    pointer_at,
    records_at,
)
from mbkit.kernels.evaluation_form import EVALUATION, positions, vector
from mbkit.kernels.layout import DISSIPATED, SPACE, SUPPLIED
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, powers_of

_i8 = np.int64

#: What the functions below find by `drive_slot` of `SPACE`, which no prescribed joint needs: other
#: functions by address, and memory.
MOMENTA = np.dtype(
    [
        ("dynamics", _i8),  # canonical forward dynamics
        ("in_world", _i8),  # z of p
        ("forces", _i8),  # generalized forces
        ("roots", _i8),  # the table of joints with momenta in the world, which both take
        ("rates", _i8),  # of steps; 0: they are the velocities
        ("search", _i8),  # finds the force that is not finite; 0: there are no forces
        ("known", _i8),  # whether what follows is of (q, z)
        ("q", _i8),  # memory for nq numbers
        ("z", _i8),  # nv
        ("found", _i8),  # 2 nv: v, and the rates of z without forces
        ("efforts", _i8),  # nv
    ],
    align=True,
)


@helper
def momenta_of(space):
    """The record above."""
    return records_at(records_at(space, 1, SPACE)[0].drive_slot, 1, MOMENTA)[0]


@helper
def is_same(a, b):
    """Whether two vectors are equal."""
    different = 0
    for j in range(a.shape[0]):
        different += a[j] != b[j]
    return different == 0


@helper
def evaluate(space, q, z):
    """Find v and the rates of z without forces, unless they are known already."""
    own = momenta_of(space)
    model = bodies(space)
    q_known = positions(model, pointer_at(own.q))
    z_known = vector(space, pointer_at(own.z))
    q_now = positions(model, q)
    z_now = vector(space, z)
    if own.known != 0 and is_same(q_known, q_now) and is_same(z_known, z_now):
        return OK
    rest = pointer_at(records_at(space, 1, SPACE)[0].rest)
    status = call_address(own.dynamics, (space, own.roots, q, z, rest, pointer_at(own.found)))
    own.known = 1 if status == OK else 0
    assign(q_known, q_now)
    assign(z_known, z_now)
    return status


@address_kernel(EVALUATION)
def rates(space, _option, q, z, _x, w):
    """Rates of steps at (q, z), w (ndx,)."""
    own = momenta_of(space)
    status = evaluate(space, q, z)
    v = pointer_at(own.found)
    if status == OK and own.rates != 0:
        return call_address(own.rates, (space, 0, q, v, v, w))
    assign(vector(space, w), vector(space, v))
    return status


@address_kernel(EVALUATION)
def dynamics(space, _option, q, z, tau, zdot):
    """Rates of z under tau and the forces of the system, zdot (nv,).

    Writes  powers of SPACE: what the forces dissipate and supply. The caller takes tau . z for the
            power of tau, which is put right here.
    """
    own = momenta_of(space)
    record = records_at(space, 1, SPACE)[0]
    status = evaluate(space, q, z)
    if status != OK:
        return status
    nv = bodies(space)[0].num_velocities
    found = floats_at(own.found, 2 * nv)
    efforts = floats_at(own.efforts, nv)
    tau = vector(space, tau)
    zdot = vector(space, zdot)
    z = vector(space, z)
    v = pointer_at(own.found)
    powers = powers_of(space)
    powers[DISSIPATED] = 0.0
    powers[SUPPLIED] = 0.0
    for k in range(nv):
        efforts[k] = 0.0
    if own.search != 0:
        status = call_address(
            own.forces, (space, 0, q, v, pointer_at(record.time), pointer_at(own.efforts))
        )
        if status != OK:
            return status
    largest = 0.0
    for k in range(nv):
        powers[SUPPLIED] += tau[k] * (found[k] - z[k])
        efforts[k] += tau[k]
        largest = max(largest, abs(efforts[k]))
        zdot[k] = 0.0
    if largest > 0.0:
        status = call_address(own.in_world, (space, own.roots, q, at(efforts, 0), v, at(zdot, 0)))
    for k in range(nv):
        zdot[k] += found[nv + k]
    return status


@address_kernel(EVALUATION)
def force_search(space, _option, q, z, t, tau):
    """The status of the first force that is not finite while the motion is; overwrites tau."""
    own = momenta_of(space)
    if own.search == 0 or evaluate(space, q, z) != OK:
        return OK
    return call_address(own.search, (space, 0, q, pointer_at(own.found), t, tau))
