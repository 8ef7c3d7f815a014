"""Efforts that are constant over each of the equal parts of a run."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import NotFiniteError, ShapeError, UsageError
from mbkit.lie.arrays import as_floats
from mbkit.simulation.held_efforts import EffortsInSteps, Held, Stretch
from mbkit.spatial.arrays import EQUAL


def _values(values: Any) -> Any:
    array = np.array(as_floats(values, "PiecewiseEfforts: values"))
    array.setflags(write=False)
    return array


def _span(span: Any) -> tuple[float, float]:
    try:
        start, end = (float(t) for t in span)
    except Exception:  # whatever it raises that is to be a number
        raise UsageError(
            f"PiecewiseEfforts: t_span must be two times, got {span!r}; give that of simulate."
        ) from None
    return start, end


@final
@attrs.frozen
class PiecewiseEfforts(EffortsInSteps):
    """Generalized forces for `simulate` that are constant over each of m equal parts of a run.

    They change between steps and not within one, as those of a controller do that acts from time to
    time, or those that an optimiser looks for: `sensitivities` and `gradient` have derivatives by
    all of them, as the input "tau".

    Attributes
    ----------
    values : ndarray, shape (m, nv)
        One row for each part. [N m], [N]
    t_span : tuple of two floats
        Start and end, those of `simulate`, whose number of steps is a multiple of m. [s]

    Raises
    ------
    ShapeError
        If the values are no table.
    NotFiniteError
        If one is infinite or not a number.
    UsageError
        If the span does not go forward.

    Examples
    --------
    A push to either side brings a body one metre on, at rest: q = a t^2 / 4.

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("cart", gravity=(0, 0, 0))
    >>> cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, cart)
    >>> push = mb.PiecewiseEfforts([[1.0], [-1.0]], t_span=(0.0, 2.0))
    >>> run = mb.simulate(mech.assemble(), (0.0, 2.0), h=0.1, tau=push)
    >>> run.q[-1].round(9), run.v[-1].round(9) + 0.0
    (array([1.]), array([0.]))
    >>> mb.sensitivities(run, by=["tau"]).q["tau"][-1].round(9)
    array([[[1.5],
            [0.5]]])
    """

    values: Any = attrs.field(converter=_values, eq=EQUAL)
    t_span: tuple[float, float] = attrs.field(converter=_span)

    def __attrs_post_init__(self) -> None:
        if self.values.ndim != 2 or not self.values.size:
            raise ShapeError(
                f"PiecewiseEfforts: values must have a row of nv entries for each part of the run, "
                f"got shape {self.values.shape}."
            )
        if not np.isfinite(self.values).all():
            raise NotFiniteError("PiecewiseEfforts: values must be finite, and one is not.")
        start, end = self.t_span
        if not (np.isfinite(self.t_span).all() and end > start):
            raise UsageError(
                f"PiecewiseEfforts: t_span must go forward in time, got ({start}, {end})."
            )

    def __call__(self, t: float, q: Any, v: Any) -> Any:
        """Return the row at a time, the later one where two parts meet."""
        start, end = self.t_span
        part = np.floor((t - start) / (end - start) * len(self.values) + 1e-9)
        return self.values[int(np.clip(part, 0, len(self.values) - 1))]

    def held(self, run: Stretch) -> HeldEfforts:
        """Return their form for a run, for `simulate`; raise where they do not fit it."""
        (m, nv), span = self.values.shape, run.t_span
        if nv != run.tau.size:
            raise ShapeError(
                f"PiecewiseEfforts: values must have {run.tau.size} entries in each row, one a "
                f"velocity; got shape {self.values.shape}."
            )
        if run.steps % m or not np.allclose(self.t_span, span, rtol=1e-12, atol=0.0):
            raise UsageError(
                f"PiecewiseEfforts: {m} parts of ({self.t_span[0]:g}, {self.t_span[1]:g}) do not "
                f"fit {run.steps} steps of a run over ({span[0]:g}, {span[1]:g}); take the same "
                f"span, and a number of steps that is a multiple of that of the parts."
            )
        run.tau[:] = self.values[0]
        return HeldEfforts(self, run.steps // m, run.tau)


@final
@attrs.frozen(eq=False)
class HeldEfforts(Held):
    """Piecewise efforts of a run: which of them act in a step."""

    efforts: PiecewiseEfforts
    interval: int  # steps over which a row acts
    tau: Any  # (nv,), where the equations of motion of the run take them from

    def set(self, step: int) -> int:
        """Let those of a step act; return for how many steps, from this one on."""
        values = self.efforts.values
        self.tau[:] = values[min(step // self.interval, len(values) - 1)]
        return self.interval - step % self.interval

    def at(self, t: float) -> Any:
        """Return the efforts at the time of a row."""
        return self.efforts(t, None, None)
