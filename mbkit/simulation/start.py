"""Starts of simulations, checked before anything is computed."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbkit.errors import (
    ConfigurationError,
    NotFiniteError,
    UsageError,
    several,
    suggestion,
)
from mbkit.integrators.integrator import Rows
from mbkit.memory import NoMemoryError, check_memory
from mbkit.simulation.start_by_name import Start, start_of
from mbkit.simulation.step_sizes import INTERVALS
from mbkit.systems import System

__all__ = [
    "SAVED",
    "check_finite",
    "check_kept_whole",
    "checked_notes",
    "checked_saving",
    "empty_rows",
    "initial_state",
    "number_of_steps",
    "saving_interval",
]

# Kernels count steps in 64 bits, and add this to a number of steps.
_MOST_STEPS = 2**62

#: The data that a run with a directory may save.
SAVED = ("q", "v", "energies", "constraints")


def number_of_steps(t_span: Any, h: Any) -> tuple[tuple[float, float], float, int]:
    """Return span, step, and how many steps that is; UsageError unless it is a whole number.

    Without h, for integrators that choose their steps, it is the distance of saved states.
    """
    try:
        start, end = (float(t) for t in t_span)
        h = (end - start) / INTERVALS if h is None else float(h)
    except Exception:  # whatever it raises that is to be a number
        h_too = " and h a number" if h is not None else ", such as (0.0, 1.0)"
        got = f"t_span={t_span!r}" + ("" if h is None else f", h={h!r}")
        raise UsageError(f"t_span must be two times{h_too}; got {got}.") from None
    if np.isfinite([start, end]).all() and end <= start:
        raise UsageError(
            f"t_span must go forward in time, from its start to a later end; got t_span=({start}, "
            f"{end})."
        )
    if not np.isfinite([start, end]).all():
        raise UsageError(f"t_span must be two finite times; got t_span=({start}, {end}).")
    if not (np.isfinite(h) and h > 0.0):
        raise UsageError(f"h must be positive, a step in seconds; got h={h}.")
    if not np.isfinite((end - start) / h) or (end - start) / h > 2**53:
        raise UsageError(f"A step of h={h} s is too small for a span of {end - start:g} s.")
    steps = round((end - start) / h)
    if steps < 1 or abs(steps * h - (end - start)) > 1e-6 * h:
        fitting = (end - start) / math.ceil((end - start) / h)  # no larger than the h given
        raise UsageError(
            f"The span {end - start:g} s must be a whole number of steps h; got h={h:g} s. "
            f"Use for example h={fitting!r}."
        )
    return (start, end), h, steps


def initial_state(system: System, t: float, q: Any, v: Any) -> Start:
    """Return checked copies of the initial state; evaluating it once finds bad quaternions.

    Prescribed joints have their values at that time; see `start_of` for arguments left out.
    """
    if not isinstance(q, Mapping | None):
        q = system.checked("q", q)
        check_finite("initial q", q, system.position_names)
    if not isinstance(v, Mapping | None):
        v = system.checked("v", v)
        check_finite("initial v", v, system.velocity_names)
    start = start_of(system, t, q, v)
    try:
        system.energies(start.q[None], start.v[None])
    except ConfigurationError as error:  # there are no samples here
        raise ConfigurationError(str(error).replace(" At sample (0,).", "")) from error.__cause__
    q, v, _ = system.prescribed_state(t, start.q, start.v)
    return start._replace(q=q, v=v)


def check_finite(name: str, value: Any, labels: tuple[str, ...]) -> None:
    """Raise NotFiniteError, naming the first entry of `value` that is not finite by its label."""
    bad = np.flatnonzero(~np.isfinite(value))
    if bad.size:
        raise NotFiniteError(
            f"The {name} of '{labels[bad[0]]}' is {value[bad[0]]}; it must be finite."
        )


def saving_interval(save_every: Any) -> int:
    """Return the number of steps between saved states; UsageError unless it is 1 or more."""
    try:
        steps = operator.index(save_every)
    except TypeError:
        steps = 0
    if steps < 1 or isinstance(save_every, bool):
        raise UsageError(
            f"save_every must be a whole number of steps, at least 1; got {save_every!r}."
        )
    if steps >= _MOST_STEPS:
        raise UsageError(
            f"save_every must be below 2^62, got a number of {steps.bit_length()} bits."
        )
    return steps


def checked_saving(save: Any, dtype: Any) -> tuple[tuple[str, ...], str]:
    """Return which data are saved, and in which type; UsageError if there is no such thing."""
    if not several(save):
        raise UsageError(f"save must be names out of {', '.join(map(repr, SAVED))}, got {save!r}.")
    names = [save] if isinstance(save, str) else list(save)
    for name in names:
        if not (isinstance(name, str) and name in SAVED):
            raise UsageError(f"save: nothing is called {name!r}; {suggestion(name, SAVED)}")
    if not names:
        raise UsageError(f"save must have at least one of {', '.join(map(repr, SAVED))}.")
    if not (isinstance(dtype, str) and dtype in ("float64", "float32")):
        raise UsageError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    return tuple(name for name in SAVED if name in names), str(dtype)


def check_kept_whole(save: Any, dtype: Any) -> None:
    """Raise UsageError where a result in memory would leave something out."""
    if checked_saving(save, dtype) != (SAVED, "float64"):
        raise UsageError(
            "save and dtype are for runs that are written to a directory, and this one has none; "
            "add output='runs/name', or leave them out."
        )


def checked_notes(notes: Any, name: str = "notes") -> Any:
    """Return the notes of a result as files can hold them; UsageError if they cannot."""
    if isinstance(notes, Mapping) or name == "notes":
        if not isinstance(notes, Mapping) or not all(isinstance(key, str) for key in notes):
            raise UsageError(f"{name} must be a mapping with texts for its keys, got {notes!r}.")
        return {key: checked_notes(value, f"{name}[{key!r}]") for key, value in notes.items()}
    if isinstance(notes, np.ndarray | np.generic):
        notes = notes.tolist()
    if isinstance(notes, list | tuple):
        return [checked_notes(each, f"{name}[{k}]") for k, each in enumerate(notes)]
    if notes is None or isinstance(notes, bool | int | float | str):
        return notes
    raise UsageError(f"{name} must be text, numbers, lists or mappings of them, got {notes!r}.")


def empty_rows(count: int, nq: int, nv: int, m: int) -> Rows:
    """Return memory for `count` rows; pages never written to take no memory of the machine."""
    what = f"A result of {count} saved states, {nq + nv + m + 3} numbers each,"
    remedy = "use a larger save_every, or a larger h"
    check_memory(float(count) * (nq + nv + m + 3), what, remedy)
    try:
        return Rows.empty(count, nq, nv, m)
    except (MemoryError, ValueError):  # of numpy: too many for an index
        raise NoMemoryError(f"{what} has no place in memory; {remedy}.") from None
