"""Evaluations of a system on complex numbers: derivatives by complex steps.

f(x + i h) = f(x) + i h f'(x) + O(h^2): with h = 1e-30 the imaginary part is the derivative to
rounding, without a difference. Kernels run once on traced numbers, which leave a tape, and the tape
is computed with complex numbers, for all steps at once. Comparisons are of real parts.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import mbkit as mb
from mbkit.autodiff.rules import ELEMENTARY, differentiate
from mbkit.bridges.reading import read_evaluation
from mbkit.bridges.replay import ARITHMETIC, replay
from mbkit.tracing.parameters import read_parameters
from mbkit.tracing.trace import Trace

STEP = 1e-30


def _where(sign: str, a: Any, b: Any, x: Any, y: Any) -> Any:
    a, b = np.real(a), np.real(b)
    return np.where(a < b if sign == "<" else a <= b, x, y)


def _arctan2(y: Any, x: Any) -> Any:
    turned = x.real * y.imag - y.real * x.imag
    return np.arctan2(y.real, x.real) + 1j * turned / (x.real**2 + y.real**2)


OPERATIONS = {
    **ARITHMETIC,
    **{name: getattr(np, name) for name in ELEMENTARY if hasattr(np, name)},
    "pow": lambda x, n: x ** np.real(n),
    "arctan2": _arctan2,
    "where": _where,
    "floor": lambda x: np.floor(np.real(x)),
}


class ComplexEvaluation:
    """An evaluation of a system, with parameters free, for complex numbers.

    Options are those of the method. Several results, as of hybrid dynamics, follow each other.

    Attributes
    ----------
    system : System
        Of which.
    names : tuple of str
        The vectors that it depends on.
    """

    def __init__(
        self, system: mb.System, name: str, parameters: Sequence[str] = (), **options: Any
    ) -> None:
        self.system = system
        self._free = read_parameters("complex steps", system, parameters)
        self._trace = Trace("complex steps", system, self._free, smooth=True)
        self._read(name, options)

    def _read(self, name: str, options: Mapping[str, Any]) -> None:
        asked = read_evaluation("complex steps", self.system, name, options)
        self.names, self._compute = tuple(asked.shapes), asked.compute
        self._vectors = self._trace.vectors(asked.shapes)
        self._name = name
        self._result = self._computed()

    def another(self, name: str, **options: Any) -> ComplexEvaluation:
        """Return another evaluation of the system with the same parameters, which costs less."""
        found = copy.copy(self)
        found._read(name, options)
        return found

    def _computed(self) -> Any:
        every = self._compute(self._trace, self._vectors)
        return every.get(self._name, np.concatenate([*every.values()], axis=None))

    def __call__(self, given: Mapping[str, Any], moves: Mapping[str, Any], t: Any = 0.0) -> Any:
        """Return value and derivatives, (*shape), (moves, *shape).

        Each of `moves`, arrays (moves, size), is what an input moves by, in each of the moves.
        """
        inputs: dict[Any, Any] = {self._trace.t: t + 1j * STEP * np.asarray(moves.get("t", 0.0))}
        traced = [(name, self._vectors[name], given[name]) for name in self.names]
        for each, symbols in zip(self._free, self._trace.parameters, strict=True):
            traced.append((each.label, symbols, each.values))
        for name, symbols, values in traced:
            steps = np.asarray(moves.get(name, np.zeros(len(symbols))))
            for k, (symbol, value) in enumerate(zip(symbols, values, strict=True)):
                inputs[symbol] = value + 1j * STEP * steps[..., k]
        flat = [*self._result.ravel()]
        found = replay("complex steps", flat, inputs, OPERATIONS, complex)
        every = np.stack(np.broadcast_arrays(*found), axis=-1)
        every = every.reshape((*every.shape[:-1], *self._result.shape))
        value = every.real[(0,) * (every.ndim - self._result.ndim)]
        return value, every.imag / STEP

    def second(self, given: Mapping[str, Any], moves: Mapping[str, Any], t: float = 0.0) -> Any:
        """Return the second derivatives (moves, *shape) of f along q(e), v + e w by e at e = 0.

        q(e) is `System.retract` of e x, with x and w the moves of q and v. The first derivative is
        written on the tape, the second one is its complex step.
        """
        from mbkit.kernels.configuration import retract

        trace, system = self._trace, self.system
        x = trace.tape.inputs("x", [0.0] * system.ndx)
        start = trace.q
        trace.q = trace.call(retract, system.nq, x)
        traced = {"x": x, **{n: s for n, s in self._vectors.items() if n != "q"}}
        result = self._computed()
        trace.q = start
        moving = [n for n in ("x", "v") if n in traced]
        speeds = {n: trace.tape.inputs(f"{n} rate", [0.0] * len(traced[n])) for n in moving}
        seeds = {a: b for n in moving for a, b in zip(traced[n], speeds[n], strict=True)}
        rates = differentiate([*result.ravel()], seeds)
        inputs: dict[Any, Any] = {trace.t: t + 0.0j, **dict(zip(trace.q, given["q"], strict=True))}
        for each, symbols in zip(self._free, trace.parameters, strict=True):
            inputs |= dict(zip(symbols, each.values, strict=True))
        for name in moving:
            steps, at = np.asarray(moves[{"x": "q"}.get(name, name)]), given.get(name)
            for k, (symbol, speed) in enumerate(zip(traced[name], speeds[name], strict=True)):
                inputs[symbol] = (0.0 if at is None else at[k]) + 1j * STEP * steps[:, k]
                inputs[speed] = steps[:, k] + 0.0j
        for name in set(traced) - {"x", "v"}:
            inputs |= dict(zip(traced[name], given[name], strict=True))
        found = replay("complex steps", rates, inputs, OPERATIONS, complex)
        every = np.stack(np.broadcast_arrays(*found), axis=-1)
        return every.imag.reshape((-1, *result.shape)) / STEP

    def by(self, given: Mapping[str, Any], name: str, t: float = 0.0) -> Any:
        """Return the derivatives by one input; the index of its entries is the last one.

        By q along steps of `System.retract`.
        """
        steps = self._steps(given, name)
        rates = self(given, {name: steps}, t)[1]  # without moves where nothing depends on them
        return np.moveaxis(np.broadcast_to(rates, (len(steps), *self._result.shape)), 0, -1)

    def _steps(self, given: Mapping[str, Any], name: str) -> Any:
        if name == "t":
            return np.ones(1)
        if name == "q":
            try:
                return self.system.position_rates(given["q"], np.eye(self.system.ndx))
            except (mb.JointError, mb.ShapeError):  # unknown of a joint, or fewer velocities
                return self._rates_by_steps(given["q"])
        if name in self.names:
            return np.eye(len(given[name]))
        return self.changes(name)

    def _rates_by_steps(self, q: Any) -> Any:
        """Return the derivatives of `System.retract` (ndx, nq) by each entry of a step."""
        from mbkit.kernels.configuration import retract

        trace, system = self._trace, self.system
        x = trace.tape.inputs("step", [0.0] * system.ndx)
        moved = [*trace.call(retract, system.nq, x)]
        rates = [rate for each in x for rate in differentiate(moved, {each: 1.0})]
        inputs = dict(zip(trace.q, q + 0.0j, strict=True)) | dict.fromkeys(x, 0.0j)
        found = replay("complex steps", rates, inputs, OPERATIONS, complex)
        return np.real(found).reshape((system.ndx, system.nq))

    def changes(self, name: str) -> Any:
        """Return the moves (k, size) of a parameter that `changes_of` says, or of its entry."""
        free = next(each for each in self._free if each.label == name)
        if name != free.path:
            return np.ones((1, 1))
        changes = changes_of(self.system, name)
        return np.stack([changes[(slice(None), *entry)] for entry in free.entries], axis=-1)


def twists() -> Any:
    """Return the unit twists (w, u) as matrices (6, 4, 4): what exp(e x) is by e at e = 0."""
    found = np.zeros((6, 4, 4))
    found[:3, :3, :3] = np.cross(np.eye(3)[:, None], np.eye(3)).swapaxes(1, 2)
    found[3:, :3, 3] = np.eye(3)
    return found


def changes_of(system: mb.System, name: str) -> Any:
    """Return changes (k, *shape) of a parameter: of poses by twists, of moments by their entries.

    Of all others by each number.
    """
    value = np.asarray(system.parameters[name], dtype=np.float64)
    if value.shape == (4, 4):
        return value @ twists()
    units = np.eye(value.size).reshape((-1, *value.shape))
    if name.endswith("moment_about_com"):
        units = np.maximum(units, units.swapaxes(1, 2))[[0, 1, 2, 4, 5, 8]]
    return units


def along_changes(system: mb.System, found: Any, name: str) -> Any:
    """Return derivatives of `System.derivatives` along each of `changes_of`, (*shape, k)."""
    changes = changes_of(system, name)
    if changes.shape[1:] == (4, 4):
        return found
    return np.tensordot(found, changes, (range(1, found.ndim), range(1, changes.ndim)))
