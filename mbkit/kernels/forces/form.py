"""The form of all forces, and the data that a compiled force has under its number.

``function(space, k, t, q, v, tau, powers)`` adds what force k does: generalized forces to tau
(nv,), or wrenches to its bodies (`mbkit.kernels.forces.bodies`), and to powers what it dissipates
and what it supplies. ``potential(space, k, t, q, out)`` adds its potential energy to out[0]. Both
return a status. Where a force acts on bodies, their motion is in the scratch memory.
"""

from mbkit.kernels.compile import floats_at, helper, integers_at, records_at
from mbkit.kernels.layout import (
    FORCE,
    JOINT_NUM_VELOCITIES,
    JOINT_POSITION,
    JOINT_SIZE,
    JOINT_VELOCITY,
    SPACE,
)

FORCE_FORM = "iidpppp"
POTENTIAL_FORM = "iidpp"


@helper
def force_rows(space):
    """The table: one `FORCE` entry a force."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.force_table, record.num_forces, FORCE)


@helper
def parameters(space, k):
    """The numbers that force k was given."""
    row = force_rows(space)[k]
    return floats_at(row.parameters, row.num_parameters)


@helper
def joint(space, k):
    """Of the first joint of force k: its first entry of q, its first entry of v, how many."""
    entries = integers_at(force_rows(space)[k].joints, JOINT_SIZE)
    return entries[JOINT_POSITION], entries[JOINT_VELOCITY], entries[JOINT_NUM_VELOCITIES]


@helper
def site(space, k, which):
    """The entry of `FRAME` of one of the bodies of force k."""
    row = force_rows(space)[k]
    return integers_at(row.bodies, row.num_bodies)[which]
