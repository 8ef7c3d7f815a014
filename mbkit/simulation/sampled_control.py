"""Controllers that are called at a rate of their own, and held between."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import NotFiniteError, ShapeError, UsageError
from mbkit.given_values import as_number
from mbkit.integrators.integrator import Problem
from mbkit.lie.arrays import as_floats
from mbkit.simulation.held_efforts import EffortsInSteps, Held, Stretch
from mbkit.simulation.python_force import check_takes_states
from mbkit.simulation.step_sizes import INTERVALS
from mbkit.spatial.arrays import EQUAL, frozen_array, shown
from mbkit.systems.forms.momentum_form import MomentaInLoops

__all__ = ["HeldSamples", "Sampled"]

#: Part of a step by which a period or a delay may miss a whole number of steps.
_ROUNDED = 1e-6

#: Largest denominator of spans and delays in periods, where the run chooses its grid itself.
_LARGEST = 1000

#: Calls of a controller, or delays in periods, that no run has.
_MOST = 1e12

#: Times the steps that a run without h would take: from there on a warning names their number.
_FEW = 10

_WHAT = "Sampled: what the controller(t, q, v) returns"


@final
@attrs.frozen
class Sampled(EffortsInSteps):
    """A controller for `simulate` that is called at its own rate, its efforts held between.

    At the times t0 + k period the controller is given t, q and v; its answer acts from a
    `delay` later on, for a period: a zero-order hold. Before the first answer arrives efforts are
    zero. Steps of every integrator end at these times.

    A controller with a memory, such as an integral, has two methods beside ``__call__``:
    ``state()`` returns it as an array of numbers, of one shape, and ``set_state(array)`` takes it
    back. Every run then begins with the memory that the controller had when this object was made,
    and run directories keep it, for `resume`. Memory elsewhere is neither put back nor
    kept.

    Attributes
    ----------
    controller : callable
        ``controller(t, q, v)`` returns generalized forces (nv,). [N m], [N]
    period : float
        Time between two calls: a whole number of steps h. [s]
    delay : float
        From a call to when its answer acts: likewise. [s]
    quantum : float or ndarray, shape (nv,), default 0, keyword only
        Of efforts: those that act are the nearest multiples of it. Zero leaves them as they are.
        [N m], [N]
    resolution : float or ndarray, shape (nq,), default 0, keyword only
        Of measured positions, as an encoder has it: the controller is given the nearest multiples.
        Velocities are given as they are. Zero, for all or for entries of orientations, leaves
        positions as they are. [rad], [m]
    initial : ndarray or None
        The memory of the controller with which runs begin.

    Raises
    ------
    UsageError
        If the controller is none, has only one of the two methods, or period or delay is no time.
    UsageError, ShapeError
        If quantum or resolution are no numbers that are zero or positive; in a run, if they are
        not as many as efforts or positions.

    Examples
    --------
    A cart of 1 kg is brought to rest; each call takes half of its velocity.

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("cart", gravity=(0, 0, 0))
    >>> cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, cart)
    >>> brake = mb.Sampled(lambda t, q, v: -5.0 * v, period=0.1)
    >>> run = mb.simulate(mech.assemble(), (0.0, 0.3), h=0.05, v=[1.0], tau=brake)
    >>> run.v[::2, 0].round(12)
    array([1.   , 0.5  , 0.25 , 0.125])
    """

    controller: Callable[[float, Any, Any], Any]
    period: float = attrs.field(converter=as_number)
    delay: float = attrs.field(default=0.0, converter=as_number)
    quantum: Any = attrs.field(default=0.0, converter=frozen_array, eq=EQUAL, kw_only=True)
    resolution: Any = attrs.field(default=0.0, converter=frozen_array, eq=EQUAL, kw_only=True)
    initial: Any = attrs.field(init=False, default=None, eq=EQUAL, repr=False)

    def __attrs_post_init__(self) -> None:
        for name in ("quantum", "resolution"):
            value = getattr(self, name)
            is_size = value.dtype.kind == "f" and value.ndim <= 1 and value.size > 0
            if not is_size or not (np.isfinite(value) & (value >= 0.0)).all():
                raise UsageError(
                    f"Sampled: {name} must be a size, zero or positive, or one for each entry, got "
                    f"{shown(value)}."
                )
        if isinstance(self.controller, type) or not callable(self.controller):
            raise UsageError(
                f"Sampled: controller must be a function controller(t, q, v), or an object that is "
                f"called so, got {self.controller!r}."
            )
        check_takes_states(self.controller, "Sampled: controller")
        for name, least in (("period", "positive"), ("delay", "zero or positive")):
            value = getattr(self, name)
            is_time = isinstance(value, float) and 0.0 <= value < math.inf
            if not is_time or (name == "period" and value == 0.0):
                raise UsageError(f"Sampled: {name} must be a {least} time, got {value!r}.")
        names = ("state", "set_state")
        methods = [callable(getattr(self.controller, name, None)) for name in names]
        if any(methods) and not all(methods):
            raise UsageError(
                f"Sampled: {self.controller!r} must have both methods, state() and "
                f"set_state(array), or neither: one alone brings no memory back."
            )
        if all(methods):
            object.__setattr__(self, "initial", _memory(self.controller))

    def __call__(self, t: float, q: Any, v: Any) -> Any:
        """Return the answer of the controller, at any time."""
        return self.controller(t, q, v)

    def held(self, run: Stretch) -> HeldSamples:
        """Return the sampler of a run, for `simulate`; UsageError where steps do not fit."""
        problem = run.problem
        interval, late = (
            _whole(name, getattr(self, name), problem.h) for name in ("period", "delay")
        )
        if self.initial is not None:
            self.controller.set_state(self.initial.copy())  # type: ignore[attr-defined]
        for name, vector in (("quantum", run.tau), ("resolution", problem.q)):
            size = getattr(self, name)
            if size.ndim == 1 and size.shape != vector.shape:
                raise ShapeError(
                    f"Sampled: {name} must be one number, or {vector.size} of them, got "
                    f"{size.size}."
                )
        answers = np.zeros((3 + late // interval, run.tau.size))
        state = None if self.initial is None else self.initial.copy()
        run.tau[:] = 0.0
        return HeldSamples(
            self, problem, interval, late, run.tau, np.zeros(1), answers, state, run.momenta
        )

    def grid(self, t_span: tuple[float, float], save_every: int) -> tuple[float, int]:
        """Return h and the steps between saved states of a run without h.

        All times of the controller are a whole number of steps h, and some 1000 states are saved.
        UsageError where there is no such h; a warning where it is far smaller than a run needs.
        """
        span = t_span[1] - t_span[0]
        count = self._coarsest(span)
        if count > _FEW * max(INTERVALS, 2.0 * span / self.period):
            warnings.warn(
                f"Sampled: a span of {span:g} s, a period of {self.period:g} s and a delay of "
                f"{self.delay:g} s have no common step longer than {span / count:.6g} s, so that "
                f"the run takes at least {count} steps. Let the delay be a simpler part of the "
                f"period, and the span a multiple of it; or give this h, if it is meant.",
                stacklevel=3,
            )
        more = max(1, math.ceil(INTERVALS / count))
        return span / (count * more), save_every * max(1, count * more // INTERVALS)

    def check_step(self, t_span: Any, h: Any) -> None:
        """Raise UsageError, with an h that fits all, where a time is no whole number of steps h.

        Values that are no span or no step are left to the functions that take both.
        """
        try:
            span, h = float(t_span[1]) - float(t_span[0]), float(h)
        except Exception:  # whatever it raises that is to be a number
            return
        if not (0.0 < span < math.inf and 0.0 < h < math.inf) or span / h > _MOST:
            return
        times = {"the span": span, "period": self.period, "delay": self.delay}
        for name, time in times.items():
            if abs(round(time / h) * h - time) > _ROUNDED * h or 0.0 < time < 0.5 * h:
                count = self._coarsest(span)
                count *= max(1, math.ceil(span / count / h - _ROUNDED))
                raise UsageError(
                    f"Sampled: {name}={time:g} s must be a whole number of steps, so that these "
                    f"end when efforts change; got h={h:g} s. Use for example "
                    f"h={span / count!r}, which fits the span, the period and the delay, or leave "
                    f"h out for steps by a tolerance."
                )

    def _coarsest(self, span: float) -> int:
        """Return the steps of a span of which period and delay are whole numbers, the fewest."""
        parts = []
        for name, time in (("span", span), ("delay", self.delay)):
            ratio = Fraction(min(time / self.period, _MOST))
            parts.append(ratio.limit_denominator(_LARGEST))
            if abs(float(parts[-1]) * self.period - time) > 1e-9 * time:
                raise UsageError(
                    f"Sampled: a span of {span:g} s and a delay of {self.delay:g} s have no common "
                    f"step with a period of {self.period:g} s: the {name} is no fraction of "
                    f"periods with a denominator up to {_LARGEST}. Give h, which divides all "
                    f"three, or let the {name} be {float(parts[-1]) * self.period!r} s."
                )
        whole = math.lcm(*(each.denominator for each in parts))
        return int(parts[0] * whole)


def _memory(controller: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Return a copy of the state of a controller, an array of numbers, of a shape if it had one."""
    array = np.atleast_1d(np.array(as_floats(controller.state(), "Sampled: controller.state()")))
    if not np.isfinite(array).all():
        raise NotFiniteError("Sampled: controller.state() must be finite, and is not.")
    if array.shape != (array.shape if shape is None else shape):
        raise ShapeError(
            f"Sampled: controller.state() must keep its shape, which was {shape}; got "
            f"{array.shape}."
        )
    return array


