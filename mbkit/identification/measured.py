"""Measured motion and efforts, and the parameters that shall be found from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self, final

import attrs
import numpy as np

from mbkit.errors import (
    NameUnknownError,
    NotFiniteError,
    ShapeError,
    UsageError,
    listed,
    several,
    suggestion,
)
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import System
from mbkit.systems.calls.arguments import times_of

__all__ = [
    "ForceNumber",
    "Motion",
    "Unknown",
    "check_mapping",
    "check_ordinary",
    "check_timeless",
    "names_given",
    "noise_of",
]

#: Of measured numbers: their products are squared and summed.
LARGEST = 1e50

_KEYS = ("q", "v", "vdot", "efforts")


@final
@attrs.frozen(eq=False)
class Motion:
    """Samples of a motion and of the efforts at it, one a row."""

    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    efforts: FloatArray
    t: FloatArray

    @classmethod
    def of(cls, system: System, data: Any) -> Self:
        """Return the arrays of a mapping, checked."""
        check_mapping("identify: data", data, "measured arrays, {'q': q, 'v': v, ...}")
        for key in data:
            if key not in (*_KEYS, "t"):
                raise NameUnknownError(
                    f"identify: data has {key!r}; {suggestion(key, (*_KEYS, 't'))}"
                )
        missing = [key for key in _KEYS if key not in data]
        if missing:
            raise UsageError(
                f"identify: data lacks {listed(missing)}; give q, v, vdot and efforts, one row a "
                f"sample. Accelerations can be differences of smoothed velocities."
            )
        found = {}
        for key in _KEYS:
            name = "tau" if key == "efforts" else key
            try:
                found[key] = system.evaluator.arguments.with_leading_axes(name, data[key])
            except ShapeError as error:
                size = system.nq if key == "q" else system.nv
                raise ShapeError(
                    f"identify: data[{key!r}] must have one row a sample, shape (samples, {size}): "
                    f"{error}"
                ) from error
        samples = found["q"].shape[:-1]
        times = times_of(data.get("t", np.zeros(samples)))
        shapes = {key: each.shape[:-1] for key, each in found.items()} | {"t": times.shape}
        if len(samples) != 1 or len(set(shapes.values())) > 1:
            told = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
            raise ShapeError(
                f"identify: data must have one axis of samples, of one length, before the last; "
                f"got {told}."
            )
        if not len(times):
            raise UsageError("identify: data has no samples, rows of no number; give some.")
        found["t"] = times
        for key, each in found.items():
            check_ordinary(each, f"identify: data[{key!r}]")
        return cls(**found)


def check_mapping(what: str, value: Any, words: str) -> None:
    """Raise UsageError unless a value is a mapping, of `words`; arrays are not printed."""
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} must be a mapping of {words}, got {type(value).__name__}.")


def check_timeless(system: System, motion: Motion) -> None:
    """Raise UsageError where a force depends on time, by a table or by other values then."""
    count = len(motion.q)
    spread = np.geomspace(1e-2, 1e3, count)
    moments = (spread, spread[::-1], np.linspace(0.1, 10.0, count))
    for force in system.forces:
        timed = np.size(getattr(force, "times", ())) > 0
        if not timed:
            others = [name for name in system.force_names if name != force.name]
            alone = system.without_forces(others) if others else system
            at_zero = alone.generalized_forces(motion.q, motion.v, 0.0)
            timed = any(
                not np.array_equal(
                    alone.generalized_forces(motion.q, motion.v, t, on_error="nan"), at_zero
                )
                for t in moments
            )
        if timed:
            raise UsageError(
                f"identify: data lacks 't', and force '{force.name}' depends on time; give the "
                f"times of the samples, data['t']."
            )


class ForceNumber(NamedTuple):
    """One number of a force: the name of the parameter and the entry, None for a scalar."""

    path: str
    entry: tuple[int, ...] | None


@final
@attrs.frozen(eq=False)
class Unknown:
    """Parameters that shall be found.

    Attributes
    ----------
    names : tuple of str
        Inertial ones, then those of forces.
    inertial : ndarray of int
        Their numbers in `System.inertial_parameters`.
    forces : tuple of ForceNumber
        Numbers of forces.
    start : ndarray
        Values that the system has.
    """

    names: tuple[str, ...]
    inertial: Any
    forces: tuple[ForceNumber, ...]
    start: FloatArray

    @classmethod
    def of(cls, system: System, parameters: Any) -> Self:
        """Return the parameters of names; all inertial ones if None."""
        own = system.inertial_parameter_names
        if parameters is None:
            parameters = own
        bodies = system.body_names[1:]
        index = {name: k for k, name in enumerate(own)}
        numbers = {
            key: value for key, value in system.parameters.items() if key.startswith("forces.")
        }
        inertial: dict[int, None] = {}
        forces: dict[ForceNumber, str] = {}
        for name in names_given("identify", parameters):
            if name in index:
                inertial[index[name]] = None
            elif name in bodies:
                first = 10 * bodies.index(name)
                inertial |= dict.fromkeys(range(first, first + 10))
            elif name in numbers:
                shape = np.shape(numbers[name])
                for entry in np.ndindex(shape):
                    label = f"{name}[{', '.join(map(str, entry))}]" if shape else name
                    forces[ForceNumber(name, entry if shape else None)] = label
            else:
                raise NameUnknownError(
                    f"identify: system '{system.name}' has no parameter {name!r} of a body or a "
                    f"force; {suggestion(name, (*bodies, *own, *numbers))}"
                )
        chosen = np.array(sorted(inertial), dtype=np.int64)
        start = [
            float(numbers[each.path] if each.entry is None else numbers[each.path][each.entry])
            for each in forces
        ]
        names = (*(own[k] for k in chosen), *forces.values())
        values = np.concatenate([system.inertial_parameters[chosen], start])
        return cls(names, chosen, tuple(forces), values)


def names_given(who: str, parameters: Any) -> list[str]:
    """Return names of parameters, checked; UsageError if there are none."""
    if not isinstance(parameters, str) and several(parameters):
        names = list(parameters)
        if names and all(isinstance(name, str) for name in names):
            return names
    raise UsageError(
        f"{who}: parameters must be a list of names, or be left out for all; got {parameters!r}."
    )


def numbers_of(given: Any) -> FloatArray:
    """Return numbers as an array; others are empty, for the check that follows."""
    try:
        array = np.asarray(given)
        return array.astype(np.float64) if array.dtype.kind in "fiu" else np.zeros(0)
    except Exception:  # whatever its own __array__ raises
        return np.zeros(0)


def noise_of(who: str, noise: Any, shapes: Iterable[tuple[int, ...]], words: str) -> Any:
    """Return standard deviations as an array, one of the shapes; None if they are to be found."""
    if noise is None:
        return None
    found = numbers_of(noise)
    good = (found > 1.0 / LARGEST) & (found < LARGEST)
    if found.shape not in tuple(shapes) or not good.all():
        raise UsageError(f"{who}: noise must be {words}, positive numbers; got {noise!r}.")
    return found


def check_ordinary(values: FloatArray, what: str) -> None:
    """Raise NotFiniteError unless numbers are finite, and so small that their squares are."""
    bad = np.argwhere(~(np.abs(values) < LARGEST))
    if len(bad):
        more = len(np.unique(bad[:, 0])) - 1
        others = f", and so have {more} more" if more else ""
        raise NotFiniteError(
            f"{what} has a number that is not finite, or above {LARGEST:g}: sample {bad[0, 0]} has "
            f"{values[tuple(bad[0])]}{others}; leave such samples out."
        )
