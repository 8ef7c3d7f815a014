"""Evaluations that JAX may call with numbers of the model as further arguments, in batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.bridges.jax_rules import Rule, Vectors, sizes_of
from mbkit.errors import UsageError
from mbkit.lie.arrays import hat
from mbkit.systems.derivatives.parameter_moves import is_pose, shape_of_parameter
from mbkit.tracing.parameters import Free, read_parameters

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["RuleWithParameters"]

#: Systems that are kept.
_MOST_SYSTEMS = 64


@attrs.define(eq=False, on_setattr=attrs.setters.frozen)
class RuleWithParameters:
    """A rule of one system whose arguments are vectors, parameters in their order, and "t" if any.

    In a batch each set of parameters is one system, and the samples that have it one call. The
    last systems are kept: a derivative asks for the same as its value.
    """

    rule: Rule
    system: System
    free: tuple[Free, ...]
    _kept: dict[tuple[float, ...], System] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, what: str, rule: Rule, system: System, names: Any) -> RuleWithParameters:
        """Read the names of the parameters; UsageError or NameUnknownError if they are none."""
        free = read_parameters(what, system, names)
        for each in free:
            shape_of_parameter(system, each.path)
            if each.label in sizes_of(system):
                raise UsageError(
                    f"{what}: {each.path!r} cannot have the label {each.label!r}, the name of "
                    f"another argument; give it another."
                )
        if len({each.label for each in free}) < len(free):
            raise UsageError(
                f"{what}: parameters must have different labels, got {[x.label for x in free]}."
            )
        if free and rule.parameter_slopes is None:
            raise UsageError(
                f"{what} has no derivatives by parameters; use mbkit.casadi_function, or take "
                f"'forward_dynamics', 'inverse_dynamics', 'hybrid_dynamics', 'bias_force' or "
                f"'mass_matrix', which have them."
            )
        return cls(rule, system, free)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments."""
        vectors = [name for name in self.rule.arguments if name != "t"]
        time = [name for name in self.rule.arguments if name == "t"]
        return (*vectors, *(each.label for each in self.free), *time)

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arguments by name."""
        return {**sizes_of(self.system), **{each.label: each.shape for each in self.free}}

    def value(self, x: Vectors, **options: Any) -> tuple[Any, ...]:
        """Return the results."""
        if not self.free:
            return self.rule.value(self.system, x, **options)
        parts = [(rows, self.rule.value(own, some, **options)) for own, some, rows in self._sets(x)]
        return _joined(parts, x["q"].shape[:-1])

    def jacobians(self, x: Vectors, **options: Any) -> tuple[tuple[Any, ...], ...]:
        """Return for each result its derivatives by the arguments."""
        if not self.free:
            return self.rule.jacobians(self.system, x, **options)
        parts = []
        for own, some, rows in self._sets(x):
            found = self._jacobians(own, some, options)
            parts.append((rows, [by_name[name] for by_name in found for name in self.arguments]))
        every, width = _joined(parts, x["q"].shape[:-1]), len(self.arguments)
        return tuple(every[k : k + width] for k in range(0, len(every), width))

    def _jacobians(self, own: System, x: Vectors, options: Any) -> list[dict[str, Any]]:
        by_vectors = self.rule.jacobians(own, x, **options)
        found = [dict(zip(self.rule.arguments, each, strict=True)) for each in by_vectors]
        paths = tuple(dict.fromkeys(each.path for each in self.free))
        slopes = self.rule.parameter_slopes(own, x, paths, **options)  # type: ignore[misc]
        for each, by_path in zip(found, slopes, strict=True):
            each |= {p.label: _by_entries(own, p, by_path[p.path]) for p in self.free}
        return found

    def _sets(self, x: Vectors) -> Iterator[tuple[System, dict[str, Any], Any]]:
        """Yield systems with sets of parameters, their samples by rows, and which these are."""
        count = math.prod(x["q"].shape[:-1])
        rows = {name: np.reshape(x[name], (count, *self.sizes[name])) for name in self.arguments}
        given = np.hstack([rows[each.label].reshape(count, -1) for each in self.free])
        sets, which = np.unique(given, axis=0, return_inverse=True)
        for k, numbers in enumerate(sets):
            chosen = np.flatnonzero(which.ravel() == k)
            some = {name: rows[name][chosen] for name in self.rule.arguments}
            yield self._with_numbers(tuple(numbers.tolist())), some, chosen

    def _with_numbers(self, numbers: tuple[float, ...]) -> System:
        """Return the system with other numbers; the last are kept, for values and derivatives."""
        if numbers not in self._kept:
            if len(self._kept) >= _MOST_SYSTEMS:
                self._kept.clear()
            values: dict[str, Any] = {}
            rest = iter(numbers)
            for each in self.free:
                some = [next(rest) for _ in range(math.prod(each.shape))]
                part = np.reshape(some, each.shape)[()]  # a number where there is one
                whole = np.array(self.system.parameters[each.path], dtype=float)
                whole = values.setdefault(each.path, whole)
                if each.shape == whole.shape:
                    values[each.path] = part
                    continue
                (entry,) = each.entries
                whole[entry] = part
                if _is_moment(each):
                    whole[entry[::-1]] = part
            self._kept[numbers] = self.system.with_parameters(values)
        return self._kept[numbers]


def _is_moment(free: Free) -> bool:
    """Whether a parameter is a symmetric matrix, or an entry of one, which stands there twice."""
    return free.path.endswith("moment_about_com")


def _by_entries(system: System, free: Free, slopes: Any) -> Any:
    """Return the derivative by the numbers that stand for a parameter.

    A pose S moves by S x~; along entries that are no motion it is zero.
    """
    value = np.asarray(system.parameters[free.path])
    if is_pose(value):
        twists = np.zeros((6, 4, 4))
        twists[:3, :3, :3], twists[3:, :3, 3] = hat(np.eye(3)), np.eye(3)
        moves = (value @ twists).reshape(6, 16)
        slopes = (slopes @ np.linalg.pinv(moves.T)).reshape((*slopes.shape[:-1], 4, 4))
    if free.shape == value.shape:
        return slopes
    (entry,) = free.entries
    found = slopes[(..., *entry)]
    if _is_moment(free) and entry != entry[::-1]:
        found = found + slopes[(..., *entry[::-1])]
    return found


def _joined(
    parts: Sequence[tuple[Any, Sequence[Any]]], leading: tuple[int, ...]
) -> tuple[Any, ...]:
    """Return arrays of all samples from those of some."""
    count, found = math.prod(leading), []
    for k in range(len(parts[0][1]) if parts else 0):
        whole = np.empty((count, *np.shape(parts[0][1][k])[1:]))
        for rows, arrays in parts:
            whole[rows] = arrays[k]
        found.append(whole.reshape((*leading, *whole.shape[1:])))
    return tuple(found)
