"""A joint that derivatives move: where it is, and how it is moved on its own."""

from typing import Any, NamedTuple

from mbkit.kernels.compile import at, floats_at, helper, subroutine
from mbkit.kernels.configuration import call_joint
from mbkit.kernels.layout import STAGE_SIZE, TABLE
from mbkit.kernels.recursions.joint_pass import move_by_table, move_in_own_frame
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import scratch_of


class Joint(NamedTuple):
    """A joint at (q, v): its row, its scratch, and the staging area of its function.

    And its workspace, with the number of the row.
    """

    row: Any
    body: Any
    q: Any
    v: Any
    stage: Any
    space: Any
    i: Any


@helper
def stage_of(space):
    """The staging area of the functions of joints."""
    return floats_at(scratch_of(space)[0].slot, STAGE_SIZE)


@subroutine
def evaluate(joint, q, v):
    """Pose, S and S-dot v in the body's frame."""
    row, body, _, _, stage, _, _ = joint
    if row.kind == TABLE:
        return move_by_table(row, body, q, v, stage)
    return move_in_own_frame(row, body, q, v, stage)


@subroutine
def step_from(row, body, q, dx, out):
    """out = q exp(dx) in the entries of one joint."""
    a = row.first_position
    d = row.first_step
    if row.retract == 0:
        for j in range(row.ndx):
            out[a + j] = q[a + j] + dx[d + j]
        return OK
    return call_joint(row, body, row.retract, at(q, a), at(dx, d), at(out, a))
