"""Functions on dual numbers of joints that close loops: their own, or those of any motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.joints import Joint
from mbkit.systems.memory.in_lanes.functions import is_for_lanes
from mbkit.systems.memory.in_lanes.joints import calls_members
from mbkit.systems.memory.on_duals.loop_joints import OwnNumbers

__all__ = ["forms_on_duals", "moves_on_duals"]

_MOTION = "ippppppp"
_RETRACT = "ipppp"
_OF_ONE_VECTOR = "ippp"

#: The functions of its members that a composite joint calls on dual numbers.
_OF_MEMBERS = {"motion": _MOTION, "retract": _RETRACT}


def moves_on_duals(joint: Joint) -> bool:
    """Return whether a joint's motion is written for numbers that branch as doubles do.

    And its retraction, where it has one; with those of its members. Joints that roll close no loop.
    """
    kernels: Any = joint.kernels()
    if kernels is None or joint.ndx != joint.num_velocities:
        return False
    functions = [kernels.motion, *_retractions(kernels)]

    def note(operation: str, function: Any) -> int:
        functions.extend([function] * (operation in _OF_MEMBERS))
        return 0

    if calls_members(joint):
        joint.parameters_with(note)
    return is_for_lanes(kernels.motion) and all(map(_is_of_mbkit, functions))


def _retractions(kernels: Any) -> list[Any]:
    return [] if kernels.retract is None else [kernels.retract]


def _is_of_mbkit(function: Any) -> bool:
    return bool(function.function.__module__.startswith("mbkit.kernels."))


def forms_on_duals(row: Any, joint: Joint) -> tuple[dict[str, int], OwnNumbers]:
    """Return functions of a row of a loop joint by address, and their parameters.

    Where the joint has none of its own that give its configuration or wrenches, they call its
    motion: `mbkit.kernels.joints.exact_general_forms`.
    """
    from mbkit.kernels.joints import exact_general_forms as general

    kernels: Any = joint.kernels()
    motion = _address(kernels.motion.function, _MOTION)
    found = {"motion": motion}
    numbers = _numbers_of(joint)
    headed = []
    for name in ("constraint_wrenches", "configuration_from_pose"):
        own = getattr(kernels, name)
        if own is None or _allocates(own):
            headed.append(name)
        function = getattr(general, name) if name in headed else own.function
        found[name] = _address(function, _OF_ONE_VECTOR)
    if not headed:
        return found, OwnNumbers(numbers)
    retract = [_address(each.function, _RETRACT) for each in _retractions(kernels)]
    # An address is below 2^47 on the machines numba knows: a double holds it exactly.
    head = np.zeros(general.OWN)
    head[general.NEAREST] = row["configuration_from_pose"]
    head[general.NEAREST_PARAMETERS] = row["configuration_from_pose_parameters"]
    head[general.MOTION], head[general.RETRACT] = motion, sum(retract)
    head[general.NUM_POSITIONS] = joint.num_positions
    head[general.NUM_VELOCITIES] = joint.num_velocities
    return found, OwnNumbers(numbers, head, tuple(headed))


def _allocates(own: Any) -> bool:
    """Return whether wrenches are found in memory for doubles, as those of any motion are."""
    from mbkit.kernels.joints import composite, screw_product

    return own in (composite.constraint_wrenches, screw_product.constraint_wrenches)


def _numbers_of(joint: Joint) -> Any:
    if not calls_members(joint):
        return np.asarray(joint.parameters(), dtype=np.float64).reshape(-1)

    def address(name: str, function: Any) -> int:
        return _address(function.function, _OF_MEMBERS[name]) if name in _OF_MEMBERS else 0

    return np.asarray(joint.parameters_with(address))


def _address(function: Any, form: str) -> int:
    from mbkit.kernels import library_functions  # noqa: F401  (which users may call)
    from mbkit.kernels.duals import address_with_dual_parameters

    return address_with_dual_parameters(function, form)
