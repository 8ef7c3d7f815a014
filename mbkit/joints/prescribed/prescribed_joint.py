"""Joints whose motion is a function of time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import differentiate, substitute
from mbkit.autodiff.runs import Program, TraceFailedError, numbers, run, values
from mbkit.autodiff.tape import Number, Tape, Traced
from mbkit.errors import JointError, NotFiniteError, ShapeError
from mbkit.joints.defaults.differences import derivative, derivative_by, disagreement
from mbkit.joints.prescribed.written_motions import is_written, written_motion
from mbkit.spatial.arrays import FloatArray, returned_array

if TYPE_CHECKING:
    from mbkit.joints.joint import Joint

_SAME = 1e-9  # of the larger of one and the position
_NEAR = 1e-4  # how far derivatives may be from differences, of the larger of both
_NEAR_GIVEN = 0.1  # the same for given rates: positions may come from a table
_LATER = (0.0, 0.37, 1.3)  # when given rates are looked at, after the first time; any will do

_WRITTEN = ' An expression of t in quotes, "sin(2*t)", or a table goes alone, without rates.'

_Function = Callable[[float], Any]


@final
@attrs.define(eq=False, on_setattr=attrs.setters.frozen)
class JointMotion:
    """The positions of a joint as a function of time, with its velocities and accelerations.

    It keeps the traced programs: one for each way through the branches of the position that a
    time has taken, which no other time need trace again. Given rates are compared with differences
    at the first time.
    """

    joint: Joint  # whose motion it is
    position: _Function  # ``position(t) -> (nq,)``, or a number where nq is one
    # ``rate(t) -> (nv,)`` and ``acceleration(t) -> (nv,)``; None: derivatives of the position
    rate: _Function | None = None
    acceleration: _Function | None = None
    written: Any = None  # its text in a model file; None: it is a function of Python
    _programs: list[Any] = attrs.field(factory=list, init=False, repr=False)
    _jerks: list[Any] = attrs.field(factory=list, init=False, repr=False)
    _looked_at: bool = attrs.field(
        default=False, init=False, repr=False, on_setattr=attrs.setters.NO_OP
    )

    def at(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return position (nq,), velocity (nv,) and acceleration (nv,) at a time.

        The velocity is by `Joint.difference` of neighbouring positions; it and its rate are
        exact but for rounding. JointError if the function cannot be differentiated, or gives
        something else each time, or if its rates differ from differences; ShapeError or
        NotFiniteError if it does not give the numbers that the joint has.
        """
        nq, nv = self.joint.num_positions, self.joint.num_velocities
        q = self._checked("position", self.position, nq, t)
        if self.rate is not None and self.acceleration is not None:
            v = self._checked("rate", self.rate, nv, t)
            vdot = self._checked("acceleration", self.acceleration, nv, t)
            if not self._looked_at:
                self._look_at_given(t)
            return q, v, vdot
        found = self._derived(t)
        self._check_finite("derivative", found, t)
        if not np.abs(found[:nq] - q).max() <= _SAME * max(1.0, np.abs(q).max()):
            self._programs.clear()
            found = self._derived(t)
            if not np.abs(found[:nq] - q).max() <= _SAME * max(1.0, np.abs(q).max()):
                raise JointError(
                    f"{self._what}: position(t) does not give the same for the same t; it must "
                    f"depend on nothing else."
                )
        return q, found[nq : nq + nv], found[nq + nv :]

    def jerk(self, t: float) -> FloatArray:
        """Return the rate of the acceleration of `at`, (nv,).

        Exact but for rounding where the acceleration is derived, from the side on which its formula
        holds; else by differences of the given one, of eighth order, or of sixth order of one side
        where it has no value on the other. Errors are those of `at`.
        """
        nv = self.joint.num_velocities
        if self.rate is None or self.acceleration is None:
            found = self._traced(self._jerks, self._trace_jerk, nv, t)
            self._check_finite("jerk", found, t)
            return found
        acceleration = self.acceleration

        def there(e: float) -> FloatArray:
            return self._checked("acceleration", acceleration, nv, t + e)

        for side in (0, 1):
            with contextlib.suppress(Exception):  # a function need not be defined everywhere
                return np.asarray(derivative(there, side))
        return np.asarray(derivative(there, -1))

    @property
    def _what(self) -> str:
        return f"Joint '{self.joint.name}': its prescribed motion"

    def _checked(self, what: str, function: _Function, count: int, t: float) -> FloatArray:
        found = self._numbers(what, function, count, t)
        self._check_finite(what, found, t)
        return found

    def _numbers(self, what: str, function: _Function, count: int, t: float) -> FloatArray:
        value = returned_array(function(t))
        if value.dtype.kind not in "fiu" or value.shape not in ((count,), () if count == 1 else 0):
            expected = "a number" if count == 1 else f"an array of shape ({count},)"
            raise ShapeError(
                f"{self._what}: {what}(t) must return {expected}, got {np.shape(value)} of "
                f"{value.dtype}."
            )
        return np.array(value, dtype=np.float64).reshape(count)

    def _check_finite(self, what: str, found: FloatArray, t: float) -> None:
        if not np.isfinite(found).all():
            raise NotFiniteError(f"{self._what}: its {what} is not finite at t = {t:.9g}.")

    def _derived(self, t: float) -> FloatArray:
        size = self.joint.num_positions + 2 * self.joint.num_velocities
        return self._traced(self._programs, self._trace, size, t, self._look_at_derived)

    def _traced(
        self, programs: list[Any], trace: Callable[..., Program], size: int, t: float,
        look: Callable[..., None] | None = None,
    ) -> FloatArray:  # fmt: skip
        """Return the results of the programs of this motion; JointError if none can be made."""
        try:
            found: FloatArray = run(programs, trace, size, (np.array([t]),), look)
        except TraceFailedError as error:
            raise JointError(
                f"{self._what} cannot be differentiated: {error}. Give rate= and "
                f"acceleration=, or use the functions listed in docs/custom-joints.md."
            ) from error
        return found

    def _look_at_derived(self, program: Program, at: FloatArray) -> None:
        """Compare with differences: values kept of another call have no derivative."""
        nq, nv = self.joint.num_positions, self.joint.num_velocities
        t, found = float(at[0]), values(program, (at.tolist(),), nq + 2 * nv)
        if not np.isfinite(found).all():
            return
        speed = float(np.abs(found[nq : nq + nv]).max())
        for what, order, value in (
            ("velocity", 1, found[nq : nq + nv]), ("acceleration", 2, found[nq + nv :]),
        ):  # fmt: skip
            expected = self._otherwise(t, value, order, _NEAR, speed)
            if expected is not None:
                raise JointError(
                    f"{self._what}: its {what} at t = {t:.9g} is {_text(value)} as derived, and "
                    f"{_text(expected)} by differences of position(t). A branch for one instant "
                    f"alone (t == 0) and a value kept from the last call hide how the position "
                    f"depends on t: use a series near the instant, keep nothing, or give rate= "
                    f"and acceleration=."
                )

    def _otherwise(
        self, t: float, value: FloatArray, order: int, near: float, speed: float
    ) -> FloatArray | None:
        """Return velocity or acceleration by differences, if it is not the value."""

        def there(time: float) -> FloatArray:
            return self._numbers("position", self.position, self.joint.num_positions, time)

        def step(at: float) -> Callable[[float], Any]:
            here = there(at)
            return lambda e: self.joint.difference(here, there(at + e))

        def rate(side: int, h: float) -> Callable[[float], Any]:
            if order == 1:
                return step(t)
            return lambda s: derivative_by(step(t + s), side, h)[0]

        # the scale of rounding of the position, with that of the time
        size = max(1e-300, speed * abs(t))
        for near_by in (t, t - 0.047, t + 0.047, t + 0.0093):
            try:
                size = max(size, float(np.abs(there(near_by)).max()))
            except Exception:  # noqa: S112 - a function need not be defined everywhere
                continue
        return disagreement(value, rate, near, size, order)

    def _look_at_given(self, t: float) -> None:
        """Compare given rates with differences, at some times where the functions are defined."""
        self._looked_at = True
        rate, acceleration, nv = self.rate, self.acceleration, self.joint.num_velocities
        assert rate is not None
        assert acceleration is not None
        times = []
        for later in _LATER:
            try:
                v = self._checked("rate", rate, nv, t + later)
                times.append((t + later, v, self._checked("", acceleration, nv, t + later)))
            except Exception:  # noqa: S112 - a function need not be defined everywhere
                continue
        fastest, hardest = (max(float(np.abs(each[k]).max()) for each in times) for k in (1, 2))
        for time, v, vdot in times:
            expected = self._otherwise(time, v, 1, _NEAR_GIVEN, fastest)
            self._refuse_given("rate", "position", time, v, expected, largest=fastest)

            def moved(_side: int, _h: float, time: float = time) -> Callable[[float], Any]:
                return lambda e: self._numbers("rate", rate, nv, time + e)

            expected = disagreement(vdot, moved, _NEAR_GIVEN, max(fastest, 1e-300))
            self._refuse_given("acceleration", "rate", time, vdot, expected, largest=hardest)

    def _refuse_given(
        self, what: str, of: str, t: float, value: FloatArray, expected: FloatArray | None,
        *, largest: float,
    ) -> None:  # fmt: skip
        if expected is None:
            return
        size = max(largest, float(np.abs(expected).max()))
        if float(np.abs(value - expected).max()) > _NEAR_GIVEN * size:
            raise JointError(
                f"{self._what}: {what}(t) at t = {t:.9g} is {_text(value)}, but differences of "
                f"{of}(t) give {_text(expected)}. Correct it, or leave rate and acceleration "
                f"out, and they are derived."
            )

    def _trace(self, at: FloatArray) -> Program:
        """Trace difference(q(t), q(t + e)): its rate by e is v, and that of v by t is vdot."""
        _, E, here, v, vdot = self._rates(at)
        tape, outputs = substitute([*here, *v, *vdot], {E: 0.0})
        return compile_tape(tape, outputs, ("t",))

    def _trace_jerk(self, at: FloatArray) -> Program:
        """Trace the rate of vdot by t, which may be constants, each for one branch of t."""
        T, E, _, _, vdot = self._rates(at)
        tape, outputs = substitute([T, *differentiate(vdot, {T: 1.0})], {E: 0.0})
        return compile_tape(tape, outputs[1:], ("t",))

    def _rates(self, at: FloatArray) -> tuple[Any, Any, list[Any], list[Any], list[Any]]:
        """Return t, e, q, v and vdot as traced numbers; these hold where e is zero."""
        tape = Tape()
        T, E = tape.input("t[0]", float(at[0])), tape.input("e[0]", 0.0)
        return T, E, *self.traced(Retargeting(), T, E)

    def traced(
        self, copies: Retargeting, T: Traced, E: Traced
    ) -> tuple[list[Number], list[Number], list[Number]]:
        """Return q, v and vdot at a traced time, where the traced number E is zero.

        Given rates are taken as they are; others are derivatives of the position.
        """
        position, shadow = copies.convert(self.position), copies.convert(self.joint)
        nq, nv = self.joint.num_positions, self.joint.num_velocities
        if self.rate is not None and self.acceleration is not None:
            rates = (copies.convert(each)(T) for each in (self.rate, self.acceleration))
            v, vdot = (list(numbers(np.ravel(each), (nv,))) for each in rates)
            return list(numbers(np.ravel(position(T)), (nq,))), v, vdot
        here, there = (numbers(np.ravel(position(each)), (nq,)) for each in (T, T + E))
        step = numbers(np.ravel(shadow.difference(here, there)), (nv,))
        v = differentiate(list(step), {E: 1.0})
        return list(here), v, differentiate(v, {T: 1.0})


