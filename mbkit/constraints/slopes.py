"""Derivatives of weights times the results of a constraint in Python, by all of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import gradient, substitute
from mbkit.autodiff.runs import Program, TraceFailedError, run
from mbkit.autodiff.tape import Tape
from mbkit.constraints.derivatives import ConstraintDerivatives
from mbkit.constraints.motion import State
from mbkit.joints.defaults.differences import central_differences
from mbkit.lie import SO3
from mbkit.spatial.arrays import FloatArray

__all__ = ["ConstraintSlopes"]

#: For functions that cannot be traced: a large step, for rows may be differences themselves.
_STEPS, _WEIGHTS = central_differences(8, 1.0 / 32.0)


@final
class ConstraintSlopes:
    """The derivatives of psi = w . (residual, rate, bias, wrenches, coefficients) of a state.

    By tracing, from psi back; where that ends, by differences along the joints and bodies of the
    constraint alone.

    Parameters
    ----------
    derivatives : ConstraintDerivatives
        Of the constraint.
    num_rows, num_position_rows : int
        Its rows.

    Attributes
    ----------
    num_inputs, num_said : int
        How many numbers are given: t, q, v, poses and twists as in the constraint's methods, and w;
        and returned: derivatives by steps of its joints, by their velocities, by hybrid motions of
        its bodies, by their twists, then wrenches and coefficients themselves.
    """

    def __init__(
        self, derivatives: ConstraintDerivatives, num_rows: int, num_position_rows: int
    ) -> None:
        self._derivatives, self._motion = derivatives, derivatives.motion
        motion = self._motion
        nq, nv = motion.num_positions, motion.num_velocities
        nb = (motion.ndx - motion.first_body_step) // 6
        self._num_steps = motion.first_body_step - 1
        self._said = num_rows * (6 * nb + nv)  # wrenches and coefficients
        sizes = [1, nq, nv, 16 * nb, 6 * nb, num_position_rows + 2 * num_rows + self._said]
        self._ends = np.cumsum(sizes).tolist()
        self.num_inputs = self._ends[-1]
        self.num_said = self._num_steps + nv + 12 * nb + self._said
        self._programs: list[Program] = []
        self._is_traced = True

    def at(self, given: FloatArray) -> FloatArray:
        """Return the results for given numbers, all in a row."""
        if self._is_traced:
            try:
                found: FloatArray = run(self._programs, self._trace, self.num_said, (given,))
            except TraceFailedError:
                # if plain numbers raise at this state as well, other states are still traced
                found = self._by_differences(given)
                self._is_traced = False
            return found
        return self._by_differences(given)

    def _trace(self, given: FloatArray) -> Program:
        tape, motion = Tape(), self._motion
        T, Q, V, P, W, weights = np.split(tape.inputs("a", given.tolist()), self._ends[:-1])
        U, *steps = (tape.inputs(name, [0.0] * motion.ndx) for name in ("u", "x", "y"))
        convert = Retargeting()
        moved = motion.traced(convert).moved(State(T[0], Q, P.reshape(-1, 4, 4)), U)
        here = T[0], moved.q, V, moved.poses.ravel(), W
        said = self._derivatives.traced(convert, here, tuple(steps))
        psi = sum((w * x for w, x in zip(weights, said, strict=True)), 0.0)
        first = motion.first_body_step
        by = gradient(psi, [*U[1:first], *V, *U[first:], *W])
        zeros = dict.fromkeys(np.concatenate([U, *steps]), 0.0)
        outputs = [*by, *said[len(said) - self._said :]]
        tape, outputs = substitute(outputs, zeros)
        return compile_tape(tape, outputs, ["a"])

    def _by_differences(self, given: FloatArray) -> FloatArray:
        """Return the same by differences of eighth order, of the constraint alone."""
        (t,), q, v, poses, twists, weights = np.split(given, self._ends[:-1])
        poses, twists = poses.reshape(-1, 4, 4), twists.reshape(-1, 6)
        numbers, nv, steps = self._derivatives.numbers, len(v), self._num_steps
        retracted = self._motion.retracted

        def along(count: int, change: Callable[[Any], FloatArray]) -> FloatArray:
            units = np.eye(count)
            psi = [[weights @ change(h * unit) for h in _STEPS] for unit in units]
            return np.array(psi).reshape(count, len(_STEPS)) @ _WEIGHTS

        def placed(x: FloatArray) -> FloatArray:
            there = poses.copy()
            for C, move in zip(there, x.reshape(-1, 6), strict=True):
                C[:3, :3] = SO3.exp(move[:3]) @ C[:3, :3]
                C[:3, 3] += move[3:]
            return there

        said = numbers(t, q, v, poses, twists)
        return np.concatenate([
            along(steps, lambda x: numbers(t, retracted(q, x), v, poses, twists)),
            along(nv, lambda x: numbers(t, q, v + x, poses, twists)),
            along(twists.size, lambda x: numbers(t, q, v, placed(x), twists)),
            along(twists.size, lambda x: numbers(t, q, v, poses, twists + x.reshape(-1, 6))),
            said[len(said) - self._said :],
        ])  # fmt: skip
