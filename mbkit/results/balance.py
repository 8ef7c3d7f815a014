"""The error of the energy balance of a run: where it is too large beside the moving energy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

__all__ = ["EnergyWatch", "in_order"]

#: Part of the peak kinetic energy which the balance may miss; and of the largest energy that moves,
#: where that is far more: a creep under load has hardly any kinetic energy.
PART, PART_OF_MOVING = 0.01, 1e-4

#: Part of the potential energies that may be rounding: a body a thousand kilometres up.
ROUNDED = 1e-9

#: How kinetic, potential, dissipated and supplied energy enter the balance.
_SIGNS = np.array([1.0, 1.0, 1.0, -1.0])

#: Methods that damp motions fast beside their step on purpose.
DAMPING = ("GeneralizedAlpha", "BLieDF")


@attrs.define(eq=False)
class EnergyWatch:
    """Follows the energy balance through the rows of a run, block by block.

    The energy that moves is the kinetic energy or, if larger, how much potential, dissipated and
    supplied energy change.

    Examples
    --------
    A swing that gains energy.

    >>> watch = EnergyWatch()
    >>> watch.look(
    ...     [0.0, 1.0, 2.0], kinetic=[0.0, 1.0, 1.2], potential=[1.0, 0.0, 0.0],
    ...     dissipated=[0.0, 0.0, 0.0], supplied=[0.0, 0.0, 0.0],
    ... )
    >>> watch.exceeds, watch.since, round(watch.missing, 9)
    (True, 2.0, 0.2)
    """

    # energy that may be missing whatever moves: errors by tolerances of solvers. [J]
    least: float = 0.0
    missing: float = 0.0  # the most that the balance missed, and when. [J], [s]
    at: float = 0.0
    kinetic: float = 0.0  # the peak kinetic energy. [J]
    moving: float = 0.0  # the largest energy that moved. [J]
    # when the balance began to miss too much, by the energy moved by then; None if it does not at
    # the end. [s]
    since: float | None = None
    first: float | None = None  # when it missed too much for the first time. [s]
    _start: Any = attrs.field(init=False, default=None)
    _potential: float = attrs.field(init=False, default=0.0)

    def look(self, t: Any, kinetic: Any, potential: Any, dissipated: Any, supplied: Any) -> None:
        """Look at rows (k,), which follow those before; rows without numbers are left out."""
        rows = np.array([t, kinetic, potential, dissipated, supplied], dtype=np.float64)
        rows = rows[:, np.isfinite(rows).all(axis=0)]
        if rows.shape[1] == 0:
            return
        times, energies = rows[0], rows[1:]
        if self._start is None:
            self._start = energies[:, :1].copy()
        with np.errstate(over="ignore", invalid="ignore"):
            changes = energies - self._start
            gap = np.abs(_SIGNS @ changes)
            moved = np.maximum(energies[0], np.abs(changes[1:]).max(axis=0))
        gap[np.isnan(gap)] = np.inf
        moved = np.maximum(np.maximum.accumulate(moved), self.moving)
        kinetic = np.maximum(np.maximum.accumulate(energies[0]), self.kinetic)
        sizes = np.maximum(np.maximum.accumulate(np.abs(energies[1])), self._potential)
        self._note_when(times, gap > self._allowed(kinetic, moved, sizes))
        worst = int(np.argmax(gap))
        if gap[worst] > self.missing:
            self.missing, self.at = float(gap[worst]), float(times[worst])
        self.kinetic, self.moving = float(kinetic[-1]), float(moved[-1])
        self._potential = float(sizes[-1])

    def _note_when(self, t: Any, too_much: Any) -> None:
        """Keep since when the error of the balance is too large, and when it first was."""
        if self.first is None and too_much.any():
            self.first = float(t[np.argmax(too_much)])
        kept = np.flatnonzero(~too_much)
        if kept.size:
            after = int(kept[-1]) + 1
            self.since = float(t[after]) if after < t.size else None
        elif self.since is None:
            self.since = float(t[0])

    def _allowed(self, kinetic: Any, moved: Any, potential: Any) -> Any:
        part = np.maximum(PART * kinetic, PART_OF_MOVING * moved)
        return np.maximum(part, self.least + ROUNDED * potential)

    @property
    def exceeds(self) -> bool:
        """Whether the balance missed too much, by all that has moved."""
        return bool(self.missing > self._allowed(self.kinetic, self.moving, self._potential))

    def finding(
        self, options: Mapping[str, Any], told: Iterable[str] = (), reason: str = ""
    ) -> str:
        """Return the warning of a run with a result's options, "" where the balance is kept.

        `told` are other warnings: a prescribed motion that jumps is reason enough. So is a known
        `reason`.
        """
        if not self.exceeds:
            return ""
        if self.since is not None:
            when = f"from t = {self.since:.6g} s on"
        else:
            when = f"first at t = {self.at if self.first is None else self.first:.6g} s"
        is_kinetic = PART * self.kinetic >= PART_OF_MOVING * self.moving
        largest = self.kinetic if is_kinetic else self.moving
        what = "peak kinetic energy" if is_kinetic else "largest energy that moved"
        share = self.missing / largest if largest > 0.0 else np.inf
        driven = any(text.startswith("The prescribed motion") for text in told)
        remedy = reason or (_OF_MOTION if driven else _remedy(options))
        said = f"{100.0 * share:.3g} %" if share < 10.0 else f"{share:.3g} times"
        return (
            f"The energy balance has an error of up to {self.missing:.3g} J, {when}: at "
            f"t = {self.at:.6g} s {said} of the {what}. {remedy}"
        )


#: The remedy where a prescribed motion jumps, has a kink or is too fast.
_OF_MOTION = "First mend the prescribed motion that another warning names: it alone may do this."


def _remedy(options: Mapping[str, Any]) -> str:
    """Return the likely error behind such a balance, by the method, and remedies, as text."""
    method = str(options.get("integrator", ""))
    name = method.partition("(")[0] or "the integrator"
    wrong = "and its numbers are inexact or wrong"
    look = (
        "where that does not help, a force has another power than it says. See 'Steps that are "
        "too large' in docs/integrators.md."
    )
    if "rtol=" in method or "atol=" in method:
        return (
            f"The tolerances of {name} are too large for this motion, {wrong}. Use a smaller rtol, "
            f"integrator=mb.{name}({_of_order_5(method)}rtol=...); {look}"
        )
    h = options.get("h")
    steps = f"{'Steps' if h is None else f'Steps of h = {h:.9g} s'} are too large for {name}"
    if name in DAMPING:
        return (
            f"{steps}, which takes energy from motions that are faster than they are: of these its "
            f"numbers are wrong, and of others inexact. Use a smaller h; {look}"
        )
    further = "" if name == "RATTLie" else ", rtol for adaptive steps"
    return (
        f"{steps}, {wrong}. Use a smaller h{further}, or mbkit.GeneralizedAlpha() where parts are "
        f"stiff; {look}"
    )


def _of_order_5(method: str) -> str:
    """Return the argument of a method that is its tableau, where it has one."""
    return "mb.tableaus.DORMAND_PRINCE5, " if "tableau=" in method else ""


def in_order(rows: Sequence[Any], samples: Any) -> Any:
    """Return time and energies (5, k + n) of rows, five arrays (k,), and samples (5, n) by time."""
    both = np.concatenate([np.stack([np.asarray(each) for each in rows]), samples], axis=1)
    return both[:, np.argsort(both[0], kind="stable")]
