"""Positions and velocities of the joints that a force or a constraint in Python names."""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import (
    JOINT_NUM_POSITIONS,
    JOINT_NUM_VELOCITIES,
    JOINT_POSITION,
    JOINT_SIZE,
    JOINT_VELOCITY,
)


@helper
def copy_state(joints, q, v, with_velocities, memory, nq):
    """Write the positions of some joints, nq in all, and behind them their velocities."""
    at_q = 0
    at_v = nq
    for i in range(len(joints) // JOINT_SIZE):
        own = joints[JOINT_SIZE * i : JOINT_SIZE * (i + 1)]
        for j in range(own[JOINT_NUM_POSITIONS]):
            memory[at_q] = q[own[JOINT_POSITION] + j]
            at_q += 1
        if with_velocities:
            for j in range(own[JOINT_NUM_VELOCITIES]):
                memory[at_v] = v[own[JOINT_VELOCITY] + j]
                at_v += 1
