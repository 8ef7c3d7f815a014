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
def copy_positions(joints, count, q, memory):
    """Write the positions of `count` joints, one after another."""
    at = 0
    for i in range(count):
        own = joints[JOINT_SIZE * i : JOINT_SIZE * (i + 1)]
        for j in range(own[JOINT_NUM_POSITIONS]):
            memory[at] = q[own[JOINT_POSITION] + j]
            at += 1


@helper
def copy_velocities(joints, count, v, memory):
    """Write the velocities of `count` joints, one after another."""
    at = 0
    for i in range(count):
        own = joints[JOINT_SIZE * i : JOINT_SIZE * (i + 1)]
        for j in range(own[JOINT_NUM_VELOCITIES]):
            memory[at] = v[own[JOINT_VELOCITY] + j]
            at += 1
