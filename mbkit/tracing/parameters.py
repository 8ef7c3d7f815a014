"""The numbers of a system as polynomials of its parameters.

Assembly turns parameters into the numbers that kernels read: inertias are moved and summed, places
of joints are brought to canonical frames. All of that is polynomial in masses, centres of mass,
moments, positions, gravity and the coefficients of most forces. The polynomials are found by
assembling with other values: Newton's form on the points of a sparse grid, up to the second power
of each parameter and the third of all. A further assembly, at a point off the grid, tells where a
number is no such polynomial.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.errors import MbkitError, NameUnknownError, UsageError, several, suggestion
from mbkit.kernels.layout import OWN_FRAME_SIZE
from mbkit.systems.memory.workspace import Workspace
from mbkit.tracing.memory import memory_at

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["Free", "numbers_of", "polynomials", "read_parameters"]

#: How many numbers may stay free: assemblies grow with the third power.
_LARGEST = 24

#: What of a number is the rounding of an assembly.
_ROUNDING = 1e-12

_INDEX = re.compile(r"(.*)\[(\d+(?:\s*,\s*\d+)*)\]")


@final
@attrs.frozen
class Free:
    """A parameter that stays free, or entries of one.

    Attributes
    ----------
    path : str
        Its name in `System.parameters`.
    label : str
        Its name here.
    entries : tuple of tuples of int
        Indices of its numbers, () for a number; those of a symmetric matrix once.
    shape : tuple of int
        Shape of what stands for it: (), (n,) or (3, 3).
    values : tuple of float
        What the entries are in the system.
    """

    path: str
    label: str
    entries: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def symmetric(self) -> bool:
        """Whether it stands for a whole symmetric matrix."""
        return len(self.shape) == 2


def read_parameters(
    what: str, system: System, given: Iterable[str] | Mapping[str, str]
) -> tuple[Free, ...]:
    """Return the parameters that stay free, by the names that a caller gave.

    Names are those of `System.parameters`, with an index for one entry, ``"bodies.rod.com[2]"``; a
    mapping gives them other labels.
    """
    if not several(given) or isinstance(given, np.ndarray):
        raise UsageError(
            f"{what}: parameters must be names of System.parameters, in a list, or a mapping of "
            f"these to labels, got {given!r}."
        )
    pairs = given.items() if isinstance(given, Mapping) else [(name, name) for name in given]
    known = system.parameters
    found: dict[str, Free] = {}
    for name, label in pairs:
        if not isinstance(name, str) or not isinstance(label, str) or not label:
            raise UsageError(
                f"{what}: parameters and labels must be text, got {name!r}: {label!r}."
            )
        match = _INDEX.fullmatch(name)
        path = match[1] if match else name
        if path not in known:
            raise NameUnknownError(
                f"{what}: system '{system.name}' has no parameter {path!r}; "
                f"{suggestion(path, known)}"
            )
        value = np.asarray(known[path], dtype=np.float64)
        index = tuple(map(int, match[2].split(","))) if match else None
        made = found[name] = _free(what, path, label, value, index)
        for other, each in found.items():
            if other != name and each.path == path and {*each.entries} & {*made.entries}:
                raise UsageError(
                    f"{what}: parameters {other!r} and {name!r} overlap, and would add up; name "
                    f"each number once."
                )
    return tuple(found.values())


def _free(what: str, path: str, label: str, value: Any, index: tuple[int, ...] | None) -> Free:
    pose = value.shape == (4, 4)
    if index is not None:
        inside = len(index) == value.ndim and all(map(int.__lt__, index, value.shape))
        if not inside or (pose and not (index[0] < 3 and index[1] == 3)):
            rule = "of a pose, the position [i, 3] alone" if pose else f"its shape is {value.shape}"
            raise UsageError(f"{what}: {path!r} has no entry {[*index]} that can be free; {rule}.")
        return Free(path, label, (index,), (), (float(value[index]),))
    if value.ndim == 0:
        return Free(path, label, ((),), (), (float(value),))
    if value.ndim == 1:
        entries = tuple((k,) for k in range(len(value)))
        return Free(path, label, entries, value.shape, tuple(value.tolist()))
    if value.shape == (3, 3) and path.endswith("moment_about_com"):
        upper: Any = itertools.combinations_with_replacement(range(3), 2)
        entries = tuple(upper)
        return Free(path, label, entries, (3, 3), tuple(float(value[e]) for e in entries))
    remedy = f"name entries of its position, such as '{path}[0, 3]'" if pose else "name entries"
    raise UsageError(
        f"{what}: {path!r} has shape {value.shape} and cannot be free as it is; {remedy}."
    )


class Numbers(NamedTuple):
    """An array of doubles that kernels read: where, and what is there."""

    address: int
    array: Any


def numbers_of(system: System, workspace: Workspace) -> list[Numbers]:
    """Return the arrays of numbers that assembly makes for kernels, always in one order."""
    arrays, record = system.arrays, workspace.record[0]
    found = [
        Numbers(int(record["bodies"]), arrays.bodies),
        Numbers(int(record["frames"]), arrays.frames),
        Numbers(int(workspace.address), workspace.record),
    ]
    for row, joint in zip(arrays.bodies, arrays.joints, strict=True):
        if row["own_frame"]:
            found.append(_doubles(row["own_frame"], OWN_FRAME_SIZE))
        if joint is not None and row["parameters"] and joint.kernels() is not None:
            found.append(_doubles(row["parameters"], len(joint.parameters())))
    if arrays.forces.forces:
        found += [
            _doubles(row["parameters"], max(1, int(row["num_parameters"])))
            for row in workspace.force_table
        ]
        found.append(Numbers(int(record["linear"]), arrays.forces.linear))
        found.append(Numbers(int(record["springs"]), workspace.springs))
    return found


def _doubles(address: Any, count: int) -> Numbers:

    return Numbers(int(address), memory_at(int(address), count, np.dtype(np.float64)))


def flat(numbers: Sequence[Numbers]) -> Any:
    """Return all doubles of arrays in a row."""
    parts = []
    for _, array in numbers:
        for name in array.dtype.names or (None,):
            part = array if name is None else array[name]
            if part.dtype == np.float64:
                parts.append(np.ravel(part))
    return np.concatenate(parts)


class Polynomials(NamedTuple):
    """Numbers of a system as polynomials of n parameters."""

    powers: list[tuple[int, ...]]  # the monomials
    coefficients: Any  # (monomials, numbers): by the order of `flat`


def polynomials(what: str, system: System, free: Sequence[Free]) -> Polynomials:
    """Return the numbers of a system as polynomials of parameters that stay free."""
    places = [(each, k) for each in free for k in range(len(each.entries))]
    if len(places) > _LARGEST:
        raise UsageError(
            f"{what}: {len(places)} numbers are to stay free, more than {_LARGEST}; name fewer "
            f"parameters, or entries of them."
        )
    steps = [_step(system, each, k) for each, k in places]
    starts = [each.values[k] for each, k in places]

    @functools.cache
    def at(node: tuple[float, ...]) -> Any:
        values: dict[str, Any] = {}
        for (each, k), d, h in zip(places, node, steps, strict=True):
            value = values.setdefault(each.path, np.array(system.parameters[each.path], float))
            entry = each.entries[k]
            value[entry] += d * h
            if each.symmetric and entry[0] != entry[1]:
                value[entry[::-1]] += d * h
        try:
            given = {path: value if value.ndim else float(value) for path, value in values.items()}
            other = system.with_parameters(given)
        except MbkitError as error:
            raise UsageError(
                f"{what}: these parameters cannot stay free together, values nearby are refused: "
                f"{error}"
            ) from error
        return flat(numbers_of(other, Workspace(other.arrays, other.evaluator)))

    scale = np.maximum(np.abs(at((0.0,) * len(places))), _sizes(system))
    newton: dict[tuple[int, ...], Any] = {}
    powers: list[tuple[int, ...]] = []
    met: set[frozenset[int]] = set()  # pairs of parameters whose product is in a number
    for power in _powers(len(places)):
        pairs = [frozenset(pair) for pair in itertools.combinations(_chosen(power), 2)]
        if sum(power) == 3 and sum(pair in met for pair in pairs) < min(2, len(pairs)):
            continue
        powers.append(power)
        node = tuple(_NODES[k] for k in power)
        found = at(node).copy()
        for lower in itertools.product(*(range(k + 1) for k in power)):
            if lower != power and lower in newton:
                weight = math.prod(_newton(k, d) for k, d in zip(lower, node, strict=True))
                found -= weight * newton[lower]
        found /= math.prod(_newton(k, d) for k, d in zip(power, node, strict=True))
        found[np.abs(found) < _ROUNDING * np.maximum(scale, np.abs(at(node)))] = 0.0
        newton[power] = found
        if len(pairs) == 1 and found.any():
            met.update(pairs)
    _check(what, places, newton, at, scale)
    return _monomials(powers, newton, starts, steps, scale)


#: Values of a parameter, in steps from its value, in the order in which its powers need them.
_NODES = (0.0, 1.0, -1.0)


def _newton(k: int, d: float) -> float:
    """Return Newton's polynomial of degree k on these nodes."""
    return (1.0, d, d * (d - 1.0))[k]


