"""Warnings of singular configurations that a run comes near to."""

from __future__ import annotations

import math
import warnings
import weakref
from typing import Any

import numpy as np

from mbkit.errors import SingularityWarning
from mbkit.joints import Joint
from mbkit.systems import System
from mbkit.systems.singularities import NEAR

__all__ = ["Lookout"]

#: Rows that are looked at in a chunk of steps, which takes about 0.1 s, for joints that take one
#: configuration at a time: composite ones, and those of users.
LOOKS = 16


class Lookout:
    """Warns once of each joint that comes near a singular configuration."""

    def __init__(self, system: System) -> None:
        self._left = list(_watched(system))

    @property
    def watches(self) -> bool:
        """Whether there is a joint that may come near one."""
        return bool(self._left)

    def look(self, t: Any, q: Any) -> None:
        """Look at states with times (k,) and positions (k, nq), the last of them in any case."""
        if not self._left or len(t) == 0:
            return
        t, q = np.asarray(t), np.asarray(q)
        rows = np.flatnonzero(np.isfinite(q).all(axis=1))
        few = rows[:: -max(1, len(rows) // LOOKS)][::-1]
        for joint, own in tuple(self._left):
            at_once = type(joint).singularities is not Joint.singularities
            seen = rows if at_once else few
            distances = _measured(joint, t[seen], q[seen, own])
            near = np.flatnonzero(distances < NEAR)
            if near.size:
                self._left.remove((joint, own))
                self._warn(joint, float(t[seen[near[0]]]), float(distances[near[0]]))

    def _warn(self, joint: Joint, t: float, distance: float) -> None:
        remedy = f"; {joint.singularity_remedy}" if joint.singularity_remedy else ""
        warnings.warn(
            f"Joint '{joint.name}' ({type(joint).__name__}) comes near a singular configuration at "
            f"t = {t:.6g} s: its measure is {distance:.3g}, below {NEAR}, and zero where it is "
            f"singular{remedy}.",
            SingularityWarning,
            stacklevel=2,
        )


#: The results of `_watched`, by the arrays of systems: each joint is checked once, 20 us.
_found: weakref.WeakKeyDictionary[Any, tuple[tuple[Joint, slice], ...]]
_found = weakref.WeakKeyDictionary()


def _watched(system: System) -> tuple[tuple[Joint, slice], ...]:
    """Return the joints that may come near a singular configuration, and where their q is."""
    if system.arrays not in _found:
        _found[system.arrays] = tuple(
            (joint, system.position_slice(name))
            for name, joint in system.arrays.tree_joints.items()
            if _may_be_singular(joint)
        )
    return _found[system.arrays]


def _may_be_singular(joint: Joint) -> bool:
    """Whether a joint may be singular; for those of mbkit one configuration shows it."""
    methods = (getattr(type(joint), name) for name in ("singularity", "singularities"))
    if all(method.__module__.startswith("mbkit.") for method in methods):
        return joint.singularity(joint.neutral()) != math.inf
    return True


def _measured(joint: Joint, t: Any, q: Any) -> Any:
    try:
        return joint.singularities(q)
    except BaseException as error:
        for time, row in zip(t.tolist(), q, strict=True):  # find the row that raises
            try:
                joint.singularity(row)
            except Exception:
                where = f"t = {time:.9g}, q = {row.tolist()}"
                break
        else:
            where = f"t = {t[0]:.9g} to {t[-1]:.9g}"
        error.add_note(f"Raised by singularity of joint '{joint.name}', at {where}.")
        raise
