"""Joints for lanes: functions written for lanes, or calls lane by lane."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from mbkit.joints import CompositeJoint, Joint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.systems.memory.in_lanes.functions import is_for_lanes

#: Forms of functions of joints by address, with lanes: see `address_in_lanes`.
OF_JOINTS = {
    "motion": "icpppppp", "retract": "icppp", "difference": "icppp", "dexp_inv": "icppp",
}  # fmt: skip

#: Functions of joints that steps on the group call, with their motion.
MOTION_AND_STEPS = tuple(OF_JOINTS)


def calls_members(joint: Joint) -> TypeGuard[CompositeJoint]:
    """Return whether a joint is composed of others that are called by address."""
    if not moves_as(joint, CompositeJoint) or joint.kernels() is None:
        return False
    return joint.screw_product is None


def is_written_for_lanes(joint: Joint, name: str) -> bool:
    """Return whether a function of a joint, and those of its members, are written for lanes."""
    functions = [getattr(joint.kernels(), name)]

    def note(operation: str, function: Any) -> int:
        functions.extend([function] * (operation == name))
        return 0

    if calls_members(joint):
        joint.parameters_with(note)
    return all(map(is_for_lanes, functions))


#: The parameters of functions of `mbkit.kernels.joints.lane_by_lane`.
_FOR_ONE = (
    "motion", "parameters", "num_positions", "num_velocities", "retract", "difference", "dexp_inv",
    "constraint_wrenches", "wrench_parameters",
    "configuration_from_pose", "configuration_from_pose_parameters",
)  # fmt: skip


def called_one_by_one(row: Any) -> Any:
    """Return the parameters with which the functions of a joint's row are called for one lane."""
    # as doubles, which hold addresses exactly; see `_general_forms` of `arrays`
    return np.array([row[name] for name in _FOR_ONE], dtype=np.float64)


def room_for_one(row: Any) -> int:
    """Return how many numbers a call for one lane takes: its arguments and its result."""
    from mbkit.kernels.joints import lane_by_lane

    return 2 * int(row["num_positions"]) + int(row["num_velocities"]) + lane_by_lane.OUTPUT
