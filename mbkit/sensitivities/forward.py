"""Derivatives of the saved states of a run, forward: from the start to the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import final

import attrs
import numpy as np

from mbkit.given_values import Named
from mbkit.memory import check_memory
from mbkit.results import Result
from mbkit.sensitivities.event_steps import Found
from mbkit.sensitivities.recorded_run import RecordedRun
from mbkit.systems.calls.arguments import Floats

__all__ = ["Sensitivities", "sensitivities"]


@final
@attrs.frozen(eq=False)
class Sensitivities:
    """Derivatives of the saved states of a run: `mbkit.sensitivities`.

    Attributes
    ----------
    t : ndarray, shape (k,)
        Times of the saved states. [s]
    q : mapping of str to ndarray, shape (k, ndx, ...)
        Of configurations, by the name of the input: along steps of `System.retract` at the saved
        configuration. The axes of the input follow: (ndx,) of "q", (nv,) of "v" and constant "tau",
        (m, nv) of `PiecewiseEfforts`, none of a parameter that is one number, (6,) of a pose, else
        those of the parameter.
    v : mapping of str to ndarray, shape (k, nv, ...)
        Of velocities.
    events : mapping of str to ndarray, shape (m, ...)
        Of the times of all that has happened, as ``run.events.t`` has them.
    """

    t: Floats
    q: Mapping[str, Floats] = attrs.field(repr=False)
    v: Mapping[str, Floats] = attrs.field(repr=False)
    events: Mapping[str, Floats] = attrs.field(repr=False)


def sensitivities(run: Result, by: Iterable[str]) -> Sensitivities:
    """Return the derivatives of all saved states of a run by its start, its efforts and parameters.

    They are the derivatives of the computed run, step by step, not of the exact motion: exact but
    for rounding, and for the differences that `System.derivatives` names. Steps of adaptive size
    are those that the run took, of fixed sizes.

    Parameters
    ----------
    run : Result
        As `simulate` returned it in this process.
    by : iterable of str
        Inputs: "q" and "v", the state at the start, the former along steps of `System.retract`;
        "tau", the efforts of the run, constant or `PiecewiseEfforts`; and names in
        `System.parameters`.

    Returns
    -------
    Sensitivities
        ``found.q["bodies.rod.mass"]`` (k, ndx), ``found.v["q"]`` (k, nv, ndx), and so on.

    Raises
    ------
    NameUnknownError
        If there is no such input.
    UsageError
        If the run has no derivatives: it is of a file, of another integrator, or two of its events
        happen at once, and so on; the message has the reason.

    Notes
    -----
    Loops are closed at the start and after each step, which is differentiated as well: by "q" and
    "v" the derivatives are those along which loops stay closed, and by a parameter that opens loops
    those of the start that closes them again, nearest by kinetic energy. Where rows of constraints
    depend on others, those are left out that the run leaves out in the step.

    Events may stop the run or reset its state, as long as the same ones happen for inputs nearby.
    Their times move by the implicit function theorem, and the states after them accordingly. A
    saved state is one at a time that does not move, but for the last one of a run that an event
    ends: that is the state at the event, whose time is the last of ``found.events``. The
    derivatives by parameters of events and resets are finite differences of eighth order.

    Cost: that of the run, of the derivatives of accelerations at each of its stages, and
    O(steps nv^2 k) for k numbers in `by`. For one number as a function of many inputs `gradient` is
    cheaper.

    References
    ----------
    .. [1] E. Hairer, S. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, Springer
       1993, section I.14.

    Examples
    --------
    A body falls on a slope: q = q0 + v0 t - g t^2 / 2.

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> run = mb.simulate(mech.assemble(), t_span=(0.0, 2.0), h=0.1)
    >>> found = mb.sensitivities(run, by=["q", "v", "gravity"])
    >>> found.q["v"][-1].round(9), found.q["gravity"][-1].round(9)
    (array([[2.]]), array([[0., 0., 2.]]))
    """
    steps = RecordedRun.of(run, by)
    system, inputs = steps.linear.system, steps.inputs
    widths = inputs.sizes
    count, ndx, nv = run.t.size, system.ndx, system.nv
    what = f"Derivatives of {count} saved states by {sum(widths)} numbers"
    check_memory(float(count) * (ndx + nv) * sum(widths), what, "save fewer states")
    x = np.zeros((steps.linear.size, sum(widths)))
    inputs.add(x, steps.linear.start(inputs.names), 0)
    found = Found(
        np.empty((count, ndx + nv, sum(widths))), np.empty((len(run.events), sum(widths)))
    )
    found.rows[steps.rows_at(0)] = x[: ndx + nv]
    for piece in steps.pieces(matrices=True):
        x = steps.take(piece).forward(x, inputs, found)

    def named(array: Floats) -> Mapping[str, Floats]:
        parts = np.split(array, np.cumsum(widths)[:-1], axis=-1)
        pairs = zip(inputs.shapes.items(), parts, strict=True)
        values = {name: part.reshape((*part.shape[:-1], *shape)) for (name, shape), part in pairs}
        return MappingProxyType(Named(values, "There are no derivatives by"))

    rows, times = found
    return Sensitivities(run.t, named(rows[:, :ndx]), named(rows[:, ndx:]), named(times))
