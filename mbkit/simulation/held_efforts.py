"""Efforts of a run that change between its steps, and not within one."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from mbkit.integrators.integrator import Advance, Problem, Rows
from mbkit.systems.forms.momentum_form import MomentaInLoops

__all__ = ["EffortsInSteps", "Held", "Stretch"]


class Stretch(NamedTuple):
    """The steps of a run in which efforts act."""

    t_span: tuple[float, float]  # of the run [s]
    steps: int
    problem: Problem  # whose state they are chosen by
    tau: Any  # (nv,), where the equations of motion of the run take efforts from
    momenta: MomentaInLoops | None  # of a run in them


class EffortsInSteps(abc.ABC):
    """Efforts that users give, constant within each step of a run."""

    @abc.abstractmethod
    def held(self, run: Stretch) -> Held:
        """Return the object that applies them in a run; raise where they do not fit it."""


class Held(abc.ABC):
    """Lets efforts act in the steps of a run, each for some steps."""

    @abc.abstractmethod
    def set(self, step: int) -> int:
        """Let those of a step act; return for how many steps, from this one on."""

    def keep_in(self, problem: Problem) -> None:  # noqa: B027  # most remember nothing
        """Put the numbers that are kept from step to step into a problem's memory."""

    def forget(self, step: int) -> None:  # noqa: B027
        """Drop the efforts of before a step: its rows are written."""

    def in_steps(self, advance: Advance) -> Advance:
        """Return the function that takes steps with these efforts."""

        def advance_with_efforts(first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
            taken = saved = status = 0
            while taken < steps and status == 0:
                size = min(steps - taken, self.set(first + taken))
                rest = Rows(*(part[saved:] for part in rows))
                status, done, wrote = advance(first + taken, size, rest)
                taken, saved = taken + done, saved + wrote
            return status, taken, saved

        return advance_with_efforts

    @abc.abstractmethod
    def at(self, t: float) -> Any:
        """Return the efforts (nv,) at the time of a row."""
