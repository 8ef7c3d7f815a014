"""Derivatives by parameters that move places of joints, from the wrenches of one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mbkit.lie import SE3
from mbkit.lie.arrays import pose
from mbkit.sensitivities.passes.called_forces import rows_of_joints
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.derivatives.loosened import twists_of_places
from mbkit.systems.derivatives.moving_joints import MovingJoint
from mbkit.systems.derivatives.parameter_moves import once_a_parameter

__all__ = ["MovedPlace", "by_places", "places_moved"]


class MovedPlace(NamedTuple):
    """A place on a body, which a parameter moves.

    Attributes
    ----------
    kind, row, entries : str, int, slice
        Where its wrench is among the sums: `mbkit.kernels.vector_jacobian_products.places`.
    twists : ndarray, shape (6, k)
        By the entries of the parameter, in the axes of the row of the tree that carries it.
    """

    kind: str
    row: int
    entries: slice
    twists: Floats


def places_moved(
    system: System, names: Iterable[str], numbers: Mapping[str, MovingJoint] | None = None
) -> dict[str, list[MovedPlace]]:
    """Return the places that move, by those of some parameters that do nothing else.

    And by those that move the numbers of joints as well, by name in `numbers`. None in absolute
    coordinates, and where bodies are split: other numbers depend on places there.
    """
    if is_spread(system) or system.free_joints:
        return {}
    found = {name: places for name in names if (places := _moved_by(system, name))}
    for name, each in (numbers or {}).items():
        if each.twists.any():
            ends = "S_pred", "S_succ"
            found[name] = [_place(system, each.joint, end, each.twists) for end in ends]
    return found


@once_a_parameter
def _moved_by(system: System, name: str) -> list[MovedPlace]:
    """Return the places that move by a parameter that does nothing else."""
    twists = twists_of_places(system, name)
    if twists is None:
        return []
    joint = next(iter(twists))[0]
    if joint not in system.loop_joints and system.joint_places[joint].is_weld:
        return []
    return [_place(system, *place, each) for place, each in twists.items()]


def _place(system: System, joint: str, end: str, twists: Floats) -> MovedPlace:
    """Return where the wrench of a place is; of a loop joint of six freedoms it is nowhere.

    The bodies beyond a place on the parent move along its twists, beyond one on the child against.
    """
    place: Any = system.joint_places[joint]
    near = end == "S_pred"
    body, S = (place.predecessor, place.near) if near else (place.successor, place.far)
    frame = system.arrays.frames[system.body_index(body)]
    turn, shift = frame["R"] @ S[:3, :3], frame["R"] @ S[:3, 3] + frame["p"]
    moved = SE3.Ad(pose(turn, shift)) @ twists
    if joint in system.loop_joints:
        closure = system.arrays.closure
        measured = closure.names[: closure.num_joints] if closure else ()
        if joint not in measured:
            return MovedPlace("sites", 0, slice(0, 0), moved[:0])
        site = 2 * measured.index(joint) + (not near)
        return MovedPlace("sites", site, slice(0, 6), moved)
    row = int(rows_of_joints(system, [system.velocity_slice(joint).start])[0])
    on_parent = near != bool(system.arrays.bodies[row]["reversed"])
    entries = slice(0, 6) if on_parent else slice(6, 12)
    return MovedPlace("places", row, entries, moved if on_parent else -moved)


def by_places(sums: Any, moved: Mapping[str, list[MovedPlace]]) -> dict[str, Floats]:
    """Return derivatives (k,) by name, from the sums of a pass."""
    return {
        name: np.sum([x.twists.T @ getattr(sums, x.kind)[x.row, x.entries] for x in each], axis=0)
        for name, each in moved.items()
    }
