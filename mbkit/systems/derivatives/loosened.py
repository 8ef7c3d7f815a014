"""Systems with free joints where places of joints can be moved, at rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from mbkit.joints import JOINT_TYPES
from mbkit.joints.bases.axes import turn_of_frame
from mbkit.lie.arrays import hat
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.derivatives.parameter_moves import shape_of_parameter

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Loosened", "padded", "twists_of_places"]


#: The places of a joint, and how the step of the free joint there moves them.
_PLACES = {"S_pred": 1.0, "S_succ": -1.0}


class Loosened(NamedTuple):
    """A system with free joints where places of joints can be moved.

    Attributes
    ----------
    system : System
        It has these joints after all others.
    moving : ndarray of bool, shape (ndx,)
        The steps of these joints.
    steps : mapping of str to ndarray, shape (ndx, k)
        How they move by the entries of a parameter, by its name.
    """

    system: System
    moving: Any
    steps: Mapping[str, Floats]

    @classmethod
    def of(cls, system: System, names: Iterable[str]) -> Loosened | None:
        """Return it for those names that are of places; None where there are none.

        In absolute coordinates, and where bodies are split, other numbers of the system depend on
        places: None is returned.
        """
        known = ((name, twists_of_places(system, name)) for name in names)
        twists = {
            name: each
            for name, each in known
            if each is not None and next(iter(each))[0] not in system.loop_joints
        }
        if not twists or is_spread(system) or system.free_joints:
            return None
        places = list(dict.fromkeys(place for each in twists.values() for place in each))
        loose, joints, moving = _loosened(system, places)
        found = {}
        for name, each in twists.items():
            # along the twists of all places that move
            steps = np.zeros((loose.ndx, math.prod(shape_of_parameter(system, name))))
            for place, twist in each.items():
                steps[loose.tangent_slice(joints[places.index(place)])] = _PLACES[place[1]] * twist
            found[name] = steps
        return cls(loose, moving, found)

    @classmethod
    def of_joint(cls, system: System, joint: str) -> Loosened:
        """Return it for one joint of the tree, with a free joint at its place on its predecessor.

        Not in absolute coordinates, nor where bodies are split.
        """
        loose, _, moving = _loosened(system, [(joint, "S_pred")])
        return cls(loose, moving, {})

    def at(self, point: Point) -> Point:
        """Return the same states of the loosened system, its free joints at rest."""
        q, v, vdot, tau = self.states(point.q, point.v, point.vdot, point.tau)
        given = np.concatenate([point.given, np.ones(self.system.nv - point.system.nv, dtype=bool)])
        return attrs.evolve(point, system=self.system, q=q, v=v, vdot=vdot, tau=tau, given=given)

    def states(self, q: Floats, *velocities: Floats) -> tuple[Floats, ...]:
        """Return configurations (N, nq) and velocities (N, nv) with the free joints at rest."""
        loose = self.system
        rest = np.broadcast_to(loose.reference_configuration(), (len(q), loose.nq))
        longer = np.concatenate([q, rest[:, q.shape[-1] :]], axis=-1)
        return longer, *(padded(each, loose.nv) for each in velocities)


def _loosened(
    system: System, places: Sequence[tuple[str, str]]
) -> tuple[System, Sequence[str], Any]:
    """Return the system with free joints there, their names, and which of its steps are theirs."""
    loose, joints = system._blueprint.loosened(places)
    return loose, joints, np.arange(loose.ndx) >= system.ndx


def twists_of_places(system: System, name: str) -> dict[tuple[str, str], Any] | None:
    """Return how each place of a joint moves by the entries of a parameter, twists in columns.

    None for other parameters. The rows of joints that close loops are measured beside the bodies
    that they join: they move so but for multiples of rows that vanish.
    """
    kind, _, rest = name.partition(".")
    joint, _, field = rest.rpartition(".")
    if kind != "joints" or joint not in system.joint_places:
        return None
    if field in _PLACES:
        return {(joint, field): np.eye(6)}
    made: Any = system._blueprint.joint(joint)
    if field == "point" and type(made) in JOINT_TYPES.values():
        twist = np.concatenate([np.zeros((3, 3)), np.eye(3)])
    elif field == "axis" and type(made) in JOINT_TYPES.values():
        turn = turn_of_frame(made.axis)  # about the point
        twist = np.concatenate([turn, hat(made.point) @ turn])
    else:
        return None
    return dict.fromkeys([(joint, place) for place in _PLACES], twist)


def padded(x: Floats, size: int) -> Floats:
    """Return vectors (N, n) with zeros behind them, (N, size)."""
    return np.concatenate([x, np.zeros((len(x), size - x.shape[-1]))], axis=-1)
