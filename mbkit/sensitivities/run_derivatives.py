"""Derivatives of whole runs: forward, and of one number by the adjoint."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, ShapeError, UsageError, check_kind, suggestion
from mbkit.memory import check_memory
from mbkit.results import Result
from mbkit.sensitivities.linear_steps import Linearisation, checked_inputs, size_of
from mbkit.sensitivities.methods import check_method, linearisation_of
from mbkit.simulation.origin import Origin
from mbkit.systems.calls.arguments import Floats

__all__ = ["Gradient", "Loss", "Sensitivities", "gradient", "sensitivities"]

#: ``loss(t, q, v) -> (value, by_q, by_v)`` of all saved states.
Loss = Callable[[Any, Any, Any], tuple[Any, Any, Any]]

#: How many numbers steps are kept with at once: 128 MB.
MOST_NUMBERS = 2**24


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
        configuration. The axes of the input follow: (ndx,) of "q", (nv,) of "v" and "tau", none of
        a parameter that is one number, (6,) of a pose, else those of the parameter.
    v : mapping of str to ndarray, shape (k, nv, ...)
        Of velocities.
    """

    t: Floats
    q: Mapping[str, Floats] = attrs.field(repr=False)
    v: Mapping[str, Floats] = attrs.field(repr=False)


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
            One of those that the gradient was asked for.

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


def sensitivities(run: Result, by: Iterable[str]) -> Sensitivities:
    """Return the derivatives of all saved states of a run by its start, its efforts and parameters.

    They are the derivatives of what was computed, step by step, not of the exact motion: exact but
    for rounding, and for what `System.derivatives` says of its differences. Steps of adaptive size
    are those that the run took.

    Parameters
    ----------
    run : Result
        As `simulate` returned it in this process.
    by : iterable of str
        Inputs: "q" and "v", the state at the start, the former along steps of `System.retract`;
        "tau", the constant efforts of the run; and names in `System.parameters`.

    Returns
    -------
    Sensitivities
        ``found.q["bodies.rod.mass"]`` (k, ndx), ``found.v["q"]`` (k, nv, ndx), and so on.

    Raises
    ------
    NameUnknownError
        If there is no such input.
    UsageError
        If the run has no derivatives: it is of a file, of another integrator, or its state jumps.

    Notes
    -----
    Loops are closed at the start and after each step, which is differentiated as well: by "q" and
    "v" the derivatives are those along which loops stay closed, and by a parameter that opens loops
    those of the start that closes them again, nearest by kinetic energy. Where rows of constraints
    depend on others the derivatives are exact up to the error of the method.

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
    steps = _Steps.of(run, by)
    system, shapes = steps.linear.system, steps.shapes
    widths = [size_of(shape) for shape in shapes.values()]
    count, ndx, nv = run.t.size, system.ndx, system.nv
    what = f"Derivatives of {count} saved states by {sum(widths)} numbers"
    check_memory(float(count) * (ndx + nv) * sum(widths), what, "save fewer states")
    x = np.concatenate(list(steps.linear.start(list(shapes)).values()), axis=-1)
    found = np.empty((count, ndx + nv, sum(widths)))
    found[steps.rows_at(0)] = x[: ndx + nv]
    for first, size in steps.chunks(matrices=True):
        taken = steps.take(first, size)
        A, B = taken.matrices(), taken.by_inputs(list(shapes))
        changes = np.concatenate(list(B.values()), axis=-1)
        for k in range(size):
            x = A[k] @ x + changes[k]
            found[steps.rows_at(first + k + 1)] = x[: ndx + nv]
    parts = np.split(found, np.cumsum(widths)[:-1], axis=-1)
    named = {
        name: part.reshape((*part.shape[:-1], *shape))
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
    return Sensitivities(
        run.t,
        MappingProxyType({name: part[:, :ndx] for name, part in named.items()}),
        MappingProxyType({name: part[:, ndx:] for name, part in named.items()}),
    )


def gradient(run: Result, loss: Loss, by: Iterable[str]) -> Gradient:
    """Return a number that depends on a run, and its derivatives by all inputs at once.

    The derivatives are those of what was computed, as of `sensitivities`, by the adjoint of the
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
    steps = _Steps.of(run, by)
    value, seeds = steps.seeds(loss)
    linear, shapes = steps.linear, steps.shapes
    names, problem = list(shapes), linear.problem
    total = {name: np.zeros(size_of(shape)) for name, shape in shapes.items()}
    chunks = list(steps.chunks(matrices=False))
    starts, last = [], None
    begin = {name: array.copy() for name, array in problem.state.items()}
    for first, size in chunks:
        starts.append({name: array.copy() for name, array in problem.state.items()})
        last = steps.take(first, size)
    adjoint = np.zeros(linear.size)
    adjoint[: seeds.shape[1]] = seeds[-1]
    for (first, size), state in zip(reversed(chunks), reversed(starts), strict=True):
        if last is None:
            steps.put(state)
            last = steps.take(first, size)
        rows = np.zeros((size, linear.size))
        rows[:, : seeds.shape[1]] = seeds[first : first + size]
        adjoint, found = last.reverse(adjoint, rows, names)
        for name, part in found.items():
            total[name] += part
        last = None
    steps.put(begin)
    for name, S in linear.start(names).items():
        total[name] += S.T @ adjoint
    named = {name: total[name].reshape(shape) for name, shape in shapes.items()}
    return Gradient(value, MappingProxyType(named))


