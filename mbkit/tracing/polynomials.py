"""The numbers of a system as polynomials of its parameters.

Assembly turns parameters into the numbers that kernels read: inertias are moved and summed, places
of joints are brought to canonical frames. All of that is polynomial in masses, centres of mass,
moments, positions, gravity and the coefficients of springs. The polynomials are found by
assembling with other values: Newton's form on the points of a sparse grid, up to the second power
of each parameter and the third of all. An assembly at a point off the grid shows which numbers are
no such polynomials.

Most numbers depend on few parameters: those of a body and of its joint. Which do is seen from that
point. Points of the grid are then measured together, in one assembly, where each number of interest
depends on the parameters of one of them alone: there are as many assemblies as a body has products
of parameters, for any number of bodies.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from mbkit.errors import MbkitError, UsageError
from mbkit.systems.memory.workspace import Workspace
from mbkit.tracing.parameters import Free, doubles_of, flat, numbers_of

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["Term", "polynomials"]

#: The part of a number that is rounding of an assembly.
_ROUNDING = 1e-12

#: Values of a parameter, in steps from its value, in the order in which its powers need them. None
#: is below it: a coefficient that is zero may have to be at least zero.
_NODES = (0.0, 1.0, 2.0)

#: A product of powers of parameters: their indices in order, each repeated by its power.
Product = tuple[int, ...]


class Term(NamedTuple):
    """Coefficients of a product of parameters in the numbers of a system."""

    product: Product
    places: Any  # (k,): in which numbers, by the order of `flat`
    values: Any  # (k,)


def polynomials(what: str, system: System, free: Sequence[Free]) -> list[Term]:
    """Return the numbers of a system as polynomials of parameters that stay free.

    Parameters are counted in the order of their entries, of one after another.
    """
    numbers = _Numbers(what, _of_constant_length(system), free)
    supports = _supports(numbers)
    base = numbers.at((0.0,) * numbers.count)
    newton: dict[Product, Term] = {(): Term((), np.arange(len(base)), base)}
    for degree in range(1, 4):
        wanted = [(p, _depending(p, supports)) for p in _products(degree, supports, newton)]
        for together in _packed([each for each in wanted if len(each[1])], supports):
            there = numbers.at(_point(numbers.count, (p for p, _ in together)))
            for product, places in together:
                newton[product] = numbers.coefficient(product, places, there, newton)
    _check(numbers, newton)
    return _monomials(numbers, newton)


def _of_constant_length(system: System) -> System:
    """Return a system whose length, by which rows of constraints are scaled, is fixed."""
    closure = system.arrays.closure
    return system._blueprint.with_length(closure.length) if closure else system


class _Numbers:
    """The numbers of a system as functions of parameters, measured in steps from their values.

    Attributes
    ----------
    free, count : sequence of Free, int
        The parameters, and how many numbers they are.
    starts, steps : list of float
        Their values in the system, and the step of each.
    scale : ndarray
        The size of each number of the system.
    """

    def __init__(self, what: str, system: System, free: Sequence[Free]) -> None:
        self.what, self.free, self._system = what, free, system
        self._places = [(each, k) for each in free for k in range(len(each.entries))]
        self.count = len(self._places)
        self.steps = [_step(system, each, k) for each, k in self._places]
        self.starts = [each.values[k] for each, k in self._places]
        self.scale = np.maximum(np.abs(self.at((0.0,) * self.count)), _sizes(system))

    @functools.cached_property
    def aside(self) -> tuple[float, ...]:
        """A point off the grid."""
        return tuple(0.37 + 0.11 * math.sin(3.0 * k) for k in range(self.count))

    def at(self, point: Sequence[float]) -> Any:
        """Return all numbers at a point."""
        values: dict[str, Any] = {}
        for (each, k), d, h in zip(self._places, point, self.steps, strict=True):
            known = self._system.parameters[each.path]
            value = values.setdefault(each.path, np.array(known, dtype=float))
            entry = each.entries[k]
            value[entry] += d * h
            if each.symmetric and entry[0] != entry[1]:
                value[entry[::-1]] += d * h
        try:
            given = {path: value if value.ndim else float(value) for path, value in values.items()}
            other = self._changed(given)
        except MbkitError as error:
            raise UsageError(
                f"{self.what}: these parameters cannot stay free together, values nearby are "
                f"refused: {error} Name entries that can change by themselves, of a pose its "
                f"position, such as '[0, 3]', or leave them out."
            ) from error
        return flat(numbers_of(other, Workspace(other.arrays, other.evaluator)))

    def _changed(self, values: dict[str, Any]) -> System:
        """Return the system with other numbers, where moments need not be such as a body has."""
        known, inertias = self._system._blueprint.bodies, dict[str, dict[str, Any]]()
        for path in [*values]:
            owner, _, field = path.rpartition(".")
            if f"{owner}.moment_about_com" in self._system.parameters:
                name = owner.partition(".")[2]
                inertias.setdefault(name, {})[field] = values.pop(path)
        changed = {
            name: attrs.evolve(known[name].inertia, unphysical=True, **fields)
            for name, fields in inertias.items()
        }
        return self._system._blueprint.with_inertias(changed, values)

    def coefficient(
        self, product: Product, places: Any, there: Any, newton: Mapping[Product, Term]
    ) -> Term:
        """Return the coefficient of Newton's polynomial at some places, from those before."""
        powers = Counter(product)
        found = there[places].copy()
        for lower in _below(powers):
            if lower != product and lower in newton:
                term, own = newton[lower], Counter(lower)
                weight = math.prod(_newton(own[k], _NODES[n]) for k, n in powers.items())
                found -= weight * term.values[np.searchsorted(term.places, places)]
        found /= math.prod(_newton(n, _NODES[n]) for n in powers.values())
        size = np.maximum(self.scale[places], np.abs(there[places]))
        found[np.abs(found) < _ROUNDING * size] = 0.0
        return Term(product, places, found)


