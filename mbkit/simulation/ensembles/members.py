"""The runs of an ensemble: what each is given, checked before the first of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, ParameterError, ShapeError, UsageError, check_kind
from mbkit.model.parameters import unknown_parameter
from mbkit.simulation.options import described_part
from mbkit.simulation.preparation import with_options
from mbkit.systems import System
from mbkit.systems.calls.arguments import common_axes

__all__ = ["Members", "has_samples", "of_sample", "with_all_forces"]


#: Systems with parameters of their own that are kept while runs go on.
KEPT = 4096


def with_all_forces(
    system: System, forces: Any, constraint_solver: Any
) -> tuple[System, list[str]]:
    """Return the system with further forces and another solver, and these forces as texts."""
    system, further = with_options(system, forces, constraint_solver)
    return system, [described_part(force) for force in further]


def has_samples(q: Any, v: Any, tau: Any, parameters: Any) -> bool:
    """Return whether what a simulation is given is of an ensemble: whether there may be axes."""
    return parameters is not None or any(
        each is not None and not callable(each) and _num_axes(each) > 1 for each in (q, v, tau)
    )


def _num_axes(value: Any) -> int:
    try:
        return np.ndim(value)
    except Exception:  # rows of several lengths; whatever its own __array__ raises
        return 0  # who reads it says what is wrong


def of_sample(error: BaseException, place: tuple[int, ...]) -> BaseException:
    """Return an error that names a sample."""
    error.args = (f"Sample {place}: {error.args[0] if error.args else error}", *error.args[1:])
    return error


@attrs.define(eq=False, on_setattr=attrs.setters.frozen)
class Members:
    """What the runs of an ensemble are given.

    Systems with other parameters are kept from the check of all runs until these have ended
    (`forget`), up to `KEPT` of them.
    """

    system: System  # with all forces; its parameters are those that no sample changes
    axes: tuple[int, ...]  # of the samples; () for one run alone
    vectors: dict[str, Any]  # (count, width): q, v and tau, those that were given as arrays
    further: dict[str, Any]  # those of q, v and tau that are no arrays: functions, names
    parameters: dict[str, Any]  # (count, ...): values by name
    _systems: dict[int, System] = attrs.field(factory=dict, init=False)  # those made so far

    @classmethod
    def of(cls, system: System, parameters: Any, **given: Any) -> Members:
        """Return the members; an error that says which argument does not fit."""
        arguments = system.evaluator.arguments
        further = {
            name: x for name, x in given.items()
            if x is None or callable(x) or isinstance(x, Mapping)
        }  # fmt: skip
        arrays = {
            name: arguments.with_leading_axes(name, x)
            for name, x in given.items() if name not in further
        }  # fmt: skip
        shapes = {name: array.shape[:-1] for name, array in arrays.items()}
        values = {} if parameters is None else _values(system, parameters)
        sizes = {name: np.ndim(system.parameters[name]) for name in values}
        shapes |= {
            f"parameters['{name}']": value.shape[: value.ndim - sizes[name]]
            for name, value in values.items()
        }
        axes = common_axes(shapes)
        count = math.prod(axes)
        if count == 0:
            raise UsageError(f"simulate: the samples have the axes {axes}; give at least one.")
        changed = {}
        for name, value in values.items():
            own = value.shape[value.ndim - sizes[name] :]
            changed[name] = np.broadcast_to(value, axes + own).reshape((count, *own))
        vectors = {
            name: np.broadcast_to(array, axes + array.shape[-1:]).reshape(count, array.shape[-1])
            for name, array in arrays.items()
        }
        return cls(system, axes, vectors, further, changed)

    @property
    def count(self) -> int:
        """Number of runs."""
        return math.prod(self.axes)

    @property
    def are_alike(self) -> bool:
        """Whether runs differ by states and numbers of a tree alone, not by its joints."""
        joints = any(name.startswith("joints.") for name in self.parameters)
        return not joints and self.system.num_velocity_constraints == 0

    def place(self, number: int) -> tuple[int, ...]:
        """Return the index of a sample."""
        return tuple(int(k) for k in np.unravel_index(number, self.axes))

    def values(self, number: int) -> dict[str, Any]:
        """Return the parameters of one run by name."""
        return {name: values[number] for name, values in self.parameters.items()}

    def system_of(self, number: int) -> System:
        """Return the system of one run."""
        if not self.parameters:
            return self.system
        system = self._systems.get(number)
        if system is None:
            system = self.system.with_parameters(self.values(number))
            if len(self._systems) < KEPT:
                self._systems[number] = system
        return system

    def forget(self) -> None:
        """Drop the systems, which take some 50 kB each; they are made anew if asked for."""
        self._systems.clear()

    def given(self, number: int) -> dict[str, Any]:
        """Return q, v and tau of one run."""
        return {**self.further, **{name: rows[number] for name, rows in self.vectors.items()}}


def _values(system: System, parameters: Any) -> dict[str, Any]:
    """Return arrays of parameters by name, with any leading axes."""
    check_kind("simulate: parameters", parameters, Mapping, "a mapping of names to values")
    known, found = system.parameters, {}
    for name, given in parameters.items():
        if name not in known:
            raise NameUnknownError(
                f"There is no parameter '{name}'; {unknown_parameter(name, known)}"
            )
        expected = np.shape(known[name])
        try:
            value = np.asarray(given)
            wrong = value.dtype.kind not in "fiu"
            value = value.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            value, wrong = np.full((0,) * 64, np.nan), given is None or isinstance(given, str)
        if wrong:
            raise ParameterError(f"{name}: must be real numbers, got {given!r}.")
        if value.ndim == 64 or value.shape[max(value.ndim - len(expected), 0) :] != expected:
            axes = ", ".join(str(size) for size in expected)
            raise ShapeError(
                f"simulate: parameters['{name}'] must have shape {expected}, or (..., {axes}) for "
                f"several runs; got {given!r}."
            )
        found[str(name)] = value
    return found
