"""Stops made of the limits that joints have as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.forces import LimitStop
from mbkit.given_values import as_list, positive_number
from mbkit.parts.parts import Parts
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.parts.connection import Connection
    from mbkit.systems import System

#: How fast a joint swings on its stop while all others are free: a contact lasts half a period of
#: 0.04 s, and steps of a millisecond follow it. [rad/s]
_RATE = 2.0 * np.pi * 25.0

#: Condition of the mass matrix beyond which its inverse is meaningless.
_REGULAR = 1e12

#: Where a stop stands on the side of a joint that has no limit. [rad], [m]
_FAR = 1e9


def limit_stops(
    parts: Parts,
    joints: Iterable[str] | None,
    stiffness: Any,
    damping: Any,
    assemble: Callable[[Parts], System],
) -> tuple[LimitStop, ...]:
    """Return the stops of `Mechanism.add_limit_stops`; `assemble` is in relative coordinates."""
    limits = _limits(parts, joints)
    given = None if stiffness is None else _positive(stiffness)
    stops = [
        LimitStop(f"limits of {name}", name, lower, upper, stiffness=given or 1.0, damping=damping)
        for name, (lower, upper) in limits.items()
    ]
    if given is not None or not stops:
        return tuple(stops)
    held = {**parts.forces, **{stop.name: stop for stop in stops}}  # which keep them in the tree
    inertias = _inertias(assemble(attrs.evolve(parts, forces=held)), stops)
    return tuple(
        attrs.evolve(stop, stiffness=_RATE**2 * inertia)
        for stop, inertia in zip(stops, inertias, strict=True)
    )


def _positive(stiffness: Any) -> float:
    remedy = "leave it out for one by the inertia of each joint"
    return positive_number("add_limit_stops: stiffness", stiffness, remedy=remedy)


def _limits(parts: Parts, joints: Iterable[str] | None) -> dict[str, tuple[float, float]]:
    """Return lower and upper limit of the joints that get stops."""
    found = {}
    for name in parts.joints if joints is None else _named(parts.joints, joints):
        edge = parts.joints[name]
        rows = edge.limits.of_positions(edge.joint)
        if not np.isfinite(rows).any():
            if joints is not None:
                raise UsageError(
                    f"add_limit_stops: joint '{name}' has no limits of positions; give it some: "
                    f"add_joint(..., limits=mbkit.JointLimits(lower, upper))."
                )
        elif joints is not None or not (edge.motion is not None or _stops(parts, name)):
            if (rows != rows[0]).any():
                raise UsageError(
                    f"add_limit_stops: the positions of joint '{name}' have different limits, and "
                    f"a LimitStop has one pair; leave it out of joints=, and add a force for it."
                )
            lower, upper = np.nan_to_num(rows[0], posinf=_FAR, neginf=-_FAR).tolist()
            found[name] = (lower, upper)
    return found


def _named(known: Mapping[str, Connection], joints: Any) -> list[str]:
    names = as_list(joints)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(f"add_limit_stops: joints must be names of joints, got {joints!r}.")
    for name in names:
        if name not in known:
            raise NameUnknownError(
                f"add_limit_stops: there is no joint {name!r}; {suggestion(name, known)}"
            )
    return list(dict.fromkeys(names))


def _stops(parts: Parts, joint: str) -> bool:
    """Whether a joint has stops."""
    return any(
        isinstance(each, LimitStop) and each.joint == joint for each in parts.forces.values()
    )


def _inertias(system: System, stops: list[LimitStop]) -> list[float]:
    """Return the inertia against which each joint is pushed at the reference configuration.

    The others are free, and the bodies on them give way: 1 / (M^-1)_ii, several times smaller than
    M_ii within an arm. Where M is singular, it is M_ii.
    """
    M = system.mass_matrix(system.reference_configuration())
    moved: FloatArray = np.diagonal(M)
    if np.linalg.cond(M) < _REGULAR:
        moved = np.reciprocal(np.diagonal(np.linalg.inv(M)))
    inertias = [float(moved[system.velocity_slice(stop.joint)].max()) for stop in stops]
    for stop, inertia in zip(stops, inertias, strict=True):
        if not inertia > 0.0:
            raise UsageError(
                f"add_limit_stops: joint '{stop.joint}' moves no inertia at the reference "
                f"configuration, by which the stiffness of its stops would be chosen; give "
                f"stiffness=."
            )
    return inertias
