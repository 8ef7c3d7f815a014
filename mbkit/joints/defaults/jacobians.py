"""Jacobians of pose, motion subspace, bias and steps of a joint in Python, by tracing: exact."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.program import compile_tape
from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import differentiate, reachable, substitute
from mbkit.autodiff.runs import Program, numbers, run
from mbkit.autodiff.tape import Number, Tape
from mbkit.joints.defaults.derivatives import (
    KeptByJoint,
    TraceFailedError,
    WrongTraceError,
    derivatives_of,
    traced_motion,
)
from mbkit.joints.defaults.differences import disagreement
from mbkit.joints.defaults.own_methods import defines
from mbkit.joints.defaults.poses import pose_of
from mbkit.joints.joint import Joint
from mbkit.spatial.arrays import FloatArray

__all__ = ["JointJacobians", "jacobians_of", "motion_numbers"]

#: How far the numbers of a program may be from those of the joint, by the larger of both.
_SAME = 1e-9
#: How far derivatives may be from differences, by the larger of both.
_NEAR = 1e-4


def motion_numbers(joint: Joint, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return T(q), S-dot v and S(q) by its methods, or by its pose: R by rows, p, ...

    S by columns, (18 + 6 nv,).
    """
    own = defines(joint, "motion_subspace"), defines(joint, "bias")
    if all(own):
        T, S, bias = pose_of(joint, q), joint.motion_subspace(q), joint.bias(q, v)
    else:
        T, S, bias = derivatives_of(joint).motion(q, v)
        S = joint.motion_subspace(q) if own[0] else S
        bias = joint.bias(q, v) if own[1] else bias
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3], bias, np.asarray(S).T.ravel()])


