"""Joints of the tree whose own numbers are dual: rows of BODY, with parameters and motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.joints.motions.screw_sum import ScrewSum
from mbkit.kernels.layout import SCREW, TABLE, TABLE_IN_OWN_FRAME
from mbkit.parts.placed_joints import PlacedScrews
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.in_lanes.functions import compiles
from mbkit.systems.memory.in_lanes.joints import calls_members
from mbkit.systems.memory.in_lanes.workspace import lines
from mbkit.systems.memory.on_duals.loop_joints import DualJoints

__all__ = ["dual_sets", "has_dual_numbers"]

#: The form of a joint's motion whose parameters are dual, too.
_MOTION = "ippppppp"


def has_dual_numbers(arrays: SystemArrays, row: int) -> bool:
    """Return whether the joint of a row has a motion for dual numbers, its parameters among them.

    Those of mbkit have one, and compiled ones of users that compile for them.
    """
    from mbkit.kernels.compile import UNCOMPILED

    joint = arrays.joints[row]
    if UNCOMPILED or joint is None or not joint.num_velocities:
        return False
    if joint.screw_form() is not None:
        return True
    if calls_members(joint):
        compiled: list[bool] = []

        def note(name: str, function: Any) -> int:
            compiled.append(name != "motion" or compiles(_address, function.function))
            return 0

        return joint.parameters_with(note) is not None and all(compiled)
    kernels = joint.kernels()
    motion: Any = None if kernels is None else kernels.motion
    return motion is not None and compiles(_address, motion.function)


def _address(function: Callable[..., Any]) -> int:
    from mbkit.kernels import library_functions  # noqa: F401  (which users may call)
    from mbkit.kernels.duals import address_with_dual_parameters

    return address_with_dual_parameters(function, _MOTION)


def dual_sets(arrays: SystemArrays, row: int, rates: Any, screw: Any = None) -> Any:
    """Return the joint of a row as dual numbers, as often as its numbers move along directions.

    The rates (n, k) of its numbers, k directions, take ceil(k / DIRECTIONS) sets: (sets, size,
    1 + DIRECTIONS), each of which begins with its row of BODY. With a screw X it is exp(X q), whose
    numbers are those of X.
    """
    from mbkit.kernels.duals import DIRECTIONS

    own = arrays.bodies[row : row + 1].copy()
    joint: Any = arrays.joints[row]
    if screw is not None:
        motion = ScrewSum(screw[None], joint.position_units, np.zeros((6, 5)))
        joint = PlacedScrews(joint.name, joint, joint.canonical_frame, motion)
        own[0]["kind"] = TABLE if own[0]["kind"] == SCREW else TABLE_IN_OWN_FRAME
    if joint.screw_form() is None:
        own[0]["motion"] = _address(joint.kernels().motion.function)
    joints = DualJoints(own, [joint], lambda size: np.zeros((size, 1 + DIRECTIONS)))
    parameters = _with_members(joint)
    if parameters is not None:
        joints.numbers[joints.places[0], 0] = parameters
    size, count = len(joints.numbers), -(-rates.shape[1] // DIRECTIONS)
    width = 1 + DIRECTIONS
    sets = lines(count * size * width)[: count * size * width].reshape(count, size, width)
    for part, numbers in enumerate(sets):
        numbers[:] = joints.numbers
        columns = rates[:, DIRECTIONS * part : DIRECTIONS * (part + 1)]
        numbers[joints.places[0], 1 : 1 + columns.shape[1]] = columns
        joints.put(numbers)
    return sets


def _with_members(joint: Any) -> Any:
    """Return the parameters of a joint that calls its members, by motions for dual numbers."""
    if not calls_members(joint):
        return None

    def address(name: str, function: Any) -> int:
        return _address(function.function) if name == "motion" else 0

    return np.asarray(joint.parameters_with(address))
