"""Runs that start at a singular configuration of their loops, where branches of motion meet."""

from __future__ import annotations

from typing import Any, Self, final

import attrs
import numpy as np

from mbkit.closed_loops.loop_equations import Loops, checked_fixed
from mbkit.diagnosis.branches import branches
from mbkit.errors import ConstraintError, MbkitError, SingularityWarning
from mbkit.integrators.integrator import Rows
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.systems import System
from mbkit.systems.constraints import kept_rows
from mbkit.systems.rank import rank_of, singular_values

__all__ = ["BEGINS", "SingularPosture", "SingularStart", "evaluate_start", "may_be_singular"]

#: The beginning of the warning of a singular start.
BEGINS = "The run starts at a singular configuration"

#: Radians, or metres, from the start at which the rank of constraints is compared with that there.
_AWAY = 0.01

#: Part of the largest singular value below which one is zero, and not axes that miss by little.
_ZERO = 1e-9

#: Velocities and rows up to which branches are looked for; each takes their third power.
_MOST = 500


@final
@attrs.frozen
class SingularPosture:
    """A configuration at which constraints allow velocities that they do not allow around it.

    Attributes
    ----------
    rank : int
        Of the constraints there.
    around : int
        The highest rank on the branches of motion that meet there; `rank` where none was found.
    count : int
        Number of these branches.
    """

    rank: int
    around: int
    count: int

    @classmethod
    def of(cls, system: System, t: float, q: Any) -> Self | None:
        """Return the finding on closed loops at q (nq,); None where they are regular.

        None also where it cannot be known: of large systems, or where joints raise.
        """
        if not system.num_position_constraints or max(system.nv, system.nq) > _MOST:
            return None
        try:
            loops = Loops.of(system, checked_fixed(system, (), "simulate"), t)
            J = loops.velocity_jacobian(q)
            rank, sizes, free = rank_of(J), singular_values(J, compute_uv=False), len(loops.free)
            found = branches(loops, q) if rank < free else ()
        except MbkitError:
            return None
        if not found:  # where axes miss by little, no motion is found either
            exact = rank < free and sizes[rank : rank + 1].sum() < _ZERO * sizes[0]
            return cls(rank, rank, 0) if exact else None
        around = max(free - branch.mobility for branch in found)
        return cls(rank, around, len(found)) if around > rank else None

    def __str__(self) -> str:
        """Return it as the rest of a sentence that begins with the place, and a remedy."""
        more = "print(system.diagnose(q)) says more."
        if not self.count:
            return (
                f"its constraints have rank {self.rank} there and allow velocities, but no motion "
                f"was found: the mechanism is shaky, or stands where a motion ends. Numbers "
                f"mean nothing there, in steps of any size. Take other lengths or another start; "
                f"{more}"
            )
        meet = f"{self.count} branches of its motion meet" if self.count > 1 else "a motion ends"
        return (
            f"its constraints have rank {self.rank} there, and {self.around} beside it: {meet} "
            f"there. Start beside it, on the branch that is meant: system.close_loops(q, v); {more}"
        )


def evaluate_start(system: System, t: float, q: Any, v: Any) -> None:
    """Evaluate the state at the start, which warns of redundant constraints.

    ConstraintError where no acceleration satisfies them; it states whether q is singular.
    """
    try:
        system.solve_dynamics(q, v, t=t)
    except ConstraintError as error:
        posture = SingularPosture.of(system, t, q)
        if posture is None:
            raise
        raise ConstraintError(
            f"{BEGINS} of '{system.name}', and the initial v belongs to none of its motions: "
            f"{posture}"
        ) from error


@final
class SingularStart(Monitor):
    """Warns once where a run has started at a singular configuration.

    More constraints are independent as soon as the mechanism has left it. That costs one evaluation
    of the constraints of a run; branches are searched only where there is a finding.
    """

    BEGINS = BEGINS
    CATEGORY = SingularityWarning

    def __init__(self, system: System, t: float, q: Any, kept: int) -> None:
        super().__init__()
        self._system, self._start, self._kept = system, (t, q.copy()), kept
        self._is_settled = False

    @classmethod
    def at(cls, system: System, t: float, q: Any) -> Self:
        """Return the monitor of a run whose constraints have not been looked at, at its start."""
        return cls(system, t, q, _rank(system, t, q))

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Look at the state of the problem, once it is away from the start."""
        if self._is_settled or not np.abs(q - self._start[1]).max(initial=0.0) > _AWAY:
            return
        self._is_settled = True
        if not np.isfinite(q).all() or self._kept >= _rank(self._system, t, q):
            return
        posture = SingularPosture.of(self._system, *self._start)
        if posture is not None:
            self.finding = (
                f"{self.BEGINS} of '{self._system.name}': {posture} What the run does from there "
                f"is one of several motions: the velocity decides, and rounding where it is zero; "
                f"errors of the first step are of order 2 in h, whatever the method."
            )


def may_be_singular(system: System, starts: tuple[Any, Any], ends: tuple[Any, Any]) -> Any:
    """Return of which runs (k,) the monitor has something to look at; of all at once.

    Starts and ends are times (k,) and configurations (k, nq).
    """
    (_, begun), (_, reached) = starts, ends
    away = np.isfinite(reached).all(axis=1)
    away &= np.abs(reached - begun).max(axis=1, initial=0.0) > _AWAY
    try:
        before, after = (_ranks(system, t[away], q[away]) for t, q in (starts, ends))
    except MbkitError:  # of one of them, and each is to be looked at
        return away
    away[away] = before < after
    return away


def _rank(system: System, t: float, q: Any) -> int:
    """Return how many constraints are independent at a configuration, 0 where that is not known."""
    try:
        return int(_ranks(system, np.array([t]), q[None].copy())[0])
    except MbkitError:  # the run raises it
        return 0


def _ranks(system: System, t: Any, q: Any) -> Any:
    """Return how many constraints are independent at times (k,) and configurations (k, nq)."""
    return kept_rows(system, q, np.zeros((len(q), system.nv)), t).sum(axis=1).astype(int)
