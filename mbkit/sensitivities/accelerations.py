"""Accelerations of a system at many states at once, linear about them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

import attrs
import numpy as np

from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_derivatives import evaluated
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.input_changes import change_by_input
from mbkit.systems.derivatives.parameter_changes import change_by_parameter, changes_by_places

__all__ = ["Accelerations", "States"]


class States(NamedTuple):
    """N states: t (N,), q (N, nq), and v, their accelerations and efforts, (N, nv)."""

    t: Floats
    q: Floats
    v: Floats
    vdot: Floats
    tau: Floats


@final
@attrs.frozen(eq=False, slots=False)
class Accelerations:
    """What accelerations at N states do with the states, with efforts and with parameters.

    Attributes
    ----------
    point : Point
        The states, with the accelerations that were found there.
    """

    point: Point

    @classmethod
    def at(cls, system: System, states: States) -> Accelerations:
        """Return those of some states."""
        t, q, v, vdot, tau = states
        count = len(t)
        if system.arrays.closure:
            given = (q, v, tau, np.zeros(v.shape), t)
            point = evaluated(system, "forward_dynamics", given, (), "raise")
            return cls(attrs.evolve(point, vdot=vdot))
        prescribed = np.zeros(system.nv, dtype=bool)
        for joint in system.motions:
            prescribed[system.velocity_slice(joint)] = True
        none, rank = np.zeros((count, 0)), np.zeros(count, dtype=np.int64)
        by_motion = bool(system.motions)
        return cls(Point(system, q, v, vdot, tau, t, none, rank, prescribed, by_motion))

    @functools.cached_property
    def by_state(self) -> tuple[Floats, Floats]:
        """The derivatives by q (N, nv, ndx) and v (N, nv, nv)."""
        point = self.point
        by_q, by_v = (point.solution.solve(change_by_input(point, name)) for name in ("q", "v"))
        return by_q["vdot"], by_v["vdot"]

    def changes(self, names: Sequence[str]) -> Mapping[str, Change]:
        """Return what inputs other than the state at the start change, by name."""
        point = self.point
        found = dict(changes_by_places(point, names))
        for name in names:
            if name == "tau":
                found[name] = change_by_input(point, name)
            elif name not in found and name not in ("q", "v"):
                found[name] = change_by_parameter(point, name)
        return found

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return derivatives (N, nv, k) by name, of "q" and "v", the start, none."""
        changes = self.changes(names).items()
        return {name: self.point.solution.solve(change)["vdot"] for name, change in changes}
