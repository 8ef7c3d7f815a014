"""References of a study: the motion of bodies that runs are compared with, and its error."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.events import Event
from mbkit.events.quantities import FunctionQuantity
from mbkit.events.reset import FunctionReset
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas, tableaus
from mbkit.io.results.loading import load_result
from mbkit.lie.arrays import as_floats
from mbkit.representations import Hybrid
from mbkit.results import EventLog, Result
from mbkit.simulation.piecewise_efforts import PiecewiseEfforts
from mbkit.simulation.simulate import simulate
from mbkit.systems import System

__all__ = ["Motion", "Reference", "Setting", "reference_of"]

#: By which a reference is computed, and by which its error is estimated.
TIGHT = RungeKuttaMuntheKaas(tableaus.DORMAND_PRINCE8, rtol=1e-12)
OTHER = RungeKuttaMuntheKaas(tableaus.DORMAND_PRINCE5, rtol=1e-11)

#: Momentum that changes by less than this, in parts of the largest, is conserved.
CONSERVED = 1e-9

WHAT = "quantity: what the function returns"

Quantity = Callable[[System, Any, Any], Any]


@attrs.frozen(eq=False)
class Setting:
    """The setting common to all cases of a study.

    Attributes
    ----------
    base : System
        In relative coordinates, by which the start is given.
    q, v : ndarray, shape (nq,), (nv,)
        The start, of `base`, with closed loops.
    t_span : tuple of two floats
        [s]
    samples : int
        At so many instants, equally spaced, motions are compared; step counts are multiples.
    quantity : callable or None
        ``quantity(system, q, v)`` (k, ...), whose error is measured instead of that of the bodies.
    invariants : mapping of str to callable
        Likewise: quantities that should stay constant.
    length : float
        Error of a position that counts as much as one of 1 rad. [m]
    repeats : int
        How often a case is timed.
    tau : array_like, PiecewiseEfforts, callable or None
        Efforts along the velocities of `base`, as of `simulate`.
    events : tuple of Event
        That happen on the way.
    """

    base: System
    q: Any
    v: Any
    t_span: tuple[float, float]
    samples: int
    quantity: Quantity | None = None
    invariants: Mapping[str, Quantity] = attrs.field(factory=dict)
    length: float = 1.0
    repeats: int = 3
    tau: Any = None
    events: tuple[Event, ...] = ()

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that are compared."""
        return tuple(self.base.body_names[1:])

    @property
    def times(self) -> Any:
        """The instants, (samples + 1,)."""
        return np.linspace(*self.t_span, self.samples + 1)

    def run(
        self, system: System, h: float, integrator: Integrator, save_every: int, **more: Any
    ) -> Result:
        """Return a run from the start, by any system of the mechanism; nothing is warned of.

        UsageError where functions of q and v, or efforts, are given for the base, and the system
        has other velocities.
        """
        q, v, base = self.q, self.v, self.base
        if (system.model_text, system.velocity_names) != (base.model_text, base.velocity_names):
            self._check_names()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if system is not self.base:
                q, v = system.state_of(self.base, q, v)
            return simulate(
                system, self.t_span, h, q=q, v=v, tau=self.tau, integrator=integrator,
                events=self.events, save_every=save_every, progress=False, **more,
            )  # fmt: skip

    def _check_names(self) -> None:
        """Raise where something is given in coordinates of the base, and the coordinates differ."""
        there = "of the coordinates of mechanism.assemble(), and there are others here;"
        if self.tau is not None:
            raise UsageError(
                f"tau: efforts are {there} let forces act that know their joint, such as "
                "mbkit.JointEffort."
            )
        for event in self.events:
            if isinstance(event.when, FunctionQuantity) or isinstance(event.reset, FunctionReset):
                raise UsageError(
                    f"events: functions of '{event.name}' are {there} take quantities and resets "
                    "of mbkit, such as mbkit.PlaneDistance and mbkit.Impact."
                )

    def instants(self, run: Result) -> Any:
        """Return the rows of a run at `times`, after the events there; UsageError without."""
        near = 1e-9 * max(1.0, abs(self.t_span[1]))
        rows = np.searchsorted(run.t, self.times + near, side="right") - 1
        missing = np.abs(run.t[rows] - self.times) > near
        if missing.any():
            raise UsageError(
                f"there is no state at t = {self.times[missing][0]:.9g} s; save one at each of "
                f"{self.samples} equal parts of the span, by save_at."
            )
        return rows


@attrs.frozen(eq=False)
class Motion:
    """Poses (k, n, 4, 4) and twists (k, n, 6) of bodies, momentum (k, 6) about the world's origin.

    Twists are the angular velocity and the velocity of the body's origin, in the world's axes.
    """

    poses: Any
    twists: Any
    momentum: Any

    @classmethod
    def of(cls, system: System, q: Any, v: Any, bodies: tuple[str, ...]) -> Motion:
        """Return the motion of the named bodies at states (k, nq), (k, nv)."""
        rows = [system.body_index(name) for name in bodies]
        twists = system.twists(q, v, representation=Hybrid())
        return cls(system.poses(q)[:, rows], twists[:, rows], system.momentum(q, v))

    def errors(self, exact: Motion, length: float) -> dict[str, float]:
        """Return the largest errors of any body at any instant; see `measurement.UNITS`."""
        apart = self.poses - exact.poses
        # |R - R_0| = 2 sqrt(2) sin(angle / 2) in Frobenius' norm
        chord = np.linalg.norm(apart[..., :3, :3], axis=(-2, -1)) / np.sqrt(8.0)
        angle = _largest(2.0 * np.arcsin(np.minimum(chord, 1.0)))
        distance = _largest(np.linalg.norm(apart[..., :3, 3], axis=-1))
        rates = self.twists - exact.twists
        return {
            "error": max(angle, distance / length),
            "error_rotation": angle,
            "error_position": distance,
            "error_angular_velocity": _largest(np.linalg.norm(rates[..., :3], axis=-1)),
            "error_velocity": _largest(np.linalg.norm(rates[..., 3:], axis=-1)),
        }