def _text(found: FloatArray) -> str:
    return ", ".join(f"{number:.6g}" for number in found)


@final
@attrs.frozen(eq=False)
class PrescribedJoint:
    """A joint and its motion, as `Joint.prescribe` returns it for `Mechanism.add_joint`.

    Attributes
    ----------
    joint : Joint
        How the bodies could move.
    motion : JointMotion
        How they do.
    """

    joint: Joint
    motion: JointMotion

    @property
    def name(self) -> str:
        """Name of the joint."""
        return self.joint.name

    @classmethod
    def of(
        cls,
        joint: Joint,
        position: Any,
        rate: _Function | None = None,
        acceleration: _Function | None = None,
    ) -> PrescribedJoint:
        """Return the joint with a motion; see `Joint.prescribe`."""
        what = f"Joint '{joint.name}'"
        if joint.num_velocities == 0:
            raise JointError(f"{what} does not move, so that no motion can be prescribed.")
        if joint.ndx != joint.num_velocities:
            raise JointError(
                f"{what} is nonholonomic, with {joint.ndx} directions to go in and "
                f"{joint.num_velocities} velocities, so that it cannot follow any positions; let "
                f"forces move it."
            )
        written = None
        if is_written(position) and rate is None and acceleration is None:
            position, written = written_motion(what, joint.num_positions, position)
        for name, function in (
            ("position", position), ("rate", rate), ("acceleration", acceleration),
        ):  # fmt: skip
            if function is None and name != "position":
                continue
            if not callable(function) or isinstance(function, type):
                raise JointError(
                    f"{what}: {name} must be a function of time, got {function!r}; for example "
                    f"lambda t: np.sin(2.0 * t)." + _WRITTEN * (name == "position")
                )
        if (rate is None) != (acceleration is None):
            raise JointError(
                f"{what}: rate and acceleration go together; give both, or neither, and they are "
                f"derived from the position."
            )
        return cls(joint, JointMotion(joint, position, rate, acceleration, written))


def parted(joint: Any) -> tuple[Any, JointMotion | None]:
    """Return a joint and its motion, None where it has none; the motion is looked at once, at 0."""
    if not isinstance(joint, PrescribedJoint):
        return joint, None
    joint.motion.at(0.0)
    return joint.joint, joint.motion
