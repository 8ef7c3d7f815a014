"""Derivatives of one number that depends on a run, by the adjoint: from the end to the start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, ShapeError, UsageError, suggestion
from mbkit.results import Result
from mbkit.sensitivities.event_steps import Seeds
from mbkit.sensitivities.recorded_run import RecordedRun
from mbkit.simulation.python_force import check_takes_states
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats

__all__ = ["Gradient", "Loss", "gradient"]

#: ``loss(t, q, v) -> (value, by_q, by_v)`` of all saved states, or with a fourth, by_t.
Loss = Callable[[Any, Any, Any], tuple[Any, ...]]


@final
@attrs.frozen(eq=False)
class Gradient:
    """The value of a loss of a run, and its derivatives: `mbkit.gradient`.

    Attributes
    ----------
    value : float
        Of the loss.
    by : mapping of str to ndarray
        Its derivatives by the name of the input, each with the axes of the input; see
        `Sensitivities`.
    """

    value: float
    by: Mapping[str, Floats] = attrs.field(repr=False)

    def __getitem__(self, name: str) -> Floats:
        """Return the derivative by one input.

        Parameters
        ----------
        name : str
            One of the inputs of the gradient.

        Returns
        -------
        ndarray
            With the axes of the input.

        Raises
        ------
        NameUnknownError
            If the gradient is not by this input.
        """
        if not (isinstance(name, str) and name in self.by):
            raise NameUnknownError(
                f"This gradient is not by {name!r}; {suggestion(str(name), self.by)}"
            )
        return self.by[name]


def gradient(run: Result, loss: Loss, by: Iterable[str]) -> Gradient:
    """Return a number that depends on a run, and its derivatives by all inputs at once.

    The derivatives are those of the computed run, as of `sensitivities`, by the adjoint of the
    steps, from the last to the first: the cost does not depend on how many inputs there are.

    Parameters
    ----------
    run : Result
        As `simulate` returned it in this process.
    loss : callable
        ``loss(t, q, v)``, of all saved states, t (k,), q (k, nq), v (k, nv), returns its value and
        its derivatives by q (k, ndx), along steps of `System.retract`, and v (k, nv). None stands
        for derivatives that are zero. See Notes.
    by : iterable of str
        Inputs, as of `sensitivities`.

    Returns
    -------
    Gradient
        ``found.value``; ``found["bodies.rod.mass"]``, ``found["q"]``, and so on.

    Raises
    ------
    NameUnknownError, UsageError
        As by `sensitivities`.
    ShapeError
        If the loss does not return a number and two arrays of these shapes.

    Notes
    -----
    Where coordinates add, derivatives along steps are those by q. The sum of squares of
    ``q - measured`` then is ``lambda t, q, v: (((q - measured)**2).sum(), 2 * (q - measured),
    None)``. On groups the derivative of ``sum(difference(measured, q)**2)`` by q needs the
    differential of the logarithm, `System.dexp_inv`.

    References
    ----------
    .. [1] W. W. Hager, "Runge-Kutta methods in optimal control and the transformed adjoint system",
       Numer. Math. 87 (2000) 247-282.

    Examples
    --------
    How high a ball flies, by gravity and by the start: q = v t - g t^2 / 2.

    >>> import mbkit as mb
    >>> import numpy as np
    >>> mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> run = mb.simulate(mech.assemble(), t_span=(0.0, 1.0), h=0.1, v=[4.0])
    >>> def end(t, q, v):
    ...     by_q = np.zeros(q.shape)
    ...     by_q[-1] = 1.0
    ...     return q[-1, 0], by_q, None
    >>> found = mb.gradient(run, end, by=["v", "gravity"])
    >>> round(found.value, 9), found["v"].round(9), found["gravity"].round(9)
    (-0.905, array([1.]), array([0. , 0. , 0.5]))
    """
    steps = RecordedRun.of(run, by)
    value, seeds = seeds_of(run, steps.linear.system, loss)
    linear, inputs = steps.linear, steps.inputs
    total = inputs.zeros()
    matrices = not linear.are_by_pass(inputs.names)
    pieces, starts, last = list(steps.pieces(matrices=matrices)), [], None
    begin = steps.state()
    for piece in pieces:
        starts.append(steps.state())
        last = steps.take(piece)
    adjoint = np.zeros(linear.size)
    adjoint[: seeds.rows.shape[1]] = seeds.rows[steps.rows_at(steps.count)].sum(axis=0)
    for piece, state in zip(reversed(pieces), reversed(starts), strict=True):
        if last is None:
            steps.put(state)
            last = steps.take(piece)
        adjoint = last.reverse(adjoint, seeds, inputs, total)
        last = None
    steps.put(begin)
    parameters = [name for name in inputs.names if name != "tau"]  # no start depends on it
    for name, part in linear.back_to_start(adjoint, parameters).items():
        total[name] += part
    named = {name: total[name].reshape(shape) for name, shape in inputs.shapes.items()}
    return Gradient(value, MappingProxyType(named))


def seeds_of(run: Result, system: System, loss: Any) -> tuple[float, Seeds]:
    """Return the loss, and its derivatives by the saved states and by their times."""
    if not callable(loss):
        raise UsageError(f"loss must be a function loss(t, q, v), got {loss!r}.")
    check_takes_states(loss, "loss")
    returned = loss(run.t, run.q, run.v)
    k = run.t.size
    parts = [np.zeros(shape) for shape in ((k, system.ndx), (k, system.nv), (k,))]
    try:
        value, *given = returned
        value = float(value)
        assert 2 <= len(given) <= len(parts)
        for part, each in zip(parts, given, strict=False):
            if each is not None:
                array = np.asarray(each, dtype=np.float64)
                assert array.shape == part.shape
                part[:] = array
    except (TypeError, ValueError, AssertionError):
        raise ShapeError(
            f"loss must return its value, a number, and its derivatives by q, "
            f"{parts[0].shape}, and v, {parts[1].shape}, and may return those by t, "
            f"{parts[2].shape}; None stands for zeros; got {_shapes(returned)}."
        ) from None
    if not (np.isfinite(value) and all(np.isfinite(part).all() for part in parts)):
        raise ShapeError(f"loss must return finite numbers; {_bad(value, parts)}.")
    return value, Seeds(np.concatenate(parts[:2], axis=-1), parts[2])


def _bad(value: float, parts: Sequence[Floats]) -> str:
    """Say which of a loss and its derivatives is not finite, and in which row."""
    for name, part in zip(("q", "v", "t"), parts, strict=True):
        bad = np.argwhere(~np.isfinite(part))
        if len(bad):
            return f"its derivative by {name} is {part[tuple(bad[0])]} in row {bad[0, 0]}"
    return f"its value is {value}"


def _shapes(returned: Any) -> str:
    if not isinstance(returned, tuple):
        return repr(returned)
    return ", ".join("None" if x is None else f"shape {np.shape(x)}" for x in returned)
