"""Exact derivatives of a force in Python that gives none: by tracing its `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import gradient
from mbkit.autodiff.runs import Program, TraceFailedError, numbers, run, values
from mbkit.autodiff.tape import Tape, add, multiply, negative
from mbkit.forces import Force
from mbkit.joints.defaults.differences import disagreement
from mbkit.lie import SO3
from mbkit.spatial.arrays import FloatArray

__all__ = ["TracedForce"]

#: How far derivatives may be from differences, of the larger of both, and values from values.
_NEAR = 1e-4
_SAME = 1e-8

#: Operations of a program that are worth it; Python compiles about 100000 in a second.
_MOST = 100_000


@final
class TracedForce:
    """Programs of the derivatives of one force's results, made where their branches are taken.

    All of them, or slopes: derivatives of psi = -sum w out for weights w, from psi back. Bodies
    move by hybrid twists, whatever the representation of the force, in which their twists are.
    Each new program is compared with differences where it was made.

    Parameters
    ----------
    force : Force
        A force in Python.
    arguments : tuple of ndarray
        q, v, poses, twists and out, of their sizes.
    """

    def __init__(self, force: Force, arguments: tuple[FloatArray, ...]) -> None:
        self._force: Any = force
        *given, out = arguments
        self._weights = given[1].size if force.acts_on == "bodies" else 0
        self._shapes = [each.shape for each in given]
        self._out, self._size = out.shape, out.size
        # the time, then the arguments, then weights of joints and bodies: all in a row
        self._ends = np.cumsum([1, *(each.size for each in given)]).tolist()
        nb = len(given[2])
        self._counts = [1, given[0].size, given[1].size, 6 * nb, 6 * nb]  # of the inputs of slopes
        self._num_slopes = sum(self._counts) - 1
        self._weights += self._ends[-1]
        self._programs: list[Program] = []
        self._slopes: list[Program] = []

    def forget(self) -> None:
        """Let go of all programs, of a force that has changed."""
        self._programs.clear()
        self._slopes.clear()

    def derivatives(self, given: FloatArray) -> FloatArray:
        """Return the results of the force, then their derivatives, in a row.

        They are (out, 1 + n), by the time and all numbers of the arguments; those by poses are as
        if all their entries moved by themselves. TraceFailedError where the force cannot be traced.
        """
        size = self._size * (self._ends[-1] + 1)
        found: FloatArray = run(
            self._programs, self._trace_derivatives, size, (given,), self._look_at_all
        )
        return found

    def slopes(self, given: FloatArray) -> FloatArray:
        """Return slopes of psi by q, v, motions and twists, then the force's results, in a row.

        `given` are the time, the arguments, and weights of its joints and bodies. Else as
        `derivatives`.
        """
        size = self._num_slopes + self._size
        found: FloatArray = run(
            self._slopes, self._trace_slopes, size, (given,), self._look_at_slopes
        )
        return found

    # -------------------------------------------------------------------------------- by tracing

    def _traced(self, tape: Tape, given: FloatArray) -> tuple[Any, Any, list[Any]]:
        """Return weights, the other inputs, and the results."""
        every = tape.inputs("a", given.tolist())
        inputs, weights = every[: self._ends[-1]], every[self._weights :][: self._size]
        T, Q, V, P, W = np.split(inputs, self._ends[:-1])
        poses = P.reshape(self._shapes[2]).copy()
        poses[:, 3] = 0.0, 0.0, 0.0, 1.0
        out = np.full(self._out, 0.0, dtype=object)
        shadow = Retargeting().convert(self._force)
        shadow.evaluate(T[0], Q.copy(), V.copy(), poses, W.reshape(self._shapes[3]).copy(), out)
        return weights, inputs, [*numbers(out, self._out).ravel()]

    def _trace_derivatives(self, given: FloatArray) -> Program:
        tape = Tape()
        _, inputs, out = self._traced(tape, given)
        _check_length(tape, 2 * self._size)
        table = [each for output in out for each in gradient(output, [*inputs])]
        return compile_tape(tape, [*out, *table], ["a"])

    def _trace_slopes(self, given: FloatArray) -> Program:
        tape = Tape()
        weights, inputs, out = self._traced(tape, given)
        _check_length(tape, 4)
        psi: Any = 0.0
        for weight, output in zip(weights, out, strict=True):
            psi = add(psi, negative(multiply(weight, output)))
        by = _array(gradient(psi, [*inputs]))
        _, q, v, C, w = np.split(by, self._ends[:-1])
        P = inputs[self._ends[2] : self._ends[3]]
        motions: list[Any] = []
        for pose, slopes in zip(P.reshape(-1, 4, 4), C.reshape(-1, 4, 4), strict=True):
            for i, j in ((1, 2), (2, 0), (0, 1)):  # R' = e x R
                turn: Any = 0.0
                for k in range(3):
                    turn = add(turn, multiply(slopes[j, k], pose[i, k]))
                    turn = add(turn, negative(multiply(slopes[i, k], pose[j, k])))
                motions.append(turn)
            motions += [*slopes[:3, 3]]
        return compile_tape(tape, [*q, *v, *motions, *w, *out], ["a"])

    # ----------------------------------------------------------------------- compared with values

    def _look_at_all(self, program: Program, given: FloatArray) -> None:
        found = values(program, (given.tolist(),), 0)
        if found is not None and found.size:
            out, table = found[: self._size], found[self._size :].reshape((self._size, -1))

            def along(direction: FloatArray) -> FloatArray:
                steps = 2.0**-20
                ahead, back = (self._moved(given, e * direction) for e in (steps, -steps))
                moved: FloatArray = table @ (ahead - back)[: self._ends[-1]]
                return moved / (2.0 * steps)

            self._compare(given, out, along, np.eye(self._size))

    def _look_at_slopes(self, program: Program, given: FloatArray) -> None:
        given = given.copy()
        weights = np.linspace(0.7, 1.3, self._size)
        given[self._weights :][: self._size] = weights
        found = values(program, (given.tolist(),), 0)
        if found is not None and found.size:
            slopes, out = found[: self._num_slopes], found[self._num_slopes :]

            def along(direction: FloatArray) -> FloatArray:
                return np.array([slopes @ direction[1:]])

            self._compare(given, out, along, -weights[None], time=0.0)

    def _compare(
        self,
        given: FloatArray,
        out: FloatArray,
        along: Callable[[FloatArray], FloatArray],
        weights: FloatArray,
        time: float = 1.0,
    ) -> None:
        """Raise if a program differs from the force's results, or from their rate times weights."""
        direction = np.linspace(0.6, 1.4, sum(self._counts))
        direction[0] = time

        def written(e: float) -> FloatArray:
            return weights @ self._written(self._moved(given, e * direction))

        here, found = weights @ out, along(direction)
        if not (np.isfinite(here).all() and np.isfinite(found).all()):
            return
        size = 1.0 + float(np.abs(given).max())
        scale = float(np.abs(here).max() + size * np.abs(found).max())
        if float(np.abs(written(0.0) - here).max()) > _SAME * scale:
            raise TraceFailedError(f"what it writes is {written(0.0)}, and {here} by tracing")
        expected = disagreement(found, lambda *_: written, _NEAR, size * (1.0 + scale))
        if expected is not None:
            raise TraceFailedError(f"its rate is {found} by tracing and {expected} by differences")

    def _written(self, given: FloatArray) -> FloatArray:
        out = np.zeros(self._out)
        t, *parts = np.split(given[: self._ends[-1]], self._ends[:-1])
        arguments = [part.reshape(s) for part, s in zip(parts, self._shapes, strict=True)]
        self._force.evaluate(t.item(), *arguments, out)
        return out.reshape(-1)

    def _moved(self, given: FloatArray, steps: FloatArray) -> FloatArray:
        moved = given.copy()
        ends = self._ends
        first = math.prod(self._shapes[2]) // 16 * 6
        plain, motions, twists = np.split(steps, [ends[2], ends[2] + first])
        moved[: ends[2]] += plain
        moved[ends[3] : ends[4]] += twists
        poses = moved[ends[2] : ends[3]].reshape(-1, 4, 4)
        for C, step in zip(poses, motions.reshape(-1, 6), strict=True):
            C[:3, :3] = SO3.exp(step[:3]) @ C[:3, :3]
            C[:3, 3] += step[3:]
        return moved


def _check_length(tape: Tape, times: int) -> None:
    """Raise where a program, with so many operations for each of a tape, is too long."""
    count = len(tape.nodes)
    if count * times > _MOST:
        raise TraceFailedError(f"it takes {count} operations on single numbers, which are too many")


def _array(entries: list[Any]) -> Any:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array