def _powers(count: int) -> list[tuple[int, ...]]:
    """Return the powers up to 2 of each parameter and 3 of all, the lower ones first."""
    found = []
    for degree in range(4):
        for chosen in itertools.combinations_with_replacement(range(count), degree):
            power = [0] * count
            for k in chosen:
                power[k] += 1
            if all(p <= 2 for p in power):
                found.append(tuple(power))
    return found


def _chosen(power: tuple[int, ...]) -> list[int]:
    return [j for j, k in enumerate(power) if k]


def _step(system: System, each: Free, k: int) -> float:
    """Return a step for a parameter that leaves inertias what they can be."""
    size = abs(each.values[k])
    if each.path.endswith("moment_about_com"):
        moment = np.asarray(system.parameters[each.path])
        return float(2.0**-6 * (np.trace(moment) or 1.0))
    return 0.25 * size if size else 0.125


def _sizes(system: System) -> Any:
    """Return for each number the size that its kind has in the system."""
    workspace = Workspace(system.arrays, system.evaluator)
    parts = []
    for _, array in numbers_of(system, workspace):
        for name in array.dtype.names or (None,):
            part = array if name is None else array[name]
            if part.dtype == np.float64:
                size = np.abs(part).max(initial=0.0)
                parts.append(np.full(part.size, size if name is not None else 0.0))
    return np.concatenate(parts)