@final
@attrs.frozen(eq=False, slots=False)
class _Steps:
    """The steps of a run, taken again in chunks, and the rows of its result."""

    run: Result
    linear: Linearisation
    shapes: Mapping[str, tuple[int, ...]]
    count: int

    @classmethod
    def of(cls, run: Any, by: Any) -> _Steps:
        """Check what was asked for."""
        check_kind("run", run, Result, "an mbkit.Result")
        origin = run.origin
        if not isinstance(origin, Origin):
            raise UsageError(
                "Derivatives of a run need what it began with, and this result was read from a "
                "file, or copied: call simulate, without output=, and give its result."
            )
        check_method(origin.arguments["integrator"])
        shapes = checked_inputs(origin.arguments["system"], by)
        prepared = origin.prepared()
        if "tau" in shapes and callable(prepared.tau):
            raise UsageError(
                "There are no derivatives by 'tau' of a run whose efforts are a function; give "
                "constant ones, tau=numpy.zeros(nv), and let a force of the mechanism do the rest."
            )
        if not run.completed:
            raise UsageError(f"The run is not complete, and has no derivatives: {run.message}")
        return cls(run, linearisation_of(prepared), shapes, prepared.steps)

    @functools.cached_property
    def _row_of(self) -> dict[int, int]:
        every = self.linear.problem.save_every
        saved = sorted({*range(0, self.count + 1, every), self.count})
        return {step: row for row, step in enumerate(saved)}

    def rows_at(self, step: int) -> slice:
        """Return the row of the state after so many steps; none where it is not saved."""
        row = self._row_of.get(step)
        return slice(0, 0) if row is None else slice(row, row + 1)

    def chunks(self, *, matrices: bool) -> Iterator[tuple[int, int]]:
        """Give the first step and the number of steps of each chunk; see `Linearisation`."""
        numbers = self.linear.numbers(matrices=matrices)
        size = int(max(1, min(self.count, MOST_NUMBERS // max(1, numbers))))
        for first in range(0, self.count, size):
            yield first, min(size, self.count - first)

    def take(self, first: int, count: int) -> Any:
        """Take some steps; UsageError where they are not those of the run."""
        taken = self.linear.take(first, count)
        saved = [step for step in self._row_of if first <= step <= first + count]
        rows = [self._row_of[step] for step in saved]
        known, found = self.run.q[rows], taken.q[[step - first for step in saved]]
        if not np.array_equal(known, found):
            k = int(np.argmax((known != found).any(axis=-1)))
            raise UsageError(
                f"The run cannot be taken again: at t = {self.run.t[rows[k]]:.9g} s another state "
                "is found. A function of the user, such as a force, gives other numbers than "
                "before; let it depend on its arguments alone."
            )
        return taken

    def put(self, state: Mapping[str, Floats]) -> None:
        """Let the problem go on from a state."""
        for name, array in state.items():
            self.linear.problem.state[name][:] = array

    def seeds(self, loss: Any) -> tuple[float, Floats]:
        """Return the loss, and its derivatives by the states after all steps (steps + 1, ...)."""
        if not callable(loss):
            raise UsageError(f"loss must be a function loss(t, q, v), got {loss!r}.")
        run, system = self.run, self.linear.system
        returned = loss(run.t, run.q, run.v)
        sizes = {"by_q": system.ndx, "by_v": system.nv}
        parts = [np.zeros((run.t.size, size)) for size in sizes.values()]
        try:
            value, *given = returned
            value = float(value)
            assert len(given) == len(parts)
            for part, each in zip(parts, given, strict=True):
                if each is not None:
                    array = np.asarray(each, dtype=np.float64)
                    assert array.shape == part.shape
                    part[:] = array
        except (TypeError, ValueError, AssertionError):
            raise ShapeError(
                f"loss must return its value, a number, and its derivatives by q, "
                f"{parts[0].shape}, and v, {parts[1].shape}, or None for either; got "
                f"{_shapes(returned)}."
            ) from None
        if not (np.isfinite(value) and all(np.isfinite(part).all() for part in parts)):
            raise ShapeError("loss must return finite numbers; its value or a derivative is not.")
        seeds = np.zeros((self.count + 1, system.ndx + system.nv))
        seeds[list(self._row_of)] = np.concatenate(parts, axis=-1)
        return value, seeds


def _shapes(returned: Any) -> str:
    if not isinstance(returned, tuple):
        return repr(returned)
    return ", ".join("None" if x is None else f"shape {np.shape(x)}" for x in returned)