def _newton(power: int, d: float) -> float:
    """Return Newton's polynomial of this degree on the nodes."""
    return (1.0, d, d * (d - 1.0))[power]


def _below(powers: Mapping[int, int]) -> Iterator[Product]:
    """Give all products that divide one, itself included."""
    for chosen in itertools.product(*(range(n + 1) for n in powers.values())):
        pairs = zip(powers, chosen, strict=True)
        yield tuple(k for k, n in pairs for _ in range(n))


def _supports(numbers: _Numbers) -> list[Any]:
    """Return for each parameter which numbers depend on it: off the grid, where none is zero."""
    base = numbers.at(numbers.aside)
    found = []
    for k in range(numbers.count):
        point = [*numbers.aside]
        point[k] = 1.5 * point[k]
        there = numbers.at(point)
        size = np.maximum(numbers.scale, np.maximum(np.abs(there), np.abs(base)))
        found.append(np.abs(there - base) > _ROUNDING * size)
    return found


def _products(
    degree: int, supports: Sequence[Any], newton: Mapping[Product, Term]
) -> list[Product]:
    """Return the products of a degree that may be in a number."""
    singles = range(len(supports))
    if degree == 1 or not supports:
        return [(k,) for k in singles]
    beside = _neighbours(supports)
    pairs = [(j, k) for j in singles for k in sorted(beside[j]) if j < k]
    if degree == 2:
        return [*((k, k) for k in singles), *pairs]
    met = {pair for pair in pairs if newton[pair].values.any()}
    found = {tuple(sorted((*pair, k))) for pair in met for k in pair}
    for j, k in met:
        found |= {
            tuple(sorted((i, j, k)))
            for i in beside[j] | beside[k]
            if i not in (j, k) and ((min(i, j), max(i, j)) in met or (min(i, k), max(i, k)) in met)
        }
    return sorted(found)


def _neighbours(supports: Sequence[Any]) -> list[set[int]]:
    """Return for each parameter those with which it has a number in common."""
    table = np.array(supports, dtype=float)
    common = table @ table.T > 0.0
    return [{*np.flatnonzero(row).tolist()} - {k} for k, row in enumerate(common)]


def _depending(product: Product, supports: Sequence[Any]) -> Any:
    """Return the places of the numbers that depend on all parameters of a product."""
    return np.flatnonzero(np.logical_and.reduce([supports[k] for k in {*product}]))


