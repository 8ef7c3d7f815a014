"""Rows, rate and bias of a constraint in Python, derived where it does not give them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import differentiate, substitute
from mbkit.autodiff.runs import Program, TraceFailedError, numbers, run, values
from mbkit.autodiff.tape import Tape
from mbkit.constraints.constraint import Constraint
from mbkit.constraints.definition import defines
from mbkit.constraints.motion import Motion, State
from mbkit.errors import ConstraintDerivativeWarning, ConstraintError
from mbkit.joints.defaults.differences import derivative, derivative_by, disagreement
from mbkit.spatial.arrays import FloatArray, returned_array

if TYPE_CHECKING:
    from mbkit.joints import Joint

#: How far derivatives may be from differences, of the larger of both.
_NEAR = 1e-4


@final
@attrs.frozen(eq=False)
class Parts:
    """The quantities of a constraint at a state.

    Attributes
    ----------
    residual : ndarray, shape (num_position_rows,)
        g.
    rate, bias : ndarray, shape (m,)
        The terms of g' without velocities, and of g'' without accelerations.
    wrenches : ndarray, shape (m, bodies, 6)
        Factors of the twists in g'.
    coefficients : ndarray, shape (m, nv)
        Factors of the velocities of joints in g'.
    """

    residual: Any
    rate: Any
    bias: Any
    wrenches: Any
    coefficients: Any

    def all(self) -> tuple[Any, ...]:
        """Return all of them, in their order."""
        return self.residual, self.rate, self.bias, self.wrenches, self.coefficients

    def velocity(self, v: Any, twists: Any) -> Any:
        """Return g'."""
        m = len(self.rate)
        along = self.wrenches.reshape(m, -1) @ np.ravel(twists)
        return along + self.coefficients @ v + self.rate


