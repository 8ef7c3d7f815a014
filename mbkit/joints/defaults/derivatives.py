"""Motion subspace and bias of a joint that gives its pose alone."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import differentiate, substitute
from mbkit.autodiff.runs import Program as _Program
from mbkit.autodiff.runs import TraceFailedError
from mbkit.autodiff.runs import numbers as _numbers
from mbkit.autodiff.runs import run as _run
from mbkit.autodiff.runs import values as _values
from mbkit.autodiff.tape import Tape
from mbkit.errors import JointDerivativeWarning, JointError
from mbkit.joints.defaults.differences import PoseDifferences, solved, wrong_motion
from mbkit.joints.defaults.poses import pose_of
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.joints.joint import Joint

__all__ = [
    "Derivatives",
    "KeptByJoint",
    "PoseDerivatives",
    "TraceFailedError",
    "WrongTraceError",
    "derivatives_of",
    "traced_motion",
    "twist_of_pose",
]

#: How far the pose of a program may be from that of the joint, by its largest entry.
_SAME = 1e-9


class Derivatives(Protocol):
    """Functions that follow from the pose of a joint by differentiation."""

    def motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return T(q) (4, 4), S(q) (6, nv) and S-dot v (6,)."""
        ...

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return the rate (ndx,) of the step x while retract(q0, x) moves with w."""
        ...


class PoseDerivatives:
    """Derivatives by tracing: exact but for rounding.

    With T(x, y) = pose(retract(retract(q, x), y)), column k of S is vee(T^-1 dT/dy_k), and the bias
    is d/dx [vee(T^-1 dT/dy v)] v, both at x = y = 0. The functions are run once with numbers that
    record the operations on them; the tape is differentiated and compiled to a
    Python function. Comparisons are checked at every call: where one comes out otherwise, the
    functions are run again. So is the pose itself. Each program is compared with differences where
    it was made: a branch for one place alone, and values kept of another call, hide how the pose
    depends on q.
    """

    def __init__(self, joint: Callable[[], Any]) -> None:
        self._reference = joint
        self._motions: list[_Program] = []
        self._rates: list[_Program] = []

    def motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return T(q) (4, 4), S(q) (6, nv) and S-dot v (6,)."""
        joint = self._reference()
        T = pose_of(joint, q)
        nv = joint.num_velocities
        size = 6 * (nv + 1)
        values = _run(self._motions, self._trace_motion, size + 12, (q, v), self._look)
        if not _same(values[size:], T):
            if np.isnan(values[-1]) or not np.isfinite(T).all():
                return T, np.full((6, nv), np.nan), np.full(6, np.nan)
            self._motions.clear()
            values = _run(self._motions, self._trace_motion, size + 12, (q, v), self._look)
            if not _same(values[size:], T):
                raise JointError(
                    f"Joint '{joint.name}': pose does not give the same for the same q; it "
                    f"must depend on nothing else."
                )
        return T, values[: 6 * nv].reshape(nv, 6).T, values[6 * nv : size]

    def _look(self, program: _Program, q: FloatArray, _v: FloatArray) -> None:
        """Raise if a new program differs from differences of the pose."""
        joint = self._reference()
        nv = joint.num_velocities
        w = np.linspace(1.0, 1.5, nv)
        found = _values(program, (q.tolist(), w.tolist()), 6 * (nv + 1) + 12)
        if found is None or nv == 0 or not np.isfinite(found).all():
            return
        S, bias = found[: 6 * nv].reshape(nv, 6).T, found[6 * nv : 6 * nv + 6]
        wrong = wrong_motion(joint, q, w, S, bias)
        if wrong and _is_sound(joint, q):
            raise WrongTraceError(
                f"at q = {q.tolist()} {wrong}; a branch for one place alone, and a value kept from "
                f"another call, hide how the pose depends on q"
            )

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return the xdot with J xdot = b.

        J is the derivative of pose(retract(q0, x)) by x, written as a twist, b that along w. Of a
        nonholonomic joint they are those of retract(q0, x): many positions may have one pose.
        """
        joint = self._reference()
        height = 6 if joint.ndx == joint.num_velocities else joint.num_positions
        values = _run(self._rates, self._trace_rates, height * (len(w) + 1), (x, w))
        return solved(values[:-height].reshape(len(w), height).T, values[-height:])

    def _trace_motion(self, q: FloatArray, v: FloatArray) -> _Program:
        tape = Tape()
        joint = self._reference()
        Q, V = tape.inputs("q", q.tolist()), tape.inputs("v", v.tolist())
        rest = [0.0] * joint.ndx
        X, Y = tape.inputs("x", rest), tape.inputs("y", rest)
        shadow = Retargeting().convert(joint)
        T, columns, bias = traced_motion(shadow, Q, V, (X, Y))
        outputs = [*columns, *bias, *T[:3].ravel()]
        tape, outputs = substitute(outputs, dict.fromkeys((*X, *Y), 0.0))
        return compile_tape(tape, outputs, ("q", "v"))

    def _trace_rates(self, x: FloatArray, w: FloatArray) -> _Program:
        tape = Tape()
        joint = self._reference()
        X, W = tape.inputs("x", x.tolist()), tape.inputs("w", w.tolist())
        Y = tape.inputs("y", [0.0] * len(w))
        shadow = Retargeting().convert(joint)
        q = shadow.retract(shadow.retract(shadow.neutral(), X), Y)
        along = dict(zip(Y, W, strict=True))
        if joint.ndx == joint.num_velocities:
            T = _numbers(shadow.pose(q), (4, 4))
            outputs = [number for x_k in X for number in twist_of_pose(T, {x_k: 1.0})]
            outputs += twist_of_pose(T, along)
        else:
            q = _numbers(q, (joint.num_positions,))
            outputs = [number for x_k in X for number in differentiate(list(q), {x_k: 1.0})]
            outputs += differentiate(list(q), along)
        tape, outputs = substitute(outputs, dict.fromkeys(Y, 0.0))
        return compile_tape(tape, outputs, ("x", "w"))


class CautiousDerivatives:
    """Derivatives by tracing, and by differences where that comes to its end, with a warning."""

    def __init__(self, joint: Callable[[], Any]) -> None:
        self._exact = PoseDerivatives(joint)
        self._differences = PoseDifferences(joint)
        self._reference = joint
        self._warned: set[str] = set()

    def repeat_no_warning_of(self, other: CautiousDerivatives) -> None:
        """Take differences at once where those of an equal joint do, which has warned of them."""
        self._warned |= other._warned

    def motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return T(q) (4, 4), S(q) (6, nv) and S-dot v (6,)."""
        if "pose" not in self._warned:
            try:
                return self._exact.motion(q, v)
            except TraceFailedError as failed:
                self._warn("pose", failed, "motion_subspace(q) and bias(q, v)")
        return self._differences.motion(q, v)

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return the rate (ndx,) of the step x while retract(q0, x) moves with w."""
        if "retract" not in self._warned:
            try:
                return self._exact.dexp_inv(x, w)
            except TraceFailedError as failed:
                self._warn("retract", failed, "dexp_inv(x, w)")
        return self._differences.dexp_inv(x, w)

    def _warn(self, method: str, failed: TraceFailedError, remedy: str) -> None:
        self._warned.add(method)
        warnings.warn(
            f"Joint '{self._reference().name}': {method} cannot be differentiated exactly: "
            f"{failed}. "
            f"Differences of eighth order take its place, with about 12 digits in the motion "
            f"subspace and 10 in the bias where the pose is smooth; give {remedy}, or use the "
            f"functions listed in docs/custom-joints.md.",
            JointDerivativeWarning,
            stacklevel=2,
        )


def _is_sound(joint: Joint, q: FloatArray) -> bool:
    """Return whether a pose is a rotation, and the same twice; others are refused elsewhere."""
    first, second = (np.array(pose_of(joint, q)) for _ in range(2))
    R = first[:3, :3]
    return bool(np.array_equal(first, second) and np.abs(R @ R.T - np.eye(3)).max() < 1e-6)


class WrongTraceError(TraceFailedError):
    """A traced derivative differs from the one by differences."""


def _same(found: FloatArray, T: FloatArray) -> bool:
    # by way of lists: numpy takes longer for so few
    pairs = zip(found.tolist(), T[:3].ravel().tolist(), strict=True)
    return all(abs(a - b) <= _SAME * (1.0 + abs(b)) for a, b in pairs)


def traced_motion(shadow: Any, q: Any, v: Any, steps: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Return T (4, 4), the columns of S in a row, and S-dot v, of a joint on traced numbers.

    `steps` x and y are two arrays of ndx inputs of the same tape, for which zeros are to be put.
    """
    X, Y = steps
    T = _numbers(shadow.pose(q), (4, 4))
    moved = shadow.retract(q, X)
    far = _numbers(shadow.pose(shadow.retract(moved, Y)), (4, 4))
    W = _numbers(shadow.rates(moved, v), (len(X),))
    # S v with a constant v, then its rate while x moves with it
    momentary = twist_of_pose(far, dict(zip(Y, W, strict=True)))
    if len(X) == len(v):
        columns = [twist_of_pose(far, {y: 1.0}) for y in Y]
    else:
        # rates are linear in v, which may be numbers here
        units = [_numbers(shadow.rates(moved, e), (len(X),)) for e in np.eye(len(v))]
        columns = [twist_of_pose(far, dict(zip(Y, unit, strict=True))) for unit in units]
    bias = differentiate(momentary, dict(zip(X, W, strict=True)))
    return T, [number for column in columns for number in column], bias


