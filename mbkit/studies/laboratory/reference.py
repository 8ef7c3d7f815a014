"""References of a study: the motion of bodies that runs are compared with, and its error."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas, tableaus
from mbkit.io.results.netcdf import load_result
from mbkit.representations import Hybrid
from mbkit.results import Result
from mbkit.simulation.simulate import simulate
from mbkit.systems import System

__all__ = ["Motion", "Reference", "Setting", "reference_of"]

#: By which a reference is computed, and by which its error is estimated.
TIGHT = RungeKuttaMuntheKaas(tableaus.DORMAND_PRINCE8, rtol=1e-12)
OTHER = RungeKuttaMuntheKaas(tableaus.DORMAND_PRINCE5, rtol=1e-11)

#: Momentum that changes by less than this, in parts of the largest, is conserved.
CONSERVED = 1e-9

Quantity = Callable[[System, Any, Any], Any]


@attrs.frozen(eq=False)
class Setting:
    """What all cases of a study have in common.

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
        ``quantity(system, q, v)`` (k, ...): what the error is about, instead of the bodies.
    invariants : mapping of str to callable
        Likewise: what should stay.
    length : float
        Error of a position that counts as much as one of 1 rad. [m]
    repeats : int
        How often a case is timed.
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
        """Return a run from the start, by any system of the mechanism; nothing is warned of."""
        q, v = self.q, self.v
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if system is not self.base:
                q, v = system.state_of(self.base, q, v)
            return simulate(
                system, self.t_span, h, q=q, v=v, integrator=integrator, save_every=save_every,
                progress=False, **more,
            )  # fmt: skip


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
    """What is taken for exact.

    Attributes
    ----------
    about : str
        Where it comes from.
    motion : Motion or None
        None where only the quantity is known.
    quantity : ndarray or None, shape (k, ...)
        Of the setting, where it has one.
    doubt : mapping of str to float
        Estimates of its own errors, by the columns of errors; empty where it is exact.
    """

    about: str
    motion: Motion | None
    quantity: Any = None
    doubt: Mapping[str, float] = attrs.field(factory=dict)

    def errors(self, setting: Setting, system: System, q: Any, v: Any) -> dict[str, float]:
        """Return the errors of a motion at the instants of the setting."""
        found: dict[str, float] = {}
        if self.motion is not None:
            moved = Motion.of(system, q, v, setting.bodies)
            found = moved.errors(self.motion, setting.length)
            found |= self._drift(moved)
        if self.quantity is not None and setting.quantity is not None:
            apart = np.asarray(setting.quantity(system, q, v)) - self.quantity
            found["error"] = _largest(np.abs(apart))
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
        What is compared.
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
    """Return a reference by a method with steps of its own size, and its errors by another."""
    if not method.adaptive:
        raise UsageError(
            f"reference: {method!r} takes steps of one size; give it a tolerance, such as "
            "mbkit.RungeKuttaMuntheKaas(mbkit.tableaus.DORMAND_PRINCE8, rtol=1e-12)."
        )
    h = (setting.t_span[1] - setting.t_span[0]) / setting.samples
    runs = [setting.run(setting.base, h, each, 1) for each in (method, OTHER)]
    exact, other = (Motion.of(setting.base, run.q, run.v, setting.bodies) for run in runs)
    doubt = other.errors(exact, setting.length)
    values = None
    if setting.quantity is not None:
        values, less = (np.asarray(setting.quantity(setting.base, run.q, run.v)) for run in runs)
        doubt["error"] = _largest(np.abs(less - values))
    return Reference(f"{method!r}, doubted by {OTHER!r}", exact, values, doubt)


def _of_result(setting: Setting, run: Result, about: str) -> Reference:
    base = setting.base
    if run.position_names != base.position_names or run.velocity_names != base.velocity_names:
        raise UsageError(
            f"reference: {about} has the positions {', '.join(run.position_names)}; it must be one "
            f"of mechanism.assemble(), with {', '.join(base.position_names)}."
        )
    rows = np.searchsorted(run.t, setting.times - 1e-9 * setting.t_span[1])
    rows = np.minimum(rows, run.t.size - 1)
    missing = np.abs(run.t[rows] - setting.times) > 1e-9 * max(1.0, abs(setting.t_span[1]))
    if missing.any():
        raise UsageError(
            f"reference: {about} has no state at t = {setting.times[missing][0]:.9g} s; save one "
            f"at each of {setting.samples} equal parts of the span, by save_at."
        )
    q, v = run.q[rows], run.v[rows]
    values = None if setting.quantity is None else np.asarray(setting.quantity(base, q, v))
    return Reference(about, Motion.of(base, q, v, setting.bodies), values)