class JointJacobians:
    """The partial derivatives of the results of a joint in Python at a state.

    Its functions are run once on numbers that record the operations on them, as by
    `PoseDerivatives`; so are, at every call, its own numbers compared. Each program is compared
    with differences where it was made: a branch for one place alone hides how S depends on q.
    """

    def __init__(self, joint: Callable[[], Any]) -> None:
        self._reference = joint
        self._programs: dict[str, list[Program]] = {"motion": [], "retract": []}
        self._failed = False

    @functools.cached_property
    def are_known(self) -> bool:
        """Whether there are any, in the neutral configuration."""
        joint = self._reference()
        try:
            q = np.asarray(joint.neutral(), dtype=np.float64)
            rest, v = np.zeros(joint.ndx), np.linspace(1.0, 1.5, joint.num_velocities)
            found = [self.motion(q, v, motion_numbers(joint, q, v))]
            if not joint.positions_add:
                found.append(self.retract(q, rest, np.asarray(joint.retract(q, rest))))
        except Exception:  # whatever the joint raises there
            return False
        return all(each is not None and bool(np.isfinite(each).all()) for each in found)

    def motion(self, q: FloatArray, v: FloatArray, values: FloatArray) -> FloatArray | None:
        """Return the derivatives of `motion_numbers` by q and v, (18 + 6 nv, nq + nv).

        `values` are these numbers. None where they cannot be traced.
        """
        return self._of("motion", (q, v), values)

    def retract(self, q: FloatArray, dx: FloatArray, values: FloatArray) -> FloatArray | None:
        """Return the derivatives of retract(q, dx) by q and dx, (nq, nq + ndx); None likewise."""
        return self._of("retract", (q, dx), values)

    def _of(self, what: str, given: tuple[Any, Any], values: FloatArray) -> FloatArray | None:
        if self._failed:
            return None
        programs, entries = self._programs[what], sum(map(len, given))
        size = len(values) * (1 + entries)
        trace = getattr(self, f"_trace_{what}")
        look = self._look if what == "motion" else None
        try:
            found = run(programs, trace, size, given, look)
            if not _same(found[: len(values)], values):
                programs.clear()
                found = run(programs, trace, size, given, look)
        except TraceFailedError:
            self._failed = True
            return None
        if not _same(found[: len(values)], values):
            return None
        columns: FloatArray = found[len(values) :].reshape(entries, len(values)).T
        return columns

    def _trace_motion(self, q: FloatArray, v: FloatArray) -> Program:
        tape, joint = Tape(), self._reference()
        nv = joint.num_velocities
        Q, V = tape.inputs("q", q.tolist()), tape.inputs("v", v.tolist())
        X, Y = (tape.inputs(name, [0.0] * joint.ndx) for name in "xy")
        shadow = Retargeting().convert(joint)
        own = defines(joint, "motion_subspace"), defines(joint, "bias")
        columns: Sequence[Number] = []
        bias: Sequence[Number] = []
        if all(own):
            T = numbers(shadow.pose(Q), (4, 4))
        else:
            T, columns, bias = traced_motion(shadow, Q, V, (X, Y))
        if own[0]:
            columns = [*numbers(shadow.motion_subspace(Q), (6, nv)).T.ravel()]
        if own[1]:
            bias = [*numbers(shadow.bias(Q, V), (6,))]
        outputs = [*T[:3, :3].ravel(), *T[:3, 3], *bias, *columns]
        zeros = dict.fromkeys((*X, *Y), 0.0)
        return _with_derivatives(*substitute(outputs, zeros), {"q": len(Q), "v": len(V)})

    def _trace_retract(self, q: FloatArray, dx: FloatArray) -> Program:
        tape, joint = Tape(), self._reference()
        Q, X = tape.inputs("q", q.tolist()), tape.inputs("x", dx.tolist())
        moved = numbers(Retargeting().convert(joint).retract(Q, X), (len(Q),))
        return _with_derivatives(tape, [*moved], {"q": len(Q), "x": len(X)})

    def _look(self, program: Program, q: FloatArray, _v: FloatArray) -> None:
        """Raise if a new program differs from differences along a step."""
        joint = self._reference()
        nv, nq = joint.num_velocities, len(q)
        v, step = np.linspace(1.0, 1.5, nv), np.linspace(1.0, 0.7, joint.ndx)
        given = program(q.tolist(), v.tolist())
        if given is None or not np.isfinite(given).all():
            return
        size = 18 + 6 * nv
        found = np.reshape(given[size:], (nq + nv, size)).T[:, :nq]
        rate = found @ self._position_rates(q, step)

        def moved(_side: int, _h: float) -> Callable[[float], Any]:
            return lambda e: motion_numbers(joint, joint.retract(q, e * step), v)

        largest = 1.0 + float(np.abs(given[:size]).max())
        if disagreement(rate, moved, _NEAR, largest) is not None:
            raise WrongTraceError("its motion subspace changes otherwise than its program says")

    def _position_rates(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """Return the rate of q where a step begins."""
        joint, rest = self._reference(), np.zeros(len(step))
        if joint.positions_add:
            return step
        moved = np.asarray(joint.retract(q, rest), dtype=np.float64)
        by_step = self.retract(q, rest, moved)
        if by_step is None:
            raise TraceFailedError("its retract cannot be traced")
        rate: FloatArray = by_step[:, len(q) :] @ step
        return rate


def _with_derivatives(tape: Tape, outputs: list[Number], inputs: dict[str, int]) -> Program:
    """Return the program of outputs, and of their derivatives by each entry of the inputs."""
    known = {node.arguments[0]: node for node in reachable(outputs) if node.operation == "input"}
    every = list(outputs)
    for name, count in inputs.items():
        for k in range(count):
            node = known.get(f"{name}[{k}]")
            every += [0.0] * len(outputs) if node is None else differentiate(outputs, {node: 1.0})
    return compile_tape(tape, every, tuple(inputs))


def _same(found: FloatArray, expected: FloatArray) -> bool:
    near = np.abs(found - expected) <= _SAME * (1.0 + np.abs(expected))
    return bool(near.all())  # not where one of them is not a number


_kept = KeptByJoint(JointJacobians)


def jacobians_of(joint: Joint) -> JointJacobians:
    """Return the derivatives of a joint; the same as long as the joint is there."""
    found: JointJacobians = _kept.of(joint)
    return found