def twist_of_pose(T: Any, seeds: Any) -> list[Any]:
    """Return vee(T^-1 T-dot) of a traced pose (4, 4) while inputs move at given rates."""
    return _twist(T, _rates(T, seeds))


def _rates(T: Any, seeds: Any) -> Any:
    rates = np.empty(12, dtype=object)
    rates[:] = differentiate(list(T[:3].ravel()), seeds)
    return rates.reshape(3, 4)


def _twist(T: Any, rates: Any) -> list[Any]:
    """Return vee(T^-1 T-dot): entries of R^T R-dot, and R^T p-dot."""
    R, turned, shift = T[:3, :3], rates[:, :3], rates[:, 3]
    angular = [R[:, i] @ turned[:, j] for i, j in ((2, 1), (0, 2), (1, 0))]
    return [*angular, *(R[:, i] @ shift for i in range(3))]


class KeptByJoint:
    """Objects that `make` makes of weak references to joints, kept as long as each joint lives."""

    def __init__(self, make: Callable[[Callable[[], Any]], Any]) -> None:
        self._make = make
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, joint: Joint) -> Any:
        """Return the object of a joint, which the first call makes."""
        key = id(joint)
        known = self._known.get(key)
        if known is not None and known[0]() is joint:
            return known[1]
        # not the joint itself, or it would be kept for ever
        reference = weakref.ref(joint, lambda _: self._known.pop(key, None))
        made = self._make(reference)
        self._known[key] = reference, made
        return made


_derivatives = KeptByJoint(CautiousDerivatives)


def share_warnings(joint: Joint, copied: Joint) -> None:
    """Let a copy of a joint give no warning that the joint has given."""
    _derivatives.of(copied).repeat_no_warning_of(_derivatives.of(joint))


def derivatives_of(joint: Joint) -> Derivatives:
    """Return the derivatives of a joint's pose; the same as long as the joint is there."""
    found: Derivatives = _derivatives.of(joint)
    return found
