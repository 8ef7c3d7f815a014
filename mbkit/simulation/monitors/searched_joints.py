"""Loop joints whose configuration is searched for, and may be found elsewhere on the way."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mbkit.diagnosis.screws import LoopJoint, loop_joints
from mbkit.errors import JumpWarning, MbkitError
from mbkit.integrators.integrator import Rows
from mbkit.joints.defaults.own_methods import is_searched
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import System

__all__ = ["SearchedJoints"]

#: Rows of a part of a run that are looked at, at most: each is a search.
_MOST = 200

#: A step between rows is a jump if it is so many times those before and behind it, and not less
#: than this. [rad] or [m]
_TIMES = 10.0
_LEAST = 0.1

#: How far directions of motion may be apart where a joint has only counted its turns anew.
_ALIKE = 1e-3


class SearchedJoints(Monitor):
    """Warns once where a loop joint goes on from another configuration of the same pose.

    Its wrenches are others there, and so is the motion. A joint that counts its turns anew, such as
    a hinge, moves as before.
    """

    BEGINS = "The configuration of loop joint"
    CATEGORY = JumpWarning

    @classmethod
    def of(cls, system: System) -> SearchedJoints | None:
        """Return the monitor of a run; None where no loop joint is searched by its pose."""
        closure = system.arrays.closure
        found = [joint for joint in closure.joints if joint is not None and is_searched(joint)]
        return cls(system, {joint.name for joint in found}) if found else None

    def __init__(self, system: System, names: set[str]) -> None:
        super().__init__()
        self._system = system
        self._names = names
        self._last: list[tuple[float, dict[str, LoopJoint]]] = []

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Look at rows that were written."""
        finite = np.flatnonzero(np.isfinite(rows.q).all(axis=1))
        for row in finite[:: -(-len(finite) // _MOST) or 1]:
            if self.finding:
                return
            try:
                found = loop_joints(self._system, rows.q[row])
            except MbkitError:  # a state that cannot be evaluated; the run raises it
                return
            now = {each.name: each for each in found if each.name in self._names}
            self._last = [*self._last[-3:], (float(rows.t[row]), now)]
            if len(self._last) == 4:
                self._compare()

    def _compare(self) -> None:
        """Look whether the middle one of three steps is a jump."""
        for name in self._names:
            joints = [of_time[name] for _, of_time in self._last]
            joint = joints[0].joint
            assert joint is not None
            steps = [np.asarray(joint.difference(a.q, b.q)) for a, b in itertools.pairwise(joints)]
            before, jump, behind = (float(np.linalg.norm(step)) for step in steps)
            if not jump > max(_LEAST, _TIMES * max(before, behind)):
                continue
            usual = joint.retract(joints[1].q, steps[0])
            if _apart(joints[2].screws(), joints[2].screws(np.asarray(usual))) > _ALIKE:
                self.finding = (
                    f"{self.BEGINS} '{name}' goes from {joints[1].q.tolist()} to "
                    f"{joints[2].q.tolist()} at t = {self._last[2][0]:.6g} s: it is searched for, "
                    f"and several have this pose, from which they move differently. The motion is "
                    f"another one from there. Keep the joint in the tree, by loop_joints of others "
                    f"in its loop, or give it the method configuration_from_pose."
                )
                return


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Return how far the directions of screws (n, 6) are from those of others, at most one."""
    own, theirs = (np.linalg.qr(screws.T)[0] for screws in (one, other))
    return float(np.linalg.norm(own - theirs @ (theirs.T @ own), 2)) if one.size else 0.0