def _check(what: str, places: Any, newton: Any, at: Any, scale: Any) -> None:
    """Raise where a number is no polynomial of these parameters, by a point off the grid."""
    node = tuple(0.37 + 0.11 * math.sin(3.0 * k) for k in range(len(places)))
    found = sum(
        math.prod(_newton(k, d) for k, d in zip(power, node, strict=True)) * coefficient
        for power, coefficient in newton.items()
    )
    there = at(node)
    if (np.abs(found - there) > 1e-9 * (scale + np.abs(there)) + 1e-14).any():
        names = ", ".join(
            repr(each.path) for each in {each.path: each for each, _ in places}.values()
        )
        raise UsageError(
            f"{what}: the numbers of the system are no polynomials of {names}, so that they "
            f"cannot stay free; axes, pitches and curves cannot. Leave them out, and assemble anew "
            f"for each value."
        )


def _monomials(
    powers: list[tuple[int, ...]], newton: Any, starts: list[float], steps: list[float], scale: Any
) -> Polynomials:
    """Return Newton's form as powers of the parameters themselves."""
    sums: dict[tuple[int, ...], Any] = {}
    for power, coefficient in newton.items():
        if not coefficient.any():
            continue
        factors = []
        for k, x0, h in zip(power, starts, steps, strict=True):
            # d = (x - x0) / h; 1, d, d (d - 1) by powers of x
            a = -x0 / h
            factors.append(((1.0,), (a, 1.0 / h), (a * (a - 1.0), (2.0 * a - 1.0) / h, h**-2))[k])
        for chosen in itertools.product(*(range(len(f)) for f in factors)):
            weight = math.prod(f[k] for f, k in zip(factors, chosen, strict=True))
            sums[chosen] = sums.get(chosen, 0.0) + weight * coefficient
    found = {}
    for power, coefficient in sums.items():
        sizes = [abs(x) or h for x, h in zip(starts, steps, strict=True)]
        weight = math.prod(x**k for x, k in zip(sizes, power, strict=True))
        coefficient[np.abs(coefficient) * weight < 100 * _ROUNDING * scale] = 0.0
        if coefficient.any():
            found[power] = coefficient
    kept = [power for power in powers if power in found]
    return Polynomials(kept, np.array([found[power] for power in kept]))