def _packed(
    wanted: Iterable[tuple[Product, Any]], supports: Sequence[Any]
) -> list[list[tuple[Product, Any]]]:
    """Return products, each with the numbers of interest, in groups measured together."""
    groups: list[tuple[list[tuple[Product, Any]], Any, Any]] = []
    for product, places in wanted:
        moved = np.logical_or.reduce([supports[k] for k in {*product}])
        for group in groups:
            _, interest, affected = group
            if not (affected[places].any() or (moved & interest).any()):
                break
        else:
            group = [], *np.zeros((2, len(supports[0])), dtype=bool)
            groups.append(group)
        group[0].append((product, places))
        group[1][places] = True
        group[2][moved] = True
    return [members for members, _, _ in groups]


def _point(count: int, products: Iterable[Product]) -> list[float]:
    """Return the point at which products without common parameters are measured."""
    point = [0.0] * count
    for product in products:
        for k, power in Counter(product).items():
            point[k] = _NODES[power]
    return point


def _step(system: System, each: Free, k: int) -> float:
    """Return a step for a parameter, of the size of its entries.

    An entry that is small beside the others is stepped as they are: a shorter step's effect would
    be lost beside theirs.
    """
    size, known = abs(each.values[k]), np.asarray(system.parameters[each.path])
    if each.path.endswith("moment_about_com"):
        return float(2.0**-6 * (np.trace(known) or 1.0))
    largest = float(np.abs(known).max())
    return 0.25 * (size if size > 0.01 * largest else largest) or 0.125


def _sizes(system: System) -> Any:
    """Return for each number the size that its kind has in the system."""
    workspace = Workspace(system.arrays, system.evaluator)
    parts = doubles_of(numbers_of(system, workspace))
    sizes = [
        np.full(part.size, 0.0 if name is None else np.abs(part).max(initial=0.0))
        for name, part in parts
    ]
    return np.concatenate(sizes)


def _check(numbers: _Numbers, newton: Mapping[Product, Term]) -> None:
    """Raise where a number is no polynomial of these parameters, by the point off the grid."""
    there = numbers.at(numbers.aside)
    found = np.zeros(len(there))
    for product, places, values in newton.values():
        powers = Counter(product).items()
        found[places] += math.prod(_newton(n, numbers.aside[k]) for k, n in powers) * values
    if (np.abs(found - there) > 1e-9 * (numbers.scale + np.abs(there)) + 1e-14).any():
        names = ", ".join(repr(path) for path in dict.fromkeys(each.path for each in numbers.free))
        raise UsageError(
            f"{numbers.what}: the numbers of the system are no polynomials of {names}, so that "
            f"they cannot stay free: those of compiled joints of yours may be none, and those of "
            f"forces and constraints whose 'parameters' cannot be traced. Leave them out, and "
            f"assemble anew for each value."
        )


def _monomials(numbers: _Numbers, newton: Mapping[Product, Term]) -> list[Term]:
    """Return Newton's form as powers of the parameters themselves."""
    sums = {p: np.zeros(len(term.places)) for p, term in newton.items()}
    for term in newton.values():
        powers = Counter(term.product)
        for chosen in _below(powers):
            own = Counter(chosen)
            weight = math.prod(
                _in_powers(n, numbers.starts[k], numbers.steps[k])[own[k]]
                for k, n in powers.items()
            )
            lower = newton.get(chosen)
            if lower is not None:
                sums[chosen][np.searchsorted(lower.places, term.places)] += weight * term.values
    found = []
    for product, coefficients in sums.items():
        places = newton[product].places
        sizes = [max(abs(numbers.starts[k]), numbers.steps[k]) for k in product]
        least = 100.0 * _ROUNDING * numbers.scale[places]
        kept = ~(np.abs(coefficients) * math.prod(sizes) < least) & (coefficients != 0.0)
        if kept.any():
            found.append(Term(product, places[kept], coefficients[kept]))
    return found


def _in_powers(power: int, start: float, step: float) -> tuple[float, ...]:
    """Return Newton's polynomial of d = (x - start) / step by powers of x."""
    a = -start / step
    return ((1.0,), (a, 1.0 / step), (a * (a - 1.0), (2.0 * a - 1.0) / step, step**-2))[power]
