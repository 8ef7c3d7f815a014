"""Partial derivatives of evaluations by CasADi, along steps on the configuration group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbkit.bridges.body_terms import poses
from mbkit.bridges.casadi_numbers import CasadiNumbers, Input, array_of, identifier
from mbkit.bridges.evaluations import Derived
from mbkit.bridges.terms import position_directions, retract
from mbkit.errors import NameUnknownError, suggestion
from mbkit.tracing.trace import Trace


def derivatives_of(
    numbers: CasadiNumbers, trace: Trace, derived: Derived, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the derivatives of the results of an evaluation, arrays of expressions by name.

    Of several results, or inputs by name, each is called such as "vdot_by_q".
    """
    if derived.along_velocities:
        ((name, by),), (value,) = derived.by.items(), values.values()
        return {name: along_velocities(numbers, trace, value, len(by))}
    steps = _Steps(numbers, trace)
    several = len(values) > 1 or not derived.of
    return {
        f"{result}_by_{identifier(name)}" if several else name: steps.derivative(value, by)
        for result, value in values.items()
        for name, by in derived.by.items()
    }


class _Steps:
    """Inputs by which is differentiated, steps of the configuration among them."""

    def __init__(self, numbers: CasadiNumbers, trace: Trace) -> None:
        system, casadi = trace.system, numbers.casadi
        self._casadi, self._what, self._inputs = casadi, trace.what, numbers.inputs()
        self._carried = None
        if trace.wrench_form is not None:
            in_body_axes = numbers.of({"W": carried_wrenches(trace)})["W"]
            self._carried = self._inputs["wrenches"].numbers, casadi.vertcat(*in_body_axes.ravel())
        self._dx, self._q = casadi.SX.sym("dx", system.ndx), numbers.symbols.get("q")
        if self._q is not None:
            dx = trace.tape.inputs("dx", [0.0] * system.ndx)
            numbers.let(dx, self._dx)
            self._moved = casadi.vertcat(*numbers.of({"q": retract(trace, dx)})["q"])
            self._inputs["q"] = Input(self._dx, (system.ndx,))

    def derivative(self, value: Any, by: Sequence[str]) -> Any:
        """Return the derivative of an array by some inputs, one after the other.

        The axes of the inputs follow its own. By "q" along the same step each time.
        """
        casadi, shape = self._casadi, value.shape
        y = casadi.vertcat(*value.ravel())
        if self._q is not None:
            y = casadi.substitute(y, self._q, self._moved)
        for name in by:
            if name not in self._inputs:
                raise NameUnknownError(
                    f"{self._what}: there is no input {name!r} to differentiate by; "
                    f"{suggestion(name, self._inputs)}"
                )
            given = self._inputs[name]
            slopes = casadi.jacobian(y, given.numbers)
            if given.directions is not None:
                slopes = casadi.mtimes(slopes, given.directions)
            y, shape = casadi.vec(slopes.T), (*shape, *given.shape)
        y = casadi.substitute(y, self._dx, casadi.SX.zeros(self._dx.shape))
        if self._carried is not None:
            y = casadi.substitute(y, *self._carried)
        return array_of(casadi.densify(y).elements(), shape)


def carried_wrenches(trace: Trace) -> Any:
    """Return wrenches that are given in the system's representation in body axes, (bodies, 6)."""
    form, C = trace.copies.convert(trace.system.representation), poses(trace)
    rows = [trace.system.body_index(body) for body in trace.wrenches]
    given = zip(rows, trace.wrenches.values(), strict=True)
    return np.array([W @ form.twist_map(C[row]) for row, W in given], dtype=object)


def along_velocities(numbers: CasadiNumbers, trace: Trace, value: Any, order: int) -> Any:
    """Return the derivatives of an array along constant velocities, with their axes first.

    Symmetric in these, as those along the sum of the velocities: the mean over their orders.
    """
    casadi, nv = numbers.casadi, trace.system.nv
    q = numbers.symbols["q"]
    directions = numbers.of({"qdot": position_directions(trace)})["qdot"]
    N = casadi.vertcat(*directions.ravel()).reshape(directions.shape[::-1]).T
    y = casadi.vertcat(*value.ravel())
    for _ in range(order):
        y = casadi.vec(casadi.mtimes(casadi.jacobian(y, q), N).T)
    every = array_of(casadi.densify(y).elements(), (*value.shape, *[nv] * order))
    total: Any = 0.0
    for each in itertools.permutations(range(value.ndim, value.ndim + order)):
        total = total + np.transpose(every, (*each, *range(value.ndim)))
    return total / math.factorial(order)