class ConstraintDerivatives:
    """The quantities of a constraint in Python: by its methods, or derivatives by tracing.

    g is computed at the state (t, q, poses), moved by x, then by y. Its derivatives by y at zero
    are the rows and the rate; the derivative of wrenches . twists + coefficients v + rate by x,
    along v and twists, is the bias. See `mbkit.joints.defaults.derivatives` for how functions are
    traced; each program is compared with differences where it was made. Where tracing fails,
    differences take its place, with a warning. If a method raises with plain numbers as well, its
    exception is raised, and other states are evaluated as before.

    Parameters
    ----------
    constraint : Constraint
        One without a compiled function.
    joints : sequence of Joint
        Those that it names.

    Attributes
    ----------
    motion : Motion
        How its states move.
    """

    def __init__(self, constraint: Constraint, joints: Sequence[Joint]) -> None:
        self._constraint = constraint
        self._joints = tuple(joints)
        self.motion = Motion(joints, len(constraint.bodies))
        self._given = {each: defines(constraint, each) for each in ("rows", "rate", "bias")}
        self._shapes = {
            "residual": (constraint.num_position_rows,),
            "rate": (constraint.num_rows,),
            "bias": (constraint.num_rows,),
            "wrenches": (constraint.num_rows, len(constraint.bodies), 6),
            "coefficients": (constraint.num_rows, self.motion.num_velocities),
        }
        self._size = sum(int(np.prod(shape)) for shape in self._shapes.values())
        self._complete = all(self._given.values())
        self._programs: list[Program] = []
        self._warned = False

    def are_of(self, constraint: Constraint, joints: Sequence[Joint]) -> bool:
        """Return whether they are those of this constraint and these joints, the same objects."""
        given = constraint, *joints
        own = self._constraint, *self._joints
        return all(mine is other for mine, other in zip(own, given, strict=True))

    def numbers(
        self, t: float, q: FloatArray, v: FloatArray, poses: FloatArray, twists: FloatArray
    ) -> FloatArray:
        """Return residual, rate, bias, wrenches and coefficients of a state in a row."""
        if not (self._warned or self._complete):
            given = (np.array([t]), q, v, poses.ravel(), twists.ravel())

            def look(program: Program, *_: FloatArray) -> None:
                self._look(program, State(t, q, poses), v, twists)

            try:
                found: FloatArray = run(self._programs, self._trace, self._size, given, look)
            except TraceFailedError as error:
                failed = error
            else:
                return found
            # If plain numbers raise at this state as well, other states are still traced.
            self._call(State(t, q, poses), v, twists)
            self._warn(failed)
        state = State(t, q, poses)
        find = self._by_methods if self._complete else self._by_differences
        return np.concatenate([np.ravel(part) for part in find(state, v, twists).all()])

    def _warn(self, failed: TraceFailedError) -> None:
        self._warned = True
        warnings.warn(
            f"Constraint '{self._constraint.name}' cannot be differentiated exactly: {failed}. "
            f"Differences of eighth order take its place, with about 12 digits in the rows and 10 "
            f"in the bias where it is smooth; give rows(t, q, poses), rate(t, q, poses) and "
            f"bias(t, q, v, poses, twists), or use the functions listed in docs/custom-joints.md.",
            ConstraintDerivativeWarning,
            stacklevel=2,
        )

    # -------------------------------------------------------------------------- by its methods

    def _call(self, state: State, v: FloatArray, twists: FloatArray) -> None:
        """Call all methods of the constraint, so that their exceptions are raised."""
        self._residual(state)
        if self._given["rows"]:
            self._rows(state)
        if self._given["rate"]:
            self._rate(state)
        if self._given["bias"]:
            self._bias(state, v, twists)

    def _checked(self, method: str, part: str, value: Any) -> FloatArray:
        array = returned_array(value)
        if array.shape != self._shapes[part] or array.dtype.kind not in "fiu":
            what = f"{part} of shape" if method == "rows" else "an array of shape"
            raise ConstraintError(
                f"Constraint '{self._constraint.name}': {method} must return {what} "
                f"{self._shapes[part]}, got {array.shape} of {array.dtype}."
            )
        return np.asarray(array, dtype=np.float64)

    def _residual(self, state: State) -> FloatArray:
        return self._checked("residual", "residual", self._constraint.residual(*state.parts()))

    def _rows(self, state: State) -> tuple[FloatArray, FloatArray]:
        found = self._constraint.rows(*state.parts())
        if not (isinstance(found, tuple) and len(found) == 2):
            raise ConstraintError(
                f"Constraint '{self._constraint.name}': rows must return two arrays, wrenches and "
                f"coefficients, got {found!r}."
            )
        wrenches, coefficients = found
        return self._checked("rows", "wrenches", wrenches), self._checked(
            "rows", "coefficients", coefficients
        )

    def _rate(self, state: State) -> FloatArray:
        return self._checked("rate", "rate", self._constraint.rate(*state.parts()))

    def _bias(self, state: State, v: FloatArray, twists: FloatArray) -> FloatArray:
        found = self._constraint.bias(state.t, state.q, v, state.poses, twists)
        return self._checked("bias", "bias", found)

    def _by_methods(self, state: State, v: FloatArray, twists: FloatArray) -> Parts:
        wrenches, coefficients = self._rows(state)
        return Parts(
            self._residual(state), self._rate(state), self._bias(state, v, twists), wrenches,
            coefficients,
        )  # fmt: skip

    # -------------------------------------------------------------------------------- by tracing

    def _parts_of(self, found: FloatArray) -> Parts:
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes.values()])
        pieces = np.split(found, ends[:-1])
        return Parts(
            *(piece.reshape(s) for piece, s in zip(pieces, self._shapes.values(), strict=True))
        )

    def _trace(
        self, t: FloatArray, q: FloatArray, v: FloatArray, poses: FloatArray, twists: FloatArray
    ) -> Program:
        tape = Tape()
        names = "t", "q", "v", "poses", "twists"
        T, Q, V, P, W = (
            tape.inputs(name, each.tolist())
            for name, each in zip(names, (t, q, v, poses, twists), strict=True)
        )
        steps = tuple(tape.inputs(name, [0.0] * self.motion.ndx) for name in ("x", "y"))
        outputs = self.traced(Retargeting(), (T[0], Q, V, P, W), steps)
        tape, outputs = substitute(outputs, dict.fromkeys(np.concatenate(steps), 0.0))
        return compile_tape(tape, outputs, names)

    def traced(
        self, convert: Retargeting, given: tuple[Any, ...], steps: tuple[Any, ...]
    ) -> list[Any]:
        """Return residual, rate, bias, wrenches and coefficients of traced numbers in a row.

        `given` are t, q, v, poses and twists; `steps` x and y, two arrays of `motion.ndx` inputs of
        the same tape, for which zeros are to be put.
        """
        T, Q, V, P, W = given
        X, Y = steps
        shadow = convert.convert(self._constraint)
        motion = self.motion.traced(convert)
        start = State(T, _array(Q), _array(P).reshape(-1, 4, 4))
        here = motion.moved(start, _array(X))
        there = motion.moved(here, _array(Y))
        g = numbers(shadow.residual(*there.parts()), self._shapes["residual"])
        if self._given["rows"]:
            found = shadow.rows(*here.parts())
            wrenches = numbers(found[0], self._shapes["wrenches"])
            coefficients = numbers(found[1], self._shapes["coefficients"])
        else:
            wrenches, coefficients = _derived_rows(motion, g, here, Y, len(V))
        rate = self._traced_rate(shadow, here, g, Y[0])
        velocity = Parts(g, rate, None, wrenches, coefficients).velocity(_array(V), _array(W))
        if self._given["bias"]:
            bias = numbers(
                shadow.bias(start.t, start.q, _array(V), start.poses, _array(W).reshape(-1, 6)),
                self._shapes["bias"],
            )
        else:
            along = motion.along(start, _array(V), _array(W))
            bias = differentiate(list(velocity), dict(zip(X, along, strict=True)))
        return [*g, *rate, *bias, *wrenches.ravel(), *coefficients.ravel()]

    def _traced_rate(self, shadow: Any, here: State, g: Any, time: Any) -> Any:
        if self._given["rate"]:
            return numbers(shadow.rate(*here.parts()), self._shapes["rate"])
        rate = [0.0] * self._constraint.num_rows
        rate[: len(g)] = differentiate(list(g), {time: 1.0})
        return _array(rate)

    def _look(self, program: Program, state: State, v: FloatArray, twists: FloatArray) -> None:
        """Raise if a new program differs from differences at a state, with other velocities."""
        t, q, poses = state.parts()
        v, twists = np.linspace(1.0, 1.5, v.size), np.linspace(0.7, 1.3, twists.size)
        given = [[t], q.tolist(), v.tolist(), poses.ravel().tolist(), twists.tolist()]
        found = values(program, given, self._size)
        if found is None or not np.isfinite(found).all():
            return
        parts = self._parts_of(found)
        size = 1.0 + float(np.abs(poses).max(initial=0.0)) + float(np.abs(q).max(initial=0.0))
        moved = self.motion.carried

        def residual(e: float) -> Any:
            return self._residual(moved(state, v, twists, e))

        def velocity(side: int, h: float) -> Any:
            return lambda e: self._velocity(moved(state, v, twists, e), v, twists, side, h)

        count = self._constraint.num_position_rows
        first = parts.velocity(v, twists)[:count]
        if count and not self._given["rows"]:
            expected = disagreement(first, lambda *_: residual, _NEAR, size)
            if expected is not None:
                raise TraceFailedError(_difference("rate of the residual", first, expected))
        if not self._given["bias"]:
            expected = disagreement(parts.bias, velocity, _NEAR, size, 2)
            if expected is not None:
                raise TraceFailedError(_difference("bias", parts.bias, expected))

    # ---------------------------------------------------------------------------- by differences

    def _velocity(
        self, state: State, v: FloatArray, twists: FloatArray, side: int, h: float
    ) -> FloatArray:
        """Return g' at a state by differences of one step size, or by the rows that are given."""
        if self._given["rows"]:
            rate = self._differences_of_rate(state)
            found: FloatArray = Parts(None, rate, None, *self._rows(state)).velocity(v, twists)
            return found
        moved = self.motion.carried
        by_steps, _ = derivative_by(lambda e: self._residual(moved(state, v, twists, e)), side, h)
        return np.asarray(by_steps)

    def _differences_of_rate(self, state: State) -> FloatArray:
        if self._given["rate"]:
            return self._rate(state)
        rate = np.zeros(self._constraint.num_rows)
        later = derivative(lambda e: self._residual(State(state.t + e, state.q, state.poses)))
        rate[: self._constraint.num_position_rows] = later
        return rate

    def _differences_of_rows(self, state: State) -> tuple[FloatArray, FloatArray]:
        if self._given["rows"]:
            return self._rows(state)
        nv, nb = self.motion.num_velocities, len(self._constraint.bodies)

        def column(unit: FloatArray) -> Any:
            def residual(e: float) -> Any:
                there = self.motion.carried(state, unit[:nv], unit[nv:], e, time=0.0)
                return self._residual(there)

            return derivative(residual)

        A = np.array([column(unit) for unit in np.eye(nv + 6 * nb)]).T
        return A[:, nv:].reshape(len(A), nb, 6), A[:, :nv]

    def _by_differences(self, state: State, v: FloatArray, twists: FloatArray) -> Parts:
        wrenches, coefficients = self._differences_of_rows(state)
        rate = self._differences_of_rate(state)
        if self._given["bias"]:
            bias = self._bias(state, v, twists)
        else:

            def velocity(e: float) -> Any:
                there = self.motion.carried(state, v, twists, e)
                rows = self._differences_of_rows(there)
                there_rate = self._differences_of_rate(there)
                return Parts(None, there_rate, None, *rows).velocity(v, twists)

            bias = derivative(velocity)
        return Parts(self._residual(state), rate, bias, wrenches, coefficients)


def _derived_rows(motion: Motion, g: Any, here: State, Y: Any, nv: int) -> tuple[Any, Any]:
    """Return wrenches and coefficients: derivatives of g by y."""
    columns = []
    for k in range(nv):
        unit = _array([float(j == k) for j in range(nv)])
        along = motion.joint_steps(here.q, unit)
        seeds = dict(zip(Y[1 : 1 + len(along)], along, strict=True))
        columns.append(differentiate(list(g), seeds))
    bodies = [differentiate(list(g), {y: 1.0}) for y in Y[motion.first_body_step :]]
    shape = len(g), (len(Y) - motion.first_body_step) // 6, 6
    return _table(bodies, len(g)).reshape(shape), _table(columns, len(g))


def _table(columns: list[Any], height: int) -> Any:
    table = np.empty((height, len(columns)), dtype=object)
    for k, column in enumerate(columns):
        table[:, k] = column
    return table


def _array(entries: Any) -> Any:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _difference(what: str, found: Any, expected: Any) -> str:
    texts = ["(" + ", ".join(f"{each:.4g}" for each in part) + ")" for part in (found, expected)]
    return f"its {what} is {texts[0]} by tracing and {texts[1]} by differences"
