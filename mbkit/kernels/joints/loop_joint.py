"""Joints of any kind that close loops: the pose that they measure, the wrenches that they bear.

Their constraint rows are made in `mbkit.kernels.constraints.kinds.loop_joint`.

A row is a record with the fields `kind`, `num_velocities`, `rate`, `lead`, and of the table
`configuration_from_pose`, `configuration_from_pose_parameters`, `constraint_wrenches` and
`wrench_parameters`, as BODY has them. All is in the canonical frame of the joint.
"""

from mbkit.kernels.compile import call_address, helper, pointer_at
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.joints.revolute_prismatic_screw import locate_screw, screw_wrenches
from mbkit.kernels.layout import SCREW, SCREW_IN_OWN_FRAME
from mbkit.kernels.status import OK

#: Status of a joint whose row was not filled for a loop.
NO_LOOP = 1


@helper
def joint_configuration_from_pose(row, slot, T, out):
    """Write the configuration whose pose is nearest to T, R by rows and p; 0 or its failure."""
    if row.num_velocities == 0:
        return OK
    if row.kind == SCREW or row.kind == SCREW_IN_OWN_FRAME:
        R = (T[0], T[1], T[2], T[3], T[4], T[5], T[6], T[7], T[8])
        out[0] = each_lane(locate_screw, (row.rate, row.lead, R, (T[9], T[10], T[11])))
        return OK
    if row.configuration_from_pose == 0:
        return NO_LOOP
    return call_address(
        row.configuration_from_pose,
        (slot, pointer_at(row.configuration_from_pose_parameters), T, out),
    )


@helper
def joint_wrenches(row, slot, q, out):
    """Write 6 - nv wrenches that do no work along S(q), one after another; 0 or its failure."""
    if row.num_velocities == 0:
        for j in range(36):
            out[j] = 1.0 if j % 7 == 0 else 0.0
        return OK
    if row.kind == SCREW or row.kind == SCREW_IN_OWN_FRAME:
        screw_wrenches(row.rate, row.lead, out)
        return OK
    return call_address(row.constraint_wrenches, (slot, pointer_at(row.wrench_parameters), q, out))
