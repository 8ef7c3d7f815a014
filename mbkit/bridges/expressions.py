"""Expressions of sympy from a tape: polynomials of symbols, sines and cosines in one normal form.

Whatever is computed from sums and products is a polynomial over rational numbers, kept expanded
with sin^2 written as 1 - cos^2. Sines and cosines, and all that is no polynomial (roots, quotients,
functions in forces), are generators of the ring. Two ways to compute the same polynomial give the
same expression.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from mbkit.autodiff.rules import ELEMENTARY, reachable
from mbkit.autodiff.tape import Number, Traced
from mbkit.bridges.replay import ARITHMETIC, replay
from mbkit.tracing.numbers import is_plain, rounded

_IN_SYMPY = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh",
}  # fmt: skip

#: Denominators of fractions that are written as such; others are decimals.
_FRACTIONS = frozenset((1, 2, 3, 4, 6, 8, 12, 16))

#: Operations that do not leave a ring.
_RING = ("add", "sub", "neg", "mul", "input")

#: Terms up to which products of sines and cosines are tried as sums.
_FEW = 60

#: Terms up to which anything is tried.
_MANY = 300


def exact(sympy: Any, x: float) -> Any:
    """Return the number that a float stands for: a fraction, a root or a part of pi, a decimal.

    Within the rounding of 15 digits: 0.5773502691896258 is sqrt(3)/3.
    """
    x = rounded(x)
    if is_plain(x):
        return sympy.Rational(Fraction(x))
    decimal, half = Fraction(f"{x:.15g}"), sympy.Rational(1, 2)
    if decimal.denominator <= 10**9:
        return sympy.Rational(decimal)
    near = _near(Fraction(x))
    if near is not None:
        return sympy.Rational(near)
    for shift in (0, half, -half):  # (3 + sqrt(3)) / 6 = 1/2 + sqrt(1/12)
        y = x - float(shift)
        near = _near(Fraction(y * y))
        found = None if near is None else math.copysign(math.sqrt(near), y) + float(shift)
        if found is not None and abs(found - x) < 1e-14 * abs(x):
            return shift + (1 if y > 0.0 else -1) * sympy.sqrt(sympy.Rational(near))
    near = _near(Fraction(x / math.pi))
    if near is not None:
        return sympy.Rational(near) * sympy.pi
    return sympy.Rational(decimal)


def _near(x: Fraction) -> Fraction | None:
    """Return the fraction that a number is but for its last digits."""
    near = x.limit_denominator(200)
    return near if near and abs(near - x) < 1e-14 * abs(x) else None


class _Ring:
    """The operations of a tape on polynomials.

    Attributes
    ----------
    generators : list
        The expression that each generator stands for; None for those that are not used yet.
    turns : list of tuple of int
        Generators of a sine and a cosine of the same angle.
    roots : dict of int to int
        Generators that are roots of primes, with these.
    """

    def __init__(self, sympy: Any, symbols: Sequence[Any], more: int) -> None:
        self.sympy = sympy
        names = [f"x{k}" for k in range(len(symbols) + more)]
        self.ring = sympy.polys.rings.PolyRing(names, sympy.QQ, sympy.polys.orderings.lex)
        self.generators: list[Any] = list(symbols)
        self.turns: list[tuple[int, int]] = []
        self._known = {symbol: k for k, symbol in enumerate(symbols)}
        self._angles: dict[Any, tuple[int, int]] = {}
        self.roots: dict[int, int] = {}

    def constant(self, x: float) -> Any:
        """Return a float as a polynomial."""
        return self.of(exact(self.sympy, x))

    def of(self, expression: Any) -> Any:
        """Return an expression as a constant or as a generator."""
        if expression.is_Rational:
            return self.ring(self.sympy.QQ(int(expression.p), int(expression.q)))
        number, rest = expression.as_coeff_Mul()
        if number != 1:
            return self.of(number) * self.of(rest)
        if rest.is_Add and rest.is_number:
            return sum((self.of(each) for each in rest.args), self.ring.zero)
        if rest.is_Pow and rest.base.is_Integer and rest.exp == self.sympy.Rational(1, 2):
            return self._root(int(rest.base))
        return self._generator(expression)

    def _root(self, n: int) -> Any:
        """Return the root of an integer as a product of roots of primes."""
        found = self.ring.one
        for prime, power in self.sympy.factorint(n).items():
            root = self._generator(self.sympy.sqrt(prime))
            self.roots[self._known[self.sympy.sqrt(prime)]] = int(prime)
            found = found * root**power
        return self.reduced(found, 0)

    def _generator(self, expression: Any) -> Any:
        if expression not in self._known:
            self._known[expression] = len(self.generators)
            self.generators.append(expression)
        return self.ring.gens[self._known[expression]]

    def expression(self, polynomial: Any, terms: Any = None) -> Any:
        """Return a polynomial as an expression."""
        found = []
        for powers, coefficient in polynomial.terms() if terms is None else terms:
            factors = [g**k for g, k in zip(self.generators, powers, strict=False) if k]
            number = self.sympy.Rational(int(coefficient.numerator), int(coefficient.denominator))
            found.append(self.sympy.Mul(number, *factors))
        return self.sympy.Add(*found)

    def operations(self) -> dict[str, Any]:
        """Return the operations of tapes."""
        plain = _operations(self.sympy)
        where, table = plain["where"], {key: self._opaque(made) for key, made in plain.items()}
        return {
            **table,
            **ARITHMETIC,
            "mul": lambda a, b: self.reduced(a * b, 0),
            "div": self._quotient,
            "sin": lambda a: self._turn(a)[0],
            "cos": lambda a: self._turn(a)[1],
            "where": lambda sign, *x: self.of(where(sign, *map(self.expression, x))),
        }

    def _opaque(self, function: Any) -> Any:
        return lambda *x: self.of(function(*map(self.expression, x)))

    def _quotient(self, a: Any, b: Any) -> Any:
        if b.is_ground and b:
            return a * (1 / b.LC)
        return self.reduced(a * self.of(1 / self.expression(b)), 0)

    def _turn(self, a: Any) -> tuple[Any, Any]:
        angle = self.expression(a)
        sign = 1
        if angle.could_extract_minus_sign():
            angle, sign = -angle, -1
        sine, cosine = self.of(self.sympy.sin(angle)), self.of(self.sympy.cos(angle))
        if angle not in self._angles and not angle.is_number:
            pair = self._known[self.sympy.sin(angle)], self._known[self.sympy.cos(angle)]
            self._angles[angle] = pair
            self.turns.append(pair)
        return sign * sine, cosine

    def reduced(self, polynomial: Any, which: int) -> Any:
        """Return a polynomial without squares of sines, or of cosines where `which` is 1."""
        pairs = [(pair[which], pair[1 - which]) for pair in self.turns]
        rest = self.ring.zero
        kept = {}
        for powers, coefficient in polynomial.items():
            if all(powers[s] < 2 for s, _ in pairs) and all(powers[r] < 2 for r in self.roots):
                kept[powers] = coefficient
                continue
            lower, factor = list(powers), self.ring.one
            for s, c in pairs:
                if lower[s] >= 2:
                    factor = factor * (1 - self.ring.gens[c] ** 2) ** (lower[s] // 2)
                    lower[s] %= 2
            for r, square in self.roots.items():
                coefficient = coefficient * square ** (lower[r] // 2)
                lower[r] %= 2
            rest = rest + factor.mul_term((tuple(lower), coefficient))
        return self.ring.from_dict(kept) + rest


def _operations(sympy: Any) -> dict[str, Any]:
    """Return the operations of tapes on expressions."""

    def where(sign: str, left: Any, right: Any, a: Any, b: Any) -> Any:
        holds = (sympy.Lt if sign == "<" else sympy.Le)(left, right)
        return sympy.Piecewise((a, holds), (b, True))

    names = ((name, _IN_SYMPY.get(name, name)) for name in ELEMENTARY)
    return {
        **{name: getattr(sympy, own) for name, own in names if hasattr(sympy, own)},
        **ARITHMETIC,
        "pow": sympy.Pow,
        "expm1": lambda x: sympy.exp(x) - 1,
        "log1p": lambda x: sympy.log(1 + x),
        "arctan2": sympy.atan2,
        "where": where,
    }


def expressions(
    sympy: Any, what: str, outputs: Sequence[Number], inputs: Mapping[Traced, Any], simplify: bool
) -> list[Any]:
    """Return the outputs on a tape as expressions, for inputs that are symbols or numbers.

    Where they are not simplified, as they were computed: not expanded, and quickly.
    """
    nodes = reachable(outputs)
    if not simplify:
        given = {node: readable(sympy, each) for node, each in inputs.items()}
        return replay(
            what, outputs, given, _operations(sympy), lambda x: readable(sympy, exact(sympy, x))
        )
    symbols = [*{each: None for each in inputs.values() if each.is_Symbol}]
    opaque = [node for node in nodes if node.operation not in _RING]
    literals = {x for node in nodes for x in node.arguments if isinstance(x, float)}
    numbers = [*inputs.values(), *(exact(sympy, x) for x in literals)]
    others = {each for x in numbers if not x.is_Symbol for each in x.atoms(sympy.Integer)}
    roots = {prime for x in others if x for prime in sympy.factorint(abs(int(x)))}
    ring = _Ring(sympy, symbols, 2 * len(opaque) + len(roots) + 1)
    used = {node: ring.of(inputs[node]) for node in nodes if node in inputs}
    made = replay(what, outputs, used, ring.operations(), ring.constant)
    known: dict[Any, Any] = {}
    found = []
    for polynomial in made:
        if polynomial not in known:
            known[polynomial] = _shortest(ring, polynomial)
        found.append(known[polynomial])
    return found


def _with_decimals(ring: _Ring, polynomial: Any) -> Any:
    """Return a polynomial with roots as decimals, where the coefficient of one is a decimal."""
    roots = {r: Fraction(math.sqrt(n)) for r, n in ring.roots.items()}
    before = [c for powers, c in polynomial.items() if any(powers[r] for r in roots)]
    if all(int(c.denominator) in _FRACTIONS for c in before):
        return polynomial
    total = ring.ring.zero
    for powers, coefficient in polynomial.items():
        lower = list(powers)
        for r, root in roots.items():
            if lower[r]:
                coefficient = coefficient * ring.sympy.QQ(root.numerator, root.denominator)
                lower[r] = 0
        total = total + ring.ring.from_dict({tuple(lower): coefficient})
    return _without_rounding(ring, total)


def _fu() -> Any:
    return importlib.import_module("sympy.simplify.fu")


def _without_rounding(ring: _Ring, polynomial: Any) -> Any:
    """Return a polynomial without coefficients that are the rounding of others.

    Numbers of frames have 15 digits; where they cancel, a number with many digits is left.
    """
    largest = max((abs(c) for c in polynomial.coeffs()), default=0)
    kept = {}
    for powers, coefficient in polynomial.items():
        x = Fraction(int(coefficient.numerator), int(coefficient.denominator))
        if x.denominator > 10**12:
            if abs(x) < 1e-14 * largest:
                continue
            near = _near(x)
            if near is not None:
                coefficient = ring.sympy.QQ(near.numerator, near.denominator)
        kept[powers] = coefficient
    return ring.ring.from_dict(kept)


def _shortest(ring: _Ring, polynomial: Any) -> Any:
    """Return the shortest of some ways to write a polynomial."""
    sympy = ring.sympy
    polynomial = _with_decimals(ring, _without_rounding(ring, polynomial))
    if len(polynomial) > _MANY:
        return readable(sympy, ring.expression(polynomial))
    forms = [ring.expression(polynomial), ring.expression(ring.reduced(polynomial, 1))]
    if ring.turns and len(polynomial) <= _FEW:
        forms.append(sympy.expand(_fu().TR8(forms[0])))
        forms.append(_collected(sympy, forms[2]))
    forms += [_collected(sympy, form) for form in forms[:2]]
    forms += [sympy.factor_terms(form) for form in forms]
    forms = [readable(sympy, form) for form in forms]
    return min(forms, key=lambda form: (sympy.count_ops(form), len(str(form))))


def _collected(sympy: Any, form: Any) -> Any:
    """Return a sum with the coefficients of the same sines and cosines collected."""
    turns = sorted(form.atoms(sympy.sin, sympy.cos), key=str)
    return sympy.collect(form, turns) if turns else form


def readable(sympy: Any, expression: Any) -> Any:
    """Return an expression in which fractions that are no simple ones are decimals."""
    return expression.xreplace(dict(_decimals(sympy, expression.atoms(sympy.Rational))))


def _decimals(sympy: Any, numbers: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    for number in numbers:
        if int(number.q) in _FRACTIONS and abs(number) < 10**15:
            continue
        meant = exact(sympy, float(number)) if number.q > 10**9 else number
        decimal = meant.is_Rational and int(meant.q) not in _FRACTIONS
        yield number, sympy.Float(f"{float(number):.15g}") if decimal else meant