@final
@attrs.define(eq=False)
class HeldSamples(Held):
    """Answers of a sampled controller in a run, and the one that acts in a step."""

    sampled: Sampled
    problem: Problem  # whose state is sampled
    interval: int  # steps of a period
    late: int  # steps of the delay
    tau: Any  # (nv,), where the equations of motion of the run take efforts from
    # how many samples were taken, and the last of them, in turn; part of the problem's state
    count: Any
    answers: Any  # (k, nv)
    state: Any  # of the controller; None without
    momenta: MomentaInLoops | None = None  # of a run in them
    times: list[float] = attrs.field(factory=list)  # from when on which efforts acted
    values: list[Any] = attrs.field(factory=list)
    # memory of the controller, now and at the start
    remembered: list[tuple[Any, Any]] = attrs.field(factory=list)

    def keep_in(self, problem: Problem) -> None:
        """Put the numbers that are kept from step to step into a problem's memory."""
        own = {"samples_taken": self.count, "samples": self.answers}
        own |= {} if self.state is None else {"controller": self.state}
        others = {name: array for name, array in problem.memory.items() if name not in own}
        if set(others) <= {"step_size"}:  # one step does not know of the one before
            others = {}
        self.remembered = [(array, array.copy()) for array in others.values()]
        problem.memory.update(own)

    def set(self, step: int) -> int:
        """Let those of a step act, after a call of the controller if it is time; see `Held`."""
        if step % self.interval == 0 and step // self.interval >= int(self.count[0]):
            self._take(step)
        acting = (step - self.late) // self.interval
        self.tau[:] = self._answer(acting)
        if step > 0 and (step - self.late) % self.interval == 0:
            self._restart(self._answer(acting - 1))
        self._note(self.problem.t0 + step * self.problem.h)
        return min(self.interval - step % self.interval, self._until(step))

    def _answer(self, number: int) -> Any:
        return self.answers[number % len(self.answers)] if number >= 0 else np.zeros_like(self.tau)

    def _restart(self, before: Any) -> None:
        """Let an integrator forget the steps before a jump of the efforts, or it loses its order.

        Accelerations that it remembers are those before.
        """
        if not np.array_equal(before, self.tau):
            for array, at_start in self.remembered:
                array[:] = at_start

    def _until(self, step: int) -> int:
        """Return after how many steps from one on another answer acts."""
        return self.interval - (step - self.late) % self.interval

    def _take(self, step: int) -> None:
        """Call the controller with the state of the problem, and keep its answer."""
        problem, controller = self.problem, self.sampled.controller
        t, q, v = problem.t0 + step * problem.h, problem.q.copy(), problem.v.copy()
        v = v if self.momenta is None else np.array(self.momenta.velocity(q, v))
        try:
            if self.state is not None:
                controller.set_state(self.state.copy())  # type: ignore[attr-defined]
            q = _rounded(q, self.sampled.resolution)
            answer = as_floats(controller(t, q, v), _WHAT)
            self._check(answer, t)
            answer = _rounded(answer, self.sampled.quantum)
            state = None if self.state is None else _memory(controller, self.state.shape)
        except Exception as error:
            error.add_note(f"Raised by the sampled controller, at t = {t:.9g} s.")
            raise
        number = step // self.interval
        self.answers[number % len(self.answers)] = answer
        self.count[0] = number + 1.0
        if state is not None:
            self.state[:] = state

    def _check(self, answer: Any, t: float) -> None:
        if answer.shape != self.tau.shape:
            raise ShapeError(
                f"{_WHAT} must have shape {self.tau.shape}, one entry a velocity; got shape "
                f"{answer.shape}."
            )
        if not np.isfinite(answer).all():
            raise NotFiniteError(f"{_WHAT} must be finite, got {answer.tolist()} at t = {t:.9g} s.")

    def _note(self, t: float) -> None:
        """Keep from when on the efforts act, for evaluations at rows afterwards."""
        while self.times and self.times[-1] >= t:  # the step is taken again
            self.times.pop()
            self.values.pop()
        if not self.values or not np.array_equal(self.values[-1], self.tau):
            self.times.append(t)
            self.values.append(self.tau.copy())

    def at(self, t: float) -> Any:
        """Return the efforts at the end of a step: those that acted in it."""
        if not self.values:  # no step was taken
            return self.tau
        return self.values[max(0, bisect.bisect_left(self.times, t) - 1)]

    def forget(self, step: int) -> None:
        """Drop the efforts of before a step: its rows are written."""
        t = self.problem.t0 + step * self.problem.h
        gone = max(0, bisect.bisect_left(self.times, t) - 1)
        del self.times[:gone], self.values[:gone]


def _rounded(values: Any, size: Any) -> Any:
    """Return the multiples of a size that are nearest to values; values where it is zero."""
    if not size.any():
        return values
    steps = np.where(size > 0.0, size, 1.0)
    return np.where(size > 0.0, np.round(values / steps) * steps, values)


def _whole(name: str, time: float, h: float) -> int:
    """Return how many steps a time is; UsageError if that is no whole number."""
    steps = round(time / h)
    if abs(steps * h - time) > _ROUNDED * h or (name == "period" and steps < 1):
        parts = max(1, math.ceil(time / h))
        raise UsageError(
            f"Sampled: {name}={time:g} s must be a whole number of steps, so that these end when "
            f"efforts change; got h={h:g} s. Use for example h={time / parts!r}, or leave h out "
            f"for steps by a tolerance."
        )
    return steps
