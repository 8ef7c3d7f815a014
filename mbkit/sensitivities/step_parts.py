"""Parts of steps, which lead to events, from there to the end of the step, and to output times.

A part of size h from x at time s ends at y = Phi(s, x, h). Where its beginning and its end move by
ds and dT, h = T - s,

    dy = A dx + B dp + (Phi_s - Phi_h) ds + Phi_h dT.

The steps that a pair has chosen for a part keep their sizes by that of the part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.integrator import Problem
from mbkit.joints.defaults.differences import central_differences
from mbkit.sensitivities.event_changes import state_of
from mbkit.sensitivities.linear_steps import Inputs, Linearisation, LinearSteps
from mbkit.simulation.preparation import Prepared
from mbkit.simulation.stepping.events_within_step import Segment
from mbkit.systems.calls.arguments import Floats

__all__ = ["Part", "part_of"]

#: Central differences of eighth order by the ends of a part, in steps of the run.
_STEPS, _WEIGHTS = central_differences(8, 1.0 / 16.0)


def part_of(run: Prepared, t: float, q: Floats, v: Floats, h: float) -> Prepared:
    """Return a run of one step, of another size, from another state."""
    problem: Problem = attrs.evolve(
        run.problem, t0=t, h=h, q=q.copy(), v=v.copy(), work=np.zeros(2), save_every=2,
        multipliers=run.problem.multipliers.copy(), memory={}, interpolate=None,
    )  # fmt: skip
    integrator = run.integrator.for_parts()
    return attrs.evolve(run, integrator=integrator, problem=problem, steps=1, held=None)


@final
@attrs.frozen(eq=False, slots=False)
class Part:
    """One part of a step, linear about itself.

    Attributes
    ----------
    whole : Linearisation
        The run that it is a part of.
    step : int
        The number of the step that it is a part of.
    segment : Segment
        Where it begins, and its size.
    """

    whole: Linearisation
    step: int
    segment: Segment

    @property
    def width(self) -> int:
        """How many entries q and v have; a part does not have the method's further memory."""
        return self.whole.system.ndx + self.whole.system.nv

    @functools.cached_property
    def steps(self) -> LinearSteps | None:
        """The step; None where its size is zero."""
        (t, q, v, _), h = self.segment
        if h <= 0.0:
            return None
        return self.whole.of_part(self._run(t, q, v, h)).take(0, 1)

    def _run(self, t: float, q: Floats, v: Floats, h: float) -> Prepared:
        if self.whole.run.held is not None:
            self.whole.run.held.set(self.step)
        return part_of(self.whole.run, t, q, v, h)

    @functools.cached_property
    def end(self) -> tuple[float, Floats, Floats]:
        """Time and state at its end."""
        (t, q, v, _), h = self.segment
        return (t, q, v) if self.steps is None else (t + h, self.steps.q[-1], self.steps.v[-1])

    @functools.cached_property
    def by_end(self) -> Floats:
        """Phi_h, (ndx + nv,)."""
        (t, q, v, _), h = self.segment
        return self._rate(lambda e: self._moved(t, q, v, h + e))

    @functools.cached_property
    def by_start(self) -> Floats:
        """Phi_s - Phi_h, (ndx + nv,)."""
        (t, q, v, _), h = self.segment
        return self._rate(lambda e: self._moved(t + e, q, v, h - e))

    def _rate(self, moved: Callable[[float], tuple[Floats, Floats]]) -> Floats:
        base, h = self.end[1:], self.whole.problem.h
        ends = [state_of(self.whole.system, base, *moved(h * e)) for e in _STEPS]
        return np.asarray(_WEIGHTS @ ends / h)

    def _moved(self, t: float, q: Floats, v: Floats, h: float) -> tuple[Floats, Floats]:
        if h == 0.0:
            return q, v
        part = self._run(t, q, v, h)
        fractions = np.ones(1) if self.steps is None else self.steps.fractions
        if self.whole.go_through(part, fractions) != 0:
            raise UsageError(
                f"There are no derivatives of this run, since a step beside that of an event "
                f"at t = {t:.9g} s cannot be taken."
            )
        return part.problem.q, part.problem.v

    def forward(self, x: Floats, inputs: Inputs) -> Floats:
        """Return A dx + B dp (ndx + nv, k) of columns x, those of the inputs in a row."""
        x, steps = self.padded(x), self.steps
        if steps is None:
            return x[: self.width]
        y = np.asarray(steps.matrices()[0] @ x)
        changes = steps.by_inputs(inputs.names)
        inputs.add(y, {name: each[0] for name, each in changes.items()}, self.step)
        return np.asarray(y[: self.width])

    def reverse(self, adjoint: Floats, inputs: Inputs, total: dict[str, Floats]) -> Floats:
        """Return A^T times an adjoint (ndx + nv,), and add B^T times it."""
        adjoint, steps = self.padded(adjoint), self.steps
        if steps is not None:
            none = np.zeros((1, self.whole.size))
            adjoint, found = steps.reverse(adjoint, none, inputs.names)
            inputs.collect(total, found, self.step, 1)
        return adjoint

    def padded(self, x: Floats) -> Floats:
        """Return entries of q and v with zeros for the method's further memory."""
        found = np.zeros((self.whole.size, *x.shape[1:]))
        found[: self.width] = x[: self.width]
        return found
