"""Numbers of a tape as expressions of CasADi, with symbols for its inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.autodiff.rules import ELEMENTARY, reachable
from mbkit.bridges.replay import ARITHMETIC, replay
from mbkit.errors import UsageError
from mbkit.tracing.parameters import Free
from mbkit.tracing.trace import Trace


@attrs.frozen
class Input:
    """An input by which is differentiated.

    Attributes
    ----------
    numbers : casadi.SX, shape (n, 1)
        Its entries.
    shape : tuple of int
        Shape of the input of the derivatives, whose order in numpy they have.
    directions : casadi.SX or casadi.DM, shape (n, k), optional
        How the entries move with that; one by one if left out.
    """

    numbers: Any
    shape: tuple[int, ...]
    directions: Any = None


class CasadiNumbers:
    """Expressions of CasADi for the numbers of a trace.

    Attributes
    ----------
    casadi : module
        CasADi.
    symbols : dict of str to casadi.SX
        Inputs of the function: vectors, parameters by their labels as C takes them, and ``t`` where
        a result depended on it.
    """

    def __init__(self, casadi: Any, trace: Trace, vectors: Mapping[str, Any]) -> None:
        self.casadi, self._trace = casadi, trace
        self.symbols = {name: casadi.SX.sym(name, *xs.shape) for name, xs in vectors.items()}
        self._vectors = {
            name: Input(casadi.vec(self.symbols[name].T), xs.shape) for name, xs in vectors.items()
        }
        for name, each in _parameters(trace.what, (*vectors,), trace.free).items():
            self.symbols[name] = casadi.SX.sym(name, *(each.shape or (1,)))
        self._time = casadi.SX.sym("t")
        self._known = {
            x: self._vectors[name].numbers[k]
            for name, xs in vectors.items()
            for k, x in enumerate(xs.ravel())
        }
        for each, traced in zip(trace.free, trace.parameters, strict=True):
            self._known |= zip(traced, self._entries(each), strict=True)
        self._known[trace.t] = self._time

    def of(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return arrays of traced numbers as arrays of expressions."""
        numbers = [x for array in arrays.values() for x in array.ravel()]
        if self._trace.t in reachable(numbers):
            self.symbols["t"] = self._time
        what, SX = self._trace.what, self.casadi.SX
        made = replay(what, numbers, self._known, _operations(self.casadi), SX)
        found, start = {}, 0
        for name, array in arrays.items():
            found[name] = array_of(made[start : start + array.size], array.shape)
            start += array.size
        return found

    def let(self, traced: Any, symbol: Any) -> None:
        """Let a symbol stand for traced numbers from now on."""
        self._known |= {x: symbol[k] for k, x in enumerate(traced)}

    def inputs(self) -> dict[str, Input]:
        """Return the inputs that derivatives can be by, but for the configuration."""
        return {
            **{name: each for name, each in self._vectors.items() if name != "q"},
            "t": Input(self._time, (1,)),
            **{each.label: self._parameter(each) for each in self._trace.free},
        }

    def _entries(self, each: Free) -> list[Any]:
        symbol = self.symbols[identifier(each.label)]
        if not each.shape:
            return [symbol]
        return [symbol[entry[-1] if len(entry) == 1 else entry] for entry in each.entries]

    def _parameter(self, each: Free) -> Input:
        """Return a parameter as `System.derivatives` differentiates by it."""
        casadi, numbers = self.casadi, self._entries(each)
        column = casadi.vertcat(*numbers)
        if each.symmetric:
            # G with sum G_ij dI_ij the change: both entries of a pair have half of it
            shares = np.zeros((6, 3, 3))
            for k, (i, j) in enumerate(each.entries):
                shares[k, i, j] += 0.5
                shares[k, j, i] += 0.5
            return Input(column, each.shape, casadi.DM(shares.reshape(6, 9)))
        if each.shape == (4, 4):
            S = casadi.vertcat(*(casadi.horzcat(*numbers[4 * i : 4 * i + 4]) for i in range(3)))
            twists = [casadi.vec(casadi.mtimes(S, casadi.DM(hat)).T) for hat in _TWISTS]
            return Input(column, (6,), casadi.horzcat(*twists))
        return Input(column, each.shape or (1,))


def _twist_matrices() -> Any:
    """Return the matrices (4, 4) of the unit twists (angular, linear)."""
    found = np.zeros((6, 4, 4))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        found[k, j, i], found[k, i, j], found[3 + k, k, 3] = 1.0, -1.0, 1.0
    return found


_TWISTS = _twist_matrices()


def array_of(numbers: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return numbers as an object array."""
    found = np.empty(math.prod(shape), dtype=object)
    found[:] = numbers
    return found.reshape(shape)


def _parameters(what: str, arguments: tuple[str, ...], free: tuple[Free, ...]) -> dict[str, Free]:
    """Return the inputs for parameters by name: one for all that have the same label."""
    found: dict[str, Free] = {}
    for each in free:
        name = identifier(each.label)
        if name in (*arguments, "t") or not name[:1].isalpha():
            raise UsageError(
                f"{what}: a parameter cannot have the label {each.label!r}, which is no name of an "
                f"input, or that of another; give it a label, parameters={{{each.path!r}: ...}}."
            )
        if found.setdefault(name, each).shape != each.shape:
            raise UsageError(
                f"{what}: {found[name].path!r} and {each.path!r} have the label {each.label!r} and "
                f"different shapes; give them two."
            )
    return found


def identifier(label: str) -> str:
    """Return a label as CasADi and C take it."""
    return re.sub(r"_+", "_", re.sub(r"\W", "_", label, flags=re.ASCII)).strip("_")


def _operations(casadi: Any) -> dict[str, Any]:
    """Return CasADi's functions by their names on a tape."""
    holds = {"<": casadi.lt, "<=": casadi.le}
    names = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
             "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip
    found = {
        name: getattr(casadi, names.get(name, name))
        for name in ELEMENTARY
        if hasattr(casadi, names.get(name, name))
    }
    return {
        **ARITHMETIC,
        **found,
        "pow": casadi.power,
        "arctan2": casadi.atan2,
        "cbrt": lambda x: casadi.sign(x) * casadi.power(casadi.fabs(x), 1.0 / 3.0),
        # the derivative at zero is zero, not infinite: |u| u has one there
        "sqrt": lambda x: (x != 0) * casadi.sqrt(x + (x == 0)),
        "where": lambda sign, a, b, x, y: casadi.if_else(holds[sign](a, b), x, y),
    }