def _largest(values: Any) -> float:
    return float(np.max(values, initial=0.0)) if np.isfinite(values).all() else float("nan")


@attrs.frozen(eq=False)
class Reference:
    """The reference solution, which is taken as exact.

    Attributes
    ----------
    about : str
        Its origin.
    motion : Motion or None
        None where only the quantity is known.
    quantity : ndarray or None, shape (k, ...)
        Of the setting, where it has one.
    doubt : mapping of str to float
        Estimates of its own errors, by the columns of errors; empty where it is exact.
    events : EventLog or None
        Its events; None where they are not known.
    """

    about: str
    motion: Motion | None
    quantity: Any = None
    doubt: Mapping[str, float] = attrs.field(factory=dict)
    events: EventLog | None = None

    def errors(self, setting: Setting, system: System, run: Result) -> dict[str, float]:
        """Return the errors of a run at the instants of the setting, and of its events."""
        rows = setting.instants(run)
        q, v = run.q[rows], run.v[rows]
        found: dict[str, float] = {}
        if self.motion is not None:
            moved = Motion.of(system, q, v, setting.bodies)
            found = moved.errors(self.motion, setting.length)
            found |= self._drift(moved)
        if self.quantity is not None and setting.quantity is not None:
            apart = as_floats(setting.quantity(system, q, v), WHAT) - self.quantity
            found["error"] = _largest(np.abs(apart))
        if setting.events:
            found["events"] = len(run.events.names)
            if self.events is not None and self.events.names == run.events.names:
                found["error_event_time"] = _largest(np.abs(self.events.t - run.events.t))
        return found

    def _drift(self, moved: Motion) -> dict[str, float]:
        """Return how far momenta drift, those that stay in the exact motion."""
        assert self.motion is not None
        exact = self.motion.momentum
        scale = np.abs(exact).reshape(-1, 2, 3).max(axis=(0, 2)).repeat(3)
        still = (np.ptp(exact, axis=0) <= CONSERVED * scale) & (scale > 0.0)
        change = np.abs(moved.momentum - moved.momentum[0])
        names = {"angular_momentum_drift": slice(0, 3), "momentum_drift": slice(3, 6)}
        return {
            name: _largest(change[:, part][:, still[part]]) if still[part].any() else float("nan")
            for name, part in names.items()
        }


def reference_of(setting: Setting, given: Any = None) -> Reference:
    """Return the reference of a study.

    Parameters
    ----------
    setting : Setting
        The setting of the compared cases.
    given : Integrator, callable, Result, path or None
        By which integrator it is computed; a closed form ``given(t)`` of the quantity; a result of
        the base system, or its file. None: `TIGHT`, whose error is estimated by `OTHER`.

    Raises
    ------
    UsageError
        If a closed form comes without a quantity, or a result has other times or coordinates.
    """
    if given is None or isinstance(given, Integrator):
        return _computed(setting, TIGHT if given is None else given)
    if isinstance(given, str | os.PathLike):
        return _of_result(setting, load_result(given), f"file {os.fspath(given)}")
    if isinstance(given, Result):
        return _of_result(setting, given, "a result")
    if not callable(given):
        raise UsageError(
            f"reference must be an integrator, a function of time, a result or its file, got "
            f"{given!r}; leave it out to have one computed."
        )
    if setting.quantity is None:
        raise UsageError(
            "reference: a closed form needs a quantity(system, q, v), of which it gives the values "
            "over time; give both."
        )
    values = np.array([given(float(t)) for t in setting.times], dtype=np.float64)
    return Reference("closed form", None, values)


def _computed(setting: Setting, method: Integrator) -> Reference:
    """Return a reference by an adaptive method, and its errors by another."""
    if not method.adaptive:
        raise UsageError(
            f"reference: {method!r} takes steps of one size; give it a tolerance, such as "
            "mbkit.RungeKuttaMuntheKaas(mbkit.tableaus.DORMAND_PRINCE8, rtol=1e-12)."
        )
    parts = len(setting.tau.values) if isinstance(setting.tau, PiecewiseEfforts) else 1
    steps = math.lcm(setting.samples, parts)  # efforts change between steps
    h = (setting.t_span[1] - setting.t_span[0]) / steps
    runs = [
        setting.run(setting.base, h, each, steps // setting.samples) for each in (method, OTHER)
    ]
    exact = _of_result(setting, runs[0], "")
    doubt = exact.errors(setting, setting.base, runs[1])
    return attrs.evolve(exact, about=f"{method!r}, doubted by {OTHER!r}", doubt=doubt)


def _of_result(setting: Setting, run: Result, about: str) -> Reference:
    base = setting.base
    if run.position_names != base.position_names or run.velocity_names != base.velocity_names:
        raise UsageError(
            f"reference: {about} has the positions {', '.join(run.position_names)}; it must be one "
            f"of mechanism.assemble(), with {', '.join(base.position_names)}."
        )
    try:
        rows = setting.instants(run)
    except UsageError as error:
        raise UsageError(f"reference: of {about}, {error}") from None
    q, v = run.q[rows], run.v[rows]
    values = None if setting.quantity is None else as_floats(setting.quantity(base, q, v), WHAT)
    motion = Motion.of(base, q, v, setting.bodies)
    return Reference(about, motion, values, events=run.events if setting.events else None)
